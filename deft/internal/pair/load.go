package pair

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/foretime/foretime/shared/file"
)

// Bounds of a trace: a program that plays it holds each kernel of its graphs.
const (
	mostBytes   = 1 << 28
	mostKernels = 4_000_000
	longest     = 100 * 24 * time.Hour // of all gaps and kernels
)

// readBounded reads a file of at most mostBytes.
func readBounded(path string) ([]byte, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > mostBytes {
		return nil, fmt.Errorf("%s: %w: %w: it has %d bytes, the limit is %d", path, ErrTrace, file.ErrTooLarge, info.Size(), mostBytes)
	}
	return io.ReadAll(file.LimitReader(f, path, mostBytes)) // a FIFO has no size
}

// total sums up the launches of a trace.
type total struct {
	kernels int
	time    time.Duration
}

// add adds launch i. The error says why the trace cannot be played.
func (t *total) add(i int, l Launch) error {
	if l.Gap < 0 || l.Time <= 0 || l.Kernels < 0 {
		return fmt.Errorf("launches[%d]: gap %v, time %v, %d kernels: want a gap of 0 or more, a time above 0", i, l.Gap, l.Time, l.Kernels)
	}
	if l.Kernels > mostKernels-t.kernels {
		return fmt.Errorf("launches[%d]: %d kernels after %d others: more than %d, the limit of a trace", i, l.Kernels, t.kernels, mostKernels)
	}
	t.kernels += max(l.Kernels, 1)
	if l.Gap > longest-t.time || l.Time > longest-t.time-l.Gap {
		return fmt.Errorf("launches[%d]: with its gap of %v and time of %v the trace takes more than %v, the limit", i, l.Gap, l.Time, longest)
	}
	t.time += l.Gap + l.Time
	return nil
}

// LoadTrace reads a trace: a JSON file. An error names the file and the line, and matches
// ErrTrace for a trace that cannot be played.
func LoadTrace(path string) (*Trace, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	t := &Trace{}
	if err := t.decode(d); err != nil {
		at := d.InputOffset()
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = e.Offset
		}
		line := 1 + bytes.Count(text[:min(int(at), len(text))], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: %w: %w", path, line, ErrTrace, err)
	}
	return t, nil
}

// decode reads a trace up to the end of the text.
func (t *Trace) decode(d *json.Decoder) error {
	if err := expect(d, json.Delim('{')); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "program":
			err = d.Decode(&t.Program)
		case "device":
			err = d.Decode(&t.Device)
		case "overhead":
			err = d.Decode(&t.Overhead)
		case "launches":
			err = t.decodeLaunches(d)
		default:
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	if len(t.Launches) == 0 {
		return errors.New("it has no launches")
	}
	if !(t.Overhead >= 0 && t.Overhead < 1) {
		return fmt.Errorf("overhead %v: want a share of 0 or more, below 1", t.Overhead)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more text follows it")
	}
	return nil
}

// decodeLaunches reads launches until the trace is longer than one may be.
func (t *Trace) decodeLaunches(d *json.Decoder) error {
	if err := expect(d, json.Delim('[')); err != nil {
		return err
	}
	var sum total
	t.Launches = nil
	for d.More() {
		var l Launch
		if err := d.Decode(&l); err != nil {
			return fmt.Errorf("launches[%d]: %w", len(t.Launches), err)
		}
		if err := sum.add(len(t.Launches), l); err != nil {
			return err
		}
		t.Launches = append(t.Launches, l)
	}
	return expect(d, json.Delim(']'))
}

// expect reads one delimiter.
func expect(d *json.Decoder, want json.Delim) error {
	have, err := d.Token()
	if err == nil && have != want {
		err = fmt.Errorf("want %v, have %v", want, have)
	}
	return err
}
