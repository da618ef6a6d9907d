package event_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

func TestHeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := event.Kind(rapid.IntRange(int(event.ThreadStart), int(event.Give)).Draw(t, "kind"))
		flag := rapid.SampledFrom([]event.Flag{event.Local, event.Remote, event.Replicated}).Draw(t, "flag")
		n := rapid.IntRange(0, event.MaxSizes).Draw(t, "sizes")
		number := rapid.Int32().Draw(t, "number")
		var s event.Slot
		ringtest.SetHeader(&s, kind, flag, n, number)
		if s.Kind() != kind || s.Flag() != flag || s.Sizes() != n || s.Number() != number || !s.Valid() {
			t.Fatalf("%x: %v %v %d %d", s[0], s.Kind(), s.Flag(), s.Sizes(), s.Number())
		}
		if want := uint64(1 + (n+event.Words-1)/event.Words); s.Slots() != want {
			t.Fatalf("%d sizes take %d slots, want %d", n, s.Slots(), want)
		}
	})
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct{ core, depth int }{{-1, 0}, {0, 0}, {511, event.Elsewhere - 1}} {
		var s event.Slot
		ringtest.SetHeader(&s, event.Run, event.Local, 1, ringtest.Place(tt.core, tt.depth))
		if s.Core() != tt.core || s.Depth() != tt.depth || s.Sizes() != 1 || !s.Valid() {
			t.Errorf("%+v: core %d, depth %d", tt, s.Core(), s.Depth())
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, word := range []uint64{0, 255, uint64(event.Create) | 200<<16, uint64(event.Create) | 5<<16, uint64(event.Run) | 1<<24} {
		if s := (event.Slot{word}); s.Valid() {
			t.Errorf("%#x is valid", word)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{event.Upstream.String(), "upstream"}, {event.Patched.String(), "patched"}, {event.Dialect(0).String(), "unknown"},
		{event.Local.String(), "local"}, {event.Remote.String(), "remote"}, {(event.Replicated | event.Remote).String(), "replicated"}, {event.Flag(0).String(), "unknown"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
