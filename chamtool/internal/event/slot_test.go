package event

import (
	"testing"

	"pgregory.net/rapid"
)

func TestHeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := Kind(rapid.IntRange(int(ThreadStart), int(lastKind)).Draw(t, "kind"))
		flag := rapid.SampledFrom([]Flag{Local, Remote, Replicated}).Draw(t, "flag")
		n := rapid.IntRange(0, MaxSizes).Draw(t, "sizes")
		number := rapid.Int32().Draw(t, "number")
		var s Slot
		s.SetHeader(kind, flag, n, number)
		if s.Kind() != kind || s.Flag() != flag || s.Sizes() != n || s.Number() != number || !s.Valid() {
			t.Fatalf("%x: %v %v %d %d", s[0], s.Kind(), s.Flag(), s.Sizes(), s.Number())
		}
		if want := uint64(1 + (n+Words-1)/Words); s.Slots() != want {
			t.Fatalf("%d sizes take %d slots, want %d", n, s.Slots(), want)
		}
	})
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct{ core, depth int }{{-1, 0}, {0, 0}, {511, MaxDepth - 1}} {
		var s Slot
		s.SetHeader(Run, Local, 1, Place(tt.core, tt.depth))
		if s.Core() != tt.core || s.Depth() != tt.depth || s.Sizes() != 1 || !s.Valid() {
			t.Errorf("%+v: core %d, depth %d", tt, s.Core(), s.Depth())
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, word := range []uint64{0, 255, uint64(Create) | 200<<16, uint64(Create) | 5<<16, uint64(Run) | 1<<24} {
		if s := (Slot{word}); s.Valid() {
			t.Errorf("%#x is valid", word)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Upstream.String(), "upstream"}, {Patched.String(), "patched"}, {Dialect(0).String(), "unknown"},
		{Local.String(), "local"}, {Remote.String(), "remote"}, {(Replicated | Remote).String(), "replicated"}, {Flag(0).String(), "unknown"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
