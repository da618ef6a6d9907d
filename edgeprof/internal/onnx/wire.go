package onnx

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	window     = 32 << 10  // bytes read at a time
	keptData   = 4 << 10   // longest tensor data that is kept
	mostKept   = 256 << 20 // bytes of names, attributes and short tensors in all, in [Read]
	longestRun = 16 << 20  // longest string or packed list
	deepest    = 64        // nesting of messages

	// What is kept counts for the memory of lists that grow, too.
	keptElement = 384 // bytes of a node, a tensor or an attribute
	keptName    = 96  // bytes of a name and its place in a list, in addition to its letters
	keptNumber  = 16  // bytes of a number in a list
)

// cursor reads protobuf fields from a file, in order, through a small window.
// What is skipped is not read if the file can seek.
type cursor struct {
	file   io.Reader
	buffer *bufio.Reader // of the file, from the byte passed on
	passed int64
	at     int64 // next byte
	size   int64
	kept   int64 // bytes kept so far
	most   int64 // of them
	depth  int
	place  []string
}

func (c *cursor) fail(format string, args ...any) error {
	place := ""
	for i, p := range c.place {
		if i > 0 {
			place += "."
		}
		place += p
	}
	return &SyntaxError{Offset: c.at, Field: place, Msg: fmt.Sprintf(format, args...)}
}

// ahead returns up to n bytes from the cursor on, without moving it; fewer at
// the end of the file. n is at most the window.
func (c *cursor) ahead(n int64) ([]byte, error) {
	if err := c.pass(); err != nil {
		return nil, err
	}
	return c.buffer.Peek(int(min(n, c.size-c.at)))
}

// pass moves the buffer on to the next byte.
func (c *cursor) pass() error {
	skip := c.at - c.passed
	c.passed = c.at
	if beyond := skip - int64(c.buffer.Buffered()); beyond > 0 {
		if seeker, ok := c.file.(io.Seeker); ok {
			c.buffer.Reset(c.file)
			_, err := seeker.Seek(beyond, io.SeekCurrent)
			return err
		}
	}
	_, err := c.buffer.Discard(int(skip))
	return err
}

func (c *cursor) varint(end int64) (uint64, error) {
	b, err := c.ahead(min(10, end-c.at))
	if err != nil {
		return 0, err
	}
	v, n := protowire.ConsumeVarint(b)
	if n < 0 {
		return 0, c.fail("bad varint")
	}
	c.at += int64(n)
	return v, nil
}

// length reads the size of what follows and checks that it fits.
func (c *cursor) length(end int64) (int64, error) {
	n, err := c.varint(end)
	if err != nil {
		return 0, err
	}
	if n > uint64(end-c.at) {
		return 0, c.fail("length %d, but %d bytes are left", n, end-c.at)
	}
	return int64(n), nil
}

// bytes reads n bytes and keeps them.
func (c *cursor) bytes(n int64) ([]byte, error) {
	if n > longestRun {
		return nil, fmt.Errorf("%w: %v", ErrLimit, c.fail("a field has %d bytes", n))
	}
	if err := c.keep(n); err != nil {
		return nil, err
	}
	out := make([]byte, n)
	for done := int64(0); done < n; {
		b, err := c.ahead(min(n-done, window))
		if err != nil {
			return nil, err
		}
		if len(b) == 0 {
			return nil, c.fail("the file ends early")
		}
		copy(out[done:], b)
		c.at += int64(len(b))
		done += int64(len(b))
	}
	return out, nil
}

// keep counts memory that stays.
func (c *cursor) keep(n int64) error {
	if c.kept += n; c.kept > c.most {
		return fmt.Errorf("%w: the graph has more than %d bytes: %v", ErrLimit, c.most, c.fail("limit reached"))
	}
	return nil
}

// field is one protobuf field; end is the end of the content of a length-delimited one.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  uint64 // of a varint or fixed field
	end    int64
}

// message calls each for every field up to end. What each leaves unread is
// skipped.
func (c *cursor) message(name string, end int64, each func(f field) error) error {
	c.depth++
	c.place = append(c.place, name)
	defer func() {
		c.depth--
		c.place = c.place[:len(c.place)-1]
	}()
	if c.depth > deepest {
		return fmt.Errorf("%w: %v", ErrLimit, c.fail("nested deeper than %d", deepest))
	}
	for c.at < end {
		f, err := c.field(end)
		if err != nil {
			return err
		}
		if err := each(f); err != nil {
			return err
		}
		if f.kind == protowire.BytesType {
			if c.at > f.end {
				return c.fail("content runs over its end")
			}
			c.at = f.end
		}
	}
	return nil
}

// inside reads a message from a field that has to hold one.
func (c *cursor) inside(name string, f field, each func(f field) error) error {
	if f.kind != protowire.BytesType {
		return c.fail("field %d is not a message", f.number)
	}
	return c.message(name, f.end, each)
}

func (c *cursor) field(end int64) (field, error) {
	tag, err := c.varint(end)
	if err != nil {
		return field{}, err
	}
	var f field
	f.number, f.kind = protowire.DecodeTag(tag)
	if f.number < 1 {
		return f, c.fail("field number %d", f.number)
	}
	switch f.kind {
	case protowire.VarintType:
		f.value, err = c.varint(end)
	case protowire.Fixed32Type, protowire.Fixed64Type:
		n := int64(4)
		if f.kind == protowire.Fixed64Type {
			n = 8
		}
		if end-c.at < n {
			return f, c.fail("a number of %d bytes, but %d are left", n, end-c.at)
		}
		b, err := c.ahead(n)
		if err != nil {
			return f, err
		}
		for i := n - 1; i >= 0; i-- {
			f.value = f.value<<8 | uint64(b[i])
		}
		c.at += n
	case protowire.BytesType:
		n, err := c.length(end)
		if err != nil {
			return f, err
		}
		f.end = c.at + n
	default:
		return f, c.fail("wire type %d", f.kind)
	}
	return f, err
}

// text reads a string field.
func (c *cursor) text(f field) (string, error) {
	if f.kind != protowire.BytesType {
		return "", c.fail("field %d is not a string", f.number)
	}
	if err := c.keep(keptName); err != nil {
		return "", err
	}
	b, err := c.bytes(f.end - c.at)
	return string(b), err
}

// numbers appends the values of a repeated varint field, packed or not.
func (c *cursor) numbers(to []int64, f field) ([]int64, error) {
	if f.kind == protowire.VarintType {
		return append(to, int64(f.value)), c.keep(keptNumber)
	}
	if f.kind != protowire.BytesType {
		return to, c.fail("field %d is not a list of numbers", f.number)
	}
	for c.at < f.end {
		v, err := c.varint(f.end)
		if err != nil {
			return to, err
		}
		if err := c.keep(keptNumber); err != nil {
			return to, err
		}
		to = append(to, int64(v))
	}
	return to, nil
}

// floats appends the values of a repeated float field, packed or not.
func (c *cursor) floats(to []float32, f field) ([]float32, error) {
	if f.kind == protowire.Fixed32Type {
		return append(to, math.Float32frombits(uint32(f.value))), c.keep(keptNumber)
	}
	if f.kind != protowire.BytesType || (f.end-c.at)%4 != 0 {
		return to, c.fail("field %d is not a list of floats", f.number)
	}
	b, err := c.bytes(f.end - c.at)
	for ; len(b) >= 4; b = b[4:] {
		v, _ := protowire.ConsumeFixed32(b)
		to = append(to, math.Float32frombits(v))
	}
	return to, err
}
