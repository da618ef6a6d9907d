package pickle

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func decode(data string, globals ...Global) (any, error) {
	return (&Decoder{Globals: globals}).Decode(strings.NewReader(data))
}

// TestDecode reads what Python 3.11 pickles of
//
//	[None, True, False, 0, 255, 256, 65536, -1, -2**31, 2**40, -2**40, 1.5, inf, "", "é", b"\x00\xff", (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], {}, {"a": [1, 2], 3: "b"}]
//
// by each protocol, in protocol 2 without the bytes.
func TestDecode(t *testing.T) {
	want := []any{
		nil, true, false, int64(0), int64(255), int64(256), int64(65536), int64(-1), int64(math.MinInt32), int64(1 << 40), int64(-1 << 40), 1.5, math.Inf(1), "", "é", []byte("\x00\xff"),
		Tuple{}, Tuple{int64(1)}, Tuple{int64(1), int64(2)}, Tuple{int64(1), int64(2), int64(3)}, Tuple{int64(1), int64(2), int64(3), int64(4)}, &List{}, &Dict{},
		&Dict{[]any{"a", int64(3)}, []any{&List{[]any{int64(1), int64(2)}}, "b"}},
	}
	for name, data := range map[string]string{
		"2": "\x80\x02]q\x00(N\x88\x89K\x00K\xffM\x00\x01J\x00\x00\x01\x00J\xff\xff\xff\xffJ\x00\x00\x00\x80\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xffG?\xf8\x00\x00\x00\x00\x00\x00G\x7f\xf0\x00\x00\x00\x00\x00\x00X\x00\x00\x00\x00q\x01X\x02\x00\x00\x00\xc3\xa9q\x02)K\x01\x85q\x03K\x01K\x02\x86q\x04K\x01K\x02K\x03\x87q\x05(K\x01K\x02K\x03K\x04tq\x06]q\x07}q\x08}q\x09(X\x01\x00\x00\x00aq\x0a]q\x0b(K\x01K\x02eK\x03X\x01\x00\x00\x00bq\x0cue.",
		"3": "\x80\x03]q\x00(N\x88\x89K\x00K\xffM\x00\x01J\x00\x00\x01\x00J\xff\xff\xff\xffJ\x00\x00\x00\x80\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xffG?\xf8\x00\x00\x00\x00\x00\x00G\x7f\xf0\x00\x00\x00\x00\x00\x00X\x00\x00\x00\x00q\x01X\x02\x00\x00\x00\xc3\xa9q\x02C\x02\x00\xffq\x03)K\x01\x85q\x04K\x01K\x02\x86q\x05K\x01K\x02K\x03\x87q\x06(K\x01K\x02K\x03K\x04tq\x07]q\x08}q\x09}q\x0a(X\x01\x00\x00\x00aq\x0b]q\x0c(K\x01K\x02eK\x03X\x01\x00\x00\x00bq\x0due.",
		"5": "\x80\x05\x95\x85\x00\x00\x00\x00\x00\x00\x00]\x94(N\x88\x89K\x00K\xffM\x00\x01J\x00\x00\x01\x00J\xff\xff\xff\xffJ\x00\x00\x00\x80\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xffG?\xf8\x00\x00\x00\x00\x00\x00G\x7f\xf0\x00\x00\x00\x00\x00\x00\x8c\x00\x94\x8c\x02\xc3\xa9\x94C\x02\x00\xff\x94)K\x01\x85\x94K\x01K\x02\x86\x94K\x01K\x02K\x03\x87\x94(K\x01K\x02K\x03K\x04t\x94]\x94}\x94}\x94(\x8c\x01a\x94]\x94(K\x01K\x02eK\x03\x8c\x01b\x94ue.",
	} {
		want := want
		if name == "2" {
			want = append(want[:15:15], want[16:]...)
		}
		got, err := decode(data)
		if err != nil {
			t.Errorf("protocol %s: %v", name, err)
		} else if diff := cmp.Diff(want, got.(*List).Items); diff != "" {
			t.Errorf("protocol %s: %s", name, diff)
		}
	}
}

// TestShared: what Python has once is once: [x, x] with x = [1], and a list that
// holds itself.
func TestShared(t *testing.T) {
	v, err := decode("\x80\x04\x95\x0c\x00\x00\x00\x00\x00\x00\x00]\x94(]\x94K\x01ah\x01e.")
	if l := v.(*List); err != nil || l.Items[0] != l.Items[1] {
		t.Error(v, err)
	}
	v, err = decode("\x80\x04\x95\x06\x00\x00\x00\x00\x00\x00\x00]\x94h\x00a.")
	if l := v.(*List); err != nil || l.Items[0] != v {
		t.Error(v, err)
	}
}

// TestObject: argparse.Namespace(a=1), which is not made, by protocols 2 and 5.
func TestObject(t *testing.T) {
	class := Global{"argparse", "Namespace"}
	for _, data := range []string{
		"\x80\x02cargparse\x0aNamespace\x0aq\x00)\x81q\x01}q\x02X\x01\x00\x00\x00aq\x03K\x01sb.",
		"\x80\x05\x95'\x00\x00\x00\x00\x00\x00\x00\x8c\x08argparse\x94\x8c\x09Namespace\x94\x93\x94)\x81\x94}\x94\x8c\x01a\x94K\x01sb.",
	} {
		v, err := decode(data, class)
		if o := v.(*Object); err != nil || o.Class != class || o.Attribute("a") != int64(1) || o.Attribute("b") != nil {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// TestRefused: whatever does more than hold data, or is cut or twisted, with the
// offset. The first two run a command in Python.
func TestRefused(t *testing.T) {
	for data, want := range map[string]string{
		"\x80\x02cposix\x0asystem\x0aq\x00X\x04\x00\x00\x00echoq\x01\x85q\x02Rq\x03.":                                           "offset 2: posix.system is not allowed",
		"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04echo\x94\x85\x94R\x94.": "offset 28: posix.system is not allowed",
		"":                    "offset 0: the file ends here",
		"I1\x0a.":             "offset 0: opcode 0x49 is not allowed",
		"\x80\x06.":           "offset 0: protocol 6, want 2 to 5",
		"\x80\x02Pid\x0a.":    "offset 2: opcode 0x50",
		"\x80\x02\x82\x01.":   "offset 2: opcode 0x82",
		"\x80\x04K":           "offset 2: the file ends here",
		"\x80\x04\x8c\x05abc": "offset 2: the file ends 2 bytes before",
		"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff":          "offset 2: 18446744073709551615 bytes",
		"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x00":          "offset 2: the file ends 72057594037927935 bytes before",
		"\x80\x04\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x40.": "offset 2: a number of 9 bytes",
		"\x80\x04.":                             "offset 2: the stack is empty",
		"\x80\x04h\x00.":                        "memo 0 of 0",
		"\x80\x04Nr\xff\xff\xff\x7f":            "memo 2147483647 of 0",
		"\x80\x04e.":                            "no mark",
		"\x80\x04](0.":                          "offset 4: the stack is empty",
		"\x80\x04NNa.":                          "<nil> takes no items",
		"\x80\x04}(Nu.":                         "takes no 1 keys",
		"\x80\x04NNR.":                          "a call of <nil>",
		"\x80\x04NNb.":                          "a state for <nil>",
		"\x80\x04K\x01\x8c\x01a\x93.":           "a class named by int64",
		"\x80\x04\x8c\x01\xff.":                 "not UTF-8",
		"\x80\x04c" + strings.Repeat("x", 2000): "a name of more than 1024 bytes",
	} {
		if _, err := decode(data); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", data, err, want)
		}
	}
	if _, err := (&Decoder{}).Decode(iotest.ErrReader(errors.ErrUnsupported)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a reader's own error: %v", err)
	}
}

// TestBuilt: what stands behind an object in the stream, bytes and another
// pickle, is read by who knows of it, and takes its place.
func TestBuilt(t *testing.T) {
	d := Decoder{Globals: []Global{{"m", "A"}}, Built: func(d *Decoder, o *Object) (any, error) {
		b, err := d.Bytes(uint64(o.State.(int64)))
		if err != nil {
			return nil, err
		}
		v, err := d.Nested()
		return Tuple{b, v}, err
	}}
	v, err := d.Decode(strings.NewReader("\x80\x04K\x05cm\nA\n)\x81K\x02bxy\x80\x04K\x07.\x86."))
	if diff := cmp.Diff(Tuple{int64(5), Tuple{[]byte("xy"), int64(7)}}, v); diff != "" || err != nil {
		t.Error(diff, err)
	}
	d.Built = func(d *Decoder, _ *Object) (any, error) { return d.Nested() }
	if _, err := d.Decode(strings.NewReader(strings.Repeat("cm\nA\n)\x81Nb", 20))); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "more than 8 pickles") {
		t.Error(err)
	}
}

// FuzzDecode: any bytes are a value or an error that says where.
func FuzzDecode(f *testing.F) {
	f.Add("\x80\x05\x95'\x00\x00\x00\x00\x00\x00\x00\x8c\x08argparse\x94\x8c\x09Namespace\x94\x93\x94)\x81\x94}\x94\x8c\x01a\x94K\x01sb.")
	f.Add("\x80\x04\x95\x0c\x00\x00\x00\x00\x00\x00\x00]\x94(]\x94K\x01ah\x01e.")
	f.Add("\x80\x02}q\x00(K\x01](K\x02G?\xf8\x00\x00\x00\x00\x00\x00t\x85u.")
	f.Fuzz(func(t *testing.T, data string) {
		if _, err := decode(data, Global{"argparse", "Namespace"}); err != nil && !errors.Is(err, ErrFormat) {
			t.Error(err)
		}
	})
}

// BenchmarkDecode is of a list of a thousand tuples of four small numbers.
func BenchmarkDecode(b *testing.B) {
	data := "\x80\x04](" + strings.Repeat("(K\x01M\x40\x0bG@\x08\x00\x00\x00\x00\x00\x00K\x00t", 1000) + "e."
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
