package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/shared/crash"
)

// Model names the model that a worker loads, with its settings.
type Model struct {
	Path    string           `json:"path"`
	Threads int              `json:"threads"`         // of one inference
	Sizes   map[string]int64 `json:"sizes,omitempty"` // of named dimensions that the model leaves open
	// Values holds the inputs that decide sizes within the model.
	Values map[string][]float64 `json:"values,omitempty"`
	// Library is the native library; "" lets the worker look for it.
	Library string `json:"library,omitempty"`
	// Provider runs the model: cpu, cuda or tensorrt; "" is cpu.
	Provider string `json:"provider,omitempty"`
}

// Served is a session in the worker.
type Served interface {
	runtime.Session
	// Library returns the native library's file, and its name with its version.
	Library() (path, name string)
}

// Loader makes a session of a model.
type Loader func(context.Context, Model) (Served, error)

// Serve answers requests until the input ends or the context is cancelled. The
// error is one of the streams', or matches [ErrProtocol]; what goes wrong with a
// model goes back to the caller.
func Serve(ctx context.Context, in io.Reader, out io.Writer, load Loader) error {
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	s := &server{load: load}
	defer s.close()
	for ctx.Err() == nil {
		request, err := receive(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer := &message{}
		if err := s.do(ctx, request, answer); err != nil {
			answer = &message{}
			answer.fail(err)
		}
		if err := send(w, answer); err != nil {
			return err
		}
	}
	return ctx.Err()
}

type server struct {
	load    Loader
	session Served
}

func (s *server) do(ctx context.Context, request, answer *message) (err error) {
	defer crash.Guard(&err)
	if request.Do == "load" && request.Model != nil {
		s.close()
		if s.session, err = s.load(ctx, *request.Model); err != nil {
			s.session = nil
			return err
		}
		answer.Inputs = s.session.Inputs()
		answer.Library[0], answer.Library[1] = s.session.Library()
		return nil
	}
	if s.session == nil {
		return fmt.Errorf("%w: request %q before a model is loaded", ErrProtocol, request.Do)
	}
	inputs := request.tensors()
	switch request.Do {
	case "time":
		timed, err := s.session.Time(ctx, inputs, request.Runs)
		answer.Timed = &timed
		return err
	case "profile":
		answer.Profiles, err = s.session.Profile(ctx, inputs, request.Runs)
	default:
		err = fmt.Errorf("%w: unknown request %q", ErrProtocol, request.Do)
	}
	return err
}

func (s *server) close() {
	if s.session != nil {
		s.session.Close()
		s.session = nil
	}
}
