package worker

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// ErrProtocol is returned when the other side does not speak the protocol.
var ErrProtocol = errors.New("invalid message from the worker process")

// The limits of one message.
const (
	maxHeader = 256 << 20
	maxValues = 1 << 29
)

// message goes both ways: four bytes with the length of its JSON header, least
// significant first, the header, and the values of the tensors it lists as
// little-endian float32.
type message struct {
	Do    string `json:"do,omitempty"` // load, time, profile
	Model *Model `json:"model,omitempty"`
	Runs  int    `json:"runs,omitempty"`

	Tensors  []named            `json:"tensors,omitempty"`
	Inputs   map[string][]int64 `json:"inputs,omitempty"`
	Library  [2]string          `json:"library,omitzero"` // path and name
	Timed    *runtime.Timing    `json:"timed,omitempty"`
	Profiles []runtime.Profile  `json:"profiles,omitempty"`
	Error    string             `json:"error,omitempty"`
	Kind     string             `json:"kind,omitempty"` // which error it matches
}

// named is a tensor of a message; its data follows the header.
type named struct {
	Name  string  `json:"name"`
	Shape []int64 `json:"shape"`
	data  []float32
}

func (m *message) add(tensors map[string]runtime.Tensor) {
	for name, t := range tensors {
		m.Tensors = append(m.Tensors, named{name, t.Shape, t.Data})
	}
}

func (m *message) tensors() map[string]runtime.Tensor {
	out := map[string]runtime.Tensor{}
	for _, t := range m.Tensors {
		out[t.Name] = runtime.Tensor{Shape: t.Shape, Data: t.data}
	}
	return out
}

func send(w *bufio.Writer, m *message) error {
	header, err := json.Marshal(m)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(header)))
	if _, err := w.Write(append(b, header...)); err != nil {
		return err
	}
	for _, t := range m.Tensors {
		for _, v := range t.data {
			if _, err := w.Write(binary.LittleEndian.AppendUint32(b[:0], math.Float32bits(v))); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// receive reads one message. At the end of the stream the error is io.EOF.
func receive(r *bufio.Reader) (*message, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxHeader {
		return nil, fmt.Errorf("%w: header of %d bytes", ErrProtocol, n)
	}
	header, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return nil, err
	}
	m := &message{}
	if err := json.Unmarshal(header, m); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	for i := range m.Tensors {
		if err := m.Tensors[i].read(r); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (t *named) read(r io.Reader) error {
	n := int64(1)
	for _, d := range t.Shape {
		if d < 0 || d > maxValues || n*d > maxValues {
			return fmt.Errorf("%w: tensor %q of shape %v", ErrProtocol, t.Name, t.Shape)
		}
		n *= d
	}
	var buffer [1 << 14]byte
	for left := 4 * n; left > 0; {
		part := buffer[:min(left, int64(len(buffer)))]
		if _, err := io.ReadFull(r, part); err != nil {
			return fmt.Errorf("%w: tensor %q: %v", ErrProtocol, t.Name, err)
		}
		for ; len(part) > 0; part = part[4:] {
			t.data = append(t.data, math.Float32frombits(binary.LittleEndian.Uint32(part)))
			left -= 4
		}
	}
	return nil
}

// kinds are the errors that keep their identity across the pipe.
var kinds = map[string]error{
	"unsupported": runtime.ErrUnsupported, "input": runtime.ErrInput, "unavailable": runtime.ErrUnavailable,
}

// failure is an error of the other side.
type failure struct {
	text string
	kind error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.kind }

func (m *message) fail(err error) {
	m.Error = err.Error()
	for kind, target := range kinds {
		if errors.Is(err, target) {
			m.Kind = kind
		}
	}
}

func (m *message) err() error {
	if m.Error == "" {
		return nil
	}
	return &failure{m.Error, kinds[m.Kind]}
}
