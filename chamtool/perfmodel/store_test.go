package perfmodel

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func taughtBy(t *testing.T, runs int, seed uint64) *Model {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, seed))
	m := New(Options{})
	for range runs {
		e := m.Entry("app:f")
		size := 1000 + r.Int64N(100_000)
		e.Observe(e.Footprint([]int64{size}), law(r, size, 0.01))
	}
	return m
}

func TestStoreRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.json")
	if _, err := ReadStore(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	first := taughtBy(t, 300, 1)
	if err := first.Learned().Write(path); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStore(path)
	if err != nil {
		t.Fatal(err)
	}
	second := New(Options{})
	second.Teach(s)
	if n := len(second.Learned().Entries); n != 0 {
		t.Errorf("%d entries learned without a run", n)
	}
	e := second.Entry("app:f")
	p, err := e.Predict(e.Footprint([]int64{50_000}))
	want := 1e-9 * math.Pow(50_000, 1.5)
	if err != nil || math.Abs(p.Seconds-want) > 0.05*want {
		t.Errorf("%v, want %v (%v)", p.Seconds, want, err)
	}
	e.Observe(e.Footprint([]int64{77}), 0.5)
	own := second.Learned().Entries["app:f"]
	if len(own) != 1 || own[0].Sizes[0] != 77 || math.Abs(own[0].Seconds-0.5) > 1e-12 {
		t.Errorf("%+v", own)
	}
}

func TestMergeKeepsTheNewest(t *testing.T) {
	s := &Store{}
	s.Merge(taughtBy(t, 4000, 1).Learned())
	s.Merge(&Store{Entries: map[string][]Kept{"app:f": make([]Kept, 500), "app:g": {{[]int64{1}, 1}}}})
	if f := s.Entries["app:f"]; len(f) != window || f[len(f)-1].Seconds != 0 || f[0].Seconds == 0 {
		t.Errorf("%d runs kept", len(f))
	}
	if len(s.Entries["app:g"]) != 1 {
		t.Error("a new entry is lost")
	}
}

// A file with any byte changed is refused or still means the same.
func TestCorruptStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.json")
	if err := taughtBy(t, 20, 2).Learned().Write(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 1
		if s, err := parseStore(bad); err == nil && len(s.Entries["app:f"]) != 20 {
			t.Fatalf("byte %d changed unnoticed", i)
		} else if err != nil && !errors.Is(err, ErrStore) {
			t.Fatal(err)
		}
	}
	for n := range good {
		if _, err := parseStore(good[:n]); !errors.Is(err, ErrStore) {
			t.Fatalf("%d bytes of %d: %v", n, len(good), err)
		}
	}
}

func FuzzParseStore(f *testing.F) {
	f.Add([]byte(`{"version":1,"checksum":"","runs":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := parseStore(data); err == nil {
			New(Options{}).Teach(s)
		}
	})
}
