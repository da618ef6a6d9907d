package worker

import (
	"bufio"
	"context"
	"fmt"
	"sync"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// Session is a model in a worker process.
type Session struct {
	process *process
	in      *bufio.Writer
	out     *bufio.Reader
	inputs  map[string][]int64
	ortFile [2]string
	close   sync.Once
}

var _ Served = (*Session)(nil)

// Start starts a worker and has it load a model. The error matches
// [runtime.ErrUnavailable] when there is no such worker or it lacks its library,
// or is the worker's own about the model.
func Start(ctx context.Context, c Command, m Model) (*Session, error) {
	p, err := c.start()
	if err != nil {
		return nil, err
	}
	s := &Session{process: p, in: bufio.NewWriterSize(p.stdin, 1<<16), out: bufio.NewReaderSize(p.stdout, 1<<16)}
	answer, err := s.exchange(ctx, &message{Do: "load", Model: &m})
	if err != nil {
		s.Close()
		return nil, err
	}
	s.inputs, s.ortFile = answer.Inputs, answer.Library
	return s, nil
}

// exchange sends a request and reads its answer. When the context ends first the worker is killed,
// since it cannot be interrupted in an inference.
func (s *Session) exchange(ctx context.Context, request *message) (*message, error) {
	stop := context.AfterFunc(ctx, s.process.kill)
	defer stop()
	err := send(s.in, request)
	var answer *message
	if err == nil {
		answer, err = receive(s.out)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		s.process.kill()
		<-s.process.done // all that it said has been read
		return nil, fmt.Errorf("%w: %s ended: %v%s", runtime.ErrUnavailable, s.process.name, err, s.process.stderrText())
	}
	return answer, answer.err()
}

// Inputs returns the shapes that the model wants, by name.
func (s *Session) Inputs() map[string][]int64 { return s.inputs }

// Library returns the file of the worker's native library, and its name with its
// version.
func (s *Session) Library() (path, name string) { return s.ortFile[0], s.ortFile[1] }

// do asks for something about some inputs.
func (s *Session) do(ctx context.Context, what string, inputs map[string]runtime.Tensor, runs int) (*message, error) {
	request := &message{Do: what, Runs: runs}
	request.add(inputs)
	return s.exchange(ctx, request)
}

// Time makes some inferences; see [runtime.Session].
func (s *Session) Time(ctx context.Context, inputs map[string]runtime.Tensor, runs int) (runtime.Timing, error) {
	answer, err := s.do(ctx, "time", inputs, runs)
	if err != nil {
		return runtime.Timing{}, err
	}
	if answer.Timed == nil || len(answer.Timed.Seconds) == 0 {
		return runtime.Timing{}, fmt.Errorf("%w: it contains no times", ErrProtocol)
	}
	return *answer.Timed, nil
}

// Profile makes some inferences with the times of their nodes; see
// [runtime.Session].
func (s *Session) Profile(ctx context.Context, inputs map[string]runtime.Tensor, runs int) ([]runtime.Profile, error) {
	answer, err := s.do(ctx, "profile", inputs, runs)
	if err != nil {
		return nil, err
	}
	return answer.Profiles, nil
}

// Close ends the worker and waits for it.
func (s *Session) Close() error {
	s.close.Do(s.process.end)
	return nil
}
