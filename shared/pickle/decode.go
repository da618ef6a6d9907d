package pickle

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ErrFormat is returned for what is no pickle, or one that does more than hold
// data. The message has the offset.
var ErrFormat = errors.New("not a pickle that holds only data")

// Decoder reads one pickle.
type Decoder struct {
	// Globals are the classes and functions that may be named; others are refused.
	Globals []Global
	// Built, where set, is told of an object that has got its state, and returns
	// what takes its place. It may read what follows in the stream, as joblib's
	// arrays do, with Bytes and Nested.
	Built func(d *Decoder, o *Object) (any, error)

	r     *bufio.Reader
	at    int64 // offset of the next byte
	op    int64 // and of the opcode that is carried out
	depth int
	machine
}

// machine is the state of the pickle machine: a stack, the stacks below each mark
// and the memo.
type machine struct {
	stack []any
	marks []int
	memo  []any
}

// deepest is how many pickles may stand in one another.
const deepest = 8

// Decode reads one pickle. The error matches ErrFormat, or is the reader's own or
// that of Built.
func (d *Decoder) Decode(r io.Reader) (any, error) {
	d.r, d.at, d.machine = bufio.NewReaderSize(r, 1<<16), 0, machine{}
	return d.run()
}

// Nested reads a pickle that stands where another goes on.
func (d *Decoder) Nested() (any, error) {
	if d.depth >= deepest {
		return nil, d.wrong("more than %d pickles in one another", deepest)
	}
	outer := d.machine
	d.depth++
	d.machine = machine{}
	v, err := d.run()
	d.machine = outer
	d.depth--
	return v, err
}

// Bytes reads the next n bytes of the stream.
func (d *Decoder) Bytes(n uint64) ([]byte, error) {
	if n > math.MaxInt64 {
		return nil, d.wrong("%d bytes", n)
	}
	var b bytes.Buffer // grows with what is there, whatever n says
	b.Grow(int(min(n, 1<<12)))
	got, err := b.ReadFrom(io.LimitReader(d.r, int64(n)))
	d.at += got
	if err == nil && got < int64(n) {
		err = d.wrong("the file ends %d bytes before this does", int64(n)-got)
	}
	return b.Bytes(), err
}

func (d *Decoder) wrong(format string, args ...any) error {
	return fmt.Errorf("%w: offset %d: %s", ErrFormat, d.op, fmt.Sprintf(format, args...))
}

func (d *Decoder) run() (any, error) {
	for {
		d.op = d.at
		op, err := d.byte()
		if err != nil {
			return nil, err
		}
		if op == stop {
			return d.pop()
		}
		if err := d.step(op); err != nil {
			return nil, err
		}
	}
}

func (d *Decoder) byte() (byte, error) {
	c, err := d.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, d.wrong("the file ends here")
	}
	d.at++
	return c, err
}

// number reads an unsigned little-endian number of n bytes.
func (d *Decoder) number(n int) (uint64, error) {
	var b [8]byte
	for i := range n {
		c, err := d.byte()
		if err != nil {
			return 0, err
		}
		b[i] = c
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

func (d *Decoder) push(v any) error {
	d.stack = append(d.stack, v)
	return nil
}

// bottom is where the part of the stack begins that may be taken.
func (m *machine) bottom() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (d *Decoder) pop() (any, error) {
	n := len(d.stack) - 1
	if n < d.bottom() {
		return nil, d.wrong("the stack is empty")
	}
	v := d.stack[n]
	d.stack = d.stack[:n]
	return v, nil
}

func (d *Decoder) top() (any, error) {
	if len(d.stack) <= d.bottom() {
		return nil, d.wrong("the stack is empty")
	}
	return d.stack[len(d.stack)-1], nil
}

// take takes the last n values off the stack.
func (d *Decoder) take(n int) (Tuple, error) {
	at := len(d.stack) - n
	if at < d.bottom() {
		return nil, d.wrong("the stack is empty")
	}
	v := slices.Clone(d.stack[at:])
	d.stack = d.stack[:at]
	return v, nil
}

// marked takes what lies above the last mark, and the mark.
func (d *Decoder) marked() (Tuple, error) {
	if len(d.marks) == 0 {
		return nil, d.wrong("no mark")
	}
	v, err := d.take(len(d.stack) - d.bottom())
	d.marks = d.marks[:len(d.marks)-1]
	return v, err
}

func (d *Decoder) remember(at uint64) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	switch {
	case at < uint64(len(d.memo)):
		d.memo[at] = v
	case at == uint64(len(d.memo)):
		d.memo = append(d.memo, v)
	default: // picklers number what they remember one by one
		return d.wrong("memo %d of %d", at, len(d.memo))
	}
	return nil
}

func (d *Decoder) recall(at uint64) error {
	if at >= uint64(len(d.memo)) {
		return d.wrong("memo %d of %d", at, len(d.memo))
	}
	return d.push(d.memo[at])
}

// global is a class or a function, if it may be named.
func (d *Decoder) global(module, name string) error {
	g := Global{module, name}
	if !slices.Contains(d.Globals, g) {
		return d.wrong("%s is not allowed", g)
	}
	return d.push(g)
}
