package pickle

import (
	"math"
	"math/bits"
	"unicode/utf8"
)

const stop = '.'

// Protocols that are read: those that pickle in binary.
const oldest, newest = 2, 5

// step does what an opcode says. These are all that are allowed; behind each is
// its name in CPython's Lib/pickletools.py.
func (d *Decoder) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		return d.counted(1, d.protocol)
	case 0x95: // FRAME
		return d.counted(8, func(uint64) error { return nil })
	case '(': // MARK
		d.marks = append(d.marks, len(d.stack))
		return nil
	case '0': // POP
		_, err := d.pop()
		return err
	case 'q': // BINPUT
		return d.counted(1, d.remember)
	case 'r': // LONG_BINPUT
		return d.counted(4, d.remember)
	case 0x94: // MEMOIZE
		return d.remember(uint64(len(d.memo)))
	case 'h': // BINGET
		return d.counted(1, d.recall)
	case 'j': // LONG_BINGET
		return d.counted(4, d.recall)
	case 'N': // NONE
		return d.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return d.push(op == 0x88)
	case 'K': // BININT1
		return d.counted(1, d.pushInt)
	case 'M': // BININT2
		return d.counted(2, d.pushInt)
	case 'J': // BININT
		return d.counted(4, func(n uint64) error { return d.push(int64(int32(n))) })
	case 0x8a: // LONG1
		return d.counted(1, d.long)
	case 'G': // BINFLOAT
		return d.counted(8, d.float)
	case 0x8c, 'X', 0x8d: // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
		return d.counted(width(op), d.text)
	case 'C', 'B', 0x8e, 0x96: // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
		return d.counted(width(op), d.bytes)
	case ')': // EMPTY_TUPLE
		return d.push(Tuple{})
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		return d.tuple(int(op) - 0x84)
	case 't': // TUPLE
		return d.fromMark(func(v Tuple) error { return d.push(v) })
	case ']': // EMPTY_LIST
		return d.push(&List{})
	case 'a': // APPEND
		return d.fromTop(1, d.extend)
	case 'e': // APPENDS
		return d.fromMark(d.extend)
	case '}': // EMPTY_DICT
		return d.push(&Dict{})
	case 's': // SETITEM
		return d.fromTop(2, d.set)
	case 'u': // SETITEMS
		return d.fromMark(d.set)
	case 'c': // GLOBAL
		return d.globalLines()
	case 0x93: // STACK_GLOBAL
		return d.fromTop(2, d.stackGlobal)
	case 'R', 0x81: // REDUCE, NEWOBJ
		return d.fromTop(2, d.object)
	case 'b': // BUILD
		return d.fromTop(2, d.build)
	}
	return d.wrong("opcode 0x%02x is not allowed", op)
}

// width is how many bytes the length has that follows an opcode.
func width(op byte) int {
	switch op {
	case 'X', 'B':
		return 4
	case 0x8d, 0x8e, 0x96:
		return 8
	}
	return 1
}

// counted reads a number of so many bytes and hands it on.
func (d *Decoder) counted(bytes int, do func(uint64) error) error {
	n, err := d.number(bytes)
	if err != nil {
		return err
	}
	return do(n)
}

func (d *Decoder) fromMark(do func(Tuple) error) error {
	v, err := d.marked()
	if err != nil {
		return err
	}
	return do(v)
}

func (d *Decoder) fromTop(n int, do func(Tuple) error) error {
	v, err := d.take(n)
	if err != nil {
		return err
	}
	return do(v)
}

func (d *Decoder) protocol(n uint64) error {
	if n < oldest || n > newest {
		return d.wrong("protocol %d, want %d to %d", n, oldest, newest)
	}
	return nil
}

func (d *Decoder) pushInt(n uint64) error { return d.push(int64(n)) }

// long is a whole number of n bytes in two's complement.
func (d *Decoder) long(n uint64) error {
	if n > 8 {
		return d.wrong("a number of %d bytes, want at most 8", n)
	}
	v, err := d.number(int(n))
	if err != nil {
		return err
	}
	unused := 64 - 8*n // shifted out and back, to carry the sign
	return d.push(int64(v<<unused) >> unused)
}

// float is the one number that is big-endian.
func (d *Decoder) float(n uint64) error {
	return d.push(math.Float64frombits(bits.ReverseBytes64(n)))
}

func (d *Decoder) text(n uint64) error {
	b, err := d.Bytes(n)
	if err != nil {
		return err
	}
	if !utf8.Valid(b) {
		return d.wrong("text that is not UTF-8")
	}
	return d.push(string(b))
}

func (d *Decoder) bytes(n uint64) error {
	b, err := d.Bytes(n)
	if err != nil {
		return err
	}
	return d.push(b)
}

func (d *Decoder) tuple(n int) error {
	v, err := d.take(n)
	if err != nil {
		return err
	}
	return d.push(v)
}

// extend adds to the list on the stack.
func (d *Decoder) extend(items Tuple) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	l, ok := v.(*List)
	if !ok {
		return d.wrong("%T takes no items", v)
	}
	l.Items = append(l.Items, items...)
	return nil
}

// set sets keys and values, by turns, of the dictionary on the stack.
func (d *Decoder) set(items Tuple) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	dict, ok := v.(*Dict)
	if !ok || len(items)%2 != 0 {
		return d.wrong("%T takes no %d keys and values", v, len(items))
	}
	for i := 0; i < len(items); i += 2 {
		dict.Keys, dict.Values = append(dict.Keys, items[i]), append(dict.Values, items[i+1])
	}
	return nil
}

// globalLines reads the two lines that name a class in protocols before 4.
func (d *Decoder) globalLines() error {
	var names [2]string
	for i := range names {
		line, err := d.line()
		if err != nil {
			return err
		}
		names[i] = line
	}
	return d.global(names[0], names[1])
}

// longestName bounds a line that names a class.
const longestName = 1 << 10

func (d *Decoder) line() (string, error) {
	var line []byte
	for len(line) < longestName {
		c, err := d.byte()
		if err != nil {
			return "", err
		}
		if c == '\n' {
			return string(line), nil
		}
		line = append(line, c)
	}
	return "", d.wrong("a name of more than %d bytes", longestName)
}

func (d *Decoder) stackGlobal(v Tuple) error {
	module, isText := v[0].(string)
	name, too := v[1].(string)
	if !isText || !too {
		return d.wrong("a class named by %T and %T", v[0], v[1])
	}
	return d.global(module, name)
}

// object describes what a class or a function would be called with.
func (d *Decoder) object(v Tuple) error {
	class, isClass := v[0].(Global)
	args, isArgs := v[1].(Tuple)
	if !isClass || !isArgs {
		return d.wrong("a call of %T with %T", v[0], v[1])
	}
	return d.push(&Object{Class: class, Args: args})
}

// build gives the object on the stack its state.
func (d *Decoder) build(v Tuple) error {
	o, ok := v[0].(*Object)
	if !ok {
		return d.wrong("a state for %T", v[0])
	}
	o.State = v[1]
	if d.Built == nil {
		return d.push(o)
	}
	made, err := d.Built(d, o)
	if err != nil {
		return err
	}
	return d.push(made)
}
