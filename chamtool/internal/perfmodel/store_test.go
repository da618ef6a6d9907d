package perfmodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func taughtBy(t testing.TB, runs int, seed uint64) *Model {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, seed))
	m := New(Auto)
	for range runs {
		e := m.Entry("app:f")
		size := 1000 + r.Int64N(100_000)
		e.Observe(e.Footprint([]int64{size}), truth(r, size, 0.01))
	}
	return m
}

func TestStoreRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.runs")
	if _, err := ReadStore(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	first := taughtBy(t, 300, 1)
	if err := first.TakeRuns(time.Unix(1e9, 0)).Write(path); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStore(path)
	if err != nil {
		t.Fatal(err)
	}
	second := New(Auto)
	second.Teach(s)
	second.Entry("app:f")
	if n := second.TakeRuns(time.Unix(1e9, 0)).Len(); n != 0 {
		t.Errorf("%d entries learned without a run", n)
	}
	e := second.Entry("app:f")
	p, err := e.Predict(e.Footprint([]int64{50_000}))
	want := 1e-9 * math.Pow(50_000, 1.5)
	if err != nil || !(math.Abs(p.Value-want) <= 0.05*want) {
		t.Errorf("%v, want %v (%v)", p.Value, want, err)
	}
	e.Observe(e.Footprint([]int64{77}), 0.5)
	own := second.TakeRuns(time.Unix(1e9, 0)).Runs("app:f")
	if len(own) != 1 || own[0].Sizes[0] != 77 || !(math.Abs(own[0].Seconds-0.5) <= 1e-12) {
		t.Errorf("%+v", own)
	}
}

func TestMergeKeepsTheNewest(t *testing.T) {
	s := &Store{}
	s.Merge(taughtBy(t, 4000, 1).TakeRuns(time.Unix(1e9, 0)))
	later := &Store{}
	later.Set("app:f", 0, make([]StoredRun, 500))
	later.Set("app:g", 0, []StoredRun{{[]int64{1}, 1}})
	s.Merge(later)
	if f := s.Runs("app:f"); len(f) != window || f[len(f)-1].Seconds != 0 || f[0].Seconds == 0 {
		t.Errorf("%d runs kept", len(f))
	}
	if len(s.Runs("app:g")) != 1 {
		t.Error("a new entry is lost")
	}
}

// A file with any byte changed is refused or still means the same.
func TestCorruptStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.runs")
	if err := taughtBy(t, 20, 2).TakeRuns(time.Unix(1e9, 0)).Write(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 1
		if s, err := parseStore(bad); err == nil && len(s.Runs("app:f")) != 20 {
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

// A file whose checksum fits and whose parts do not is refused too.
func TestStoresThatDoNotFit(t *testing.T) {
	for _, body := range []string{"", "\x01", "seconds.", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, err := parseStore(sealed(magic + storeVersion + body)); !errors.Is(err, ErrStore) {
			t.Errorf("%q: %v", body, err)
		}
	}
	for _, e := range []storedEntry{{Name: "f", SizeIndex: []uint32{0}, Seconds: []float64{1}}, {Name: "f", Sizes: [][]int64{{1}}, SizeIndex: []uint32{0}}} {
		var b bytes.Buffer
		enc := gob.NewEncoder(&b)
		if err := errors.Join(enc.Encode(1), enc.Encode(e)); err != nil {
			t.Fatal(err)
		}
		if _, err := parseStore(sealed(magic + storeVersion + b.String())); !errors.Is(err, ErrStore) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for _, text := range []string{"", magic, magic + "2\n", magic + storeVersion, `{"version":1}`} {
		if _, err := parseStore([]byte(text)); !errors.Is(err, ErrStore) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// teach lets a model learn all that is kept.
func teach(s *Store) {
	m := New(Auto)
	m.Teach(s)
	for name := range s.entries {
		m.Entry(name)
	}
}

// sealed adds the checksum.
func sealed(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return append([]byte(text), sum[:]...)
}

func TestStoreKeepsEveryRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) StoredRun {
			return StoredRun{rapid.SliceOfN(rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 2)), 0, 3).Draw(t, "sizes"), rapid.Float64().Draw(t, "seconds")}
		}))
		entries := rapid.MapOf(rapid.String(), runs).Draw(t, "entries")
		s := &Store{}
		for name, kept := range entries {
			s.Set(name, 0, kept)
		}
		data, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseStore(data)
		if err != nil || got.Len() != len(entries) {
			t.Fatalf("%d entries, want %d (%v)", got.Len(), len(entries), err)
		}
		for name, want := range entries {
			if !slices.EqualFunc(got.Runs(name), want, func(a, b StoredRun) bool { return a.Seconds == b.Seconds && slices.Equal(a.Sizes, b.Sizes) }) {
				t.Fatalf("%q: %v, want %v", name, got.Runs(name), want)
			}
		}
	})
}

func FuzzParseStore(f *testing.F) {
	s := &Store{}
	s.Set("f", 0, []StoredRun{{[]int64{1, -2}, 0.5}, {nil, 1}})
	good, err := s.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(sealed(magic + storeVersion + "\x01\x01f\x07\x01\x05\x00seconds."))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := parseStore(data); err == nil {
			teach(s)
		}
		if s, err := parseStore(sealed(magic + storeVersion + string(data))); err == nil {
			teach(s)
		}
	})
}

// What a program run pays for what is kept.
func BenchmarkStore(b *testing.B) {
	s := taughtBy(b, window, 1).TakeRuns(time.Unix(1e9, 0))
	file, err := s.encode()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.encode(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := parseStore(file); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("teach", func(b *testing.B) {
		for b.Loop() {
			teach(s)
		}
	})
}
