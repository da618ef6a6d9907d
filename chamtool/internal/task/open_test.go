package task

import (
	"testing"

	"pgregory.net/rapid"
)

// The blocks behave as the map they stand for.
func TestOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := open[int]{blocks: map[uint64]*block[int]{}}
		want := map[uint64]int{}
		// Few threads, few blocks, tokens at their ends: everything collides.
		token := func() uint64 {
			lane := rapid.Uint64Range(1, 20).Draw(t, "lane")
			return lane<<40 | rapid.Uint64Range(0, 3).Draw(t, "block")*blockTasks | rapid.SampledFrom([]uint64{0, 1, 62, 63}).Draw(t, "place")
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				k := token()
				*o.add(k) = Task[int]{Token: k, State: len(want)}
				want[k] = o.get(k).State
			},
			"remove": func(*rapid.T) {
				k := token()
				o.remove(k)
				delete(want, k)
			},
			"": func(t *rapid.T) {
				if o.n != len(want) {
					t.Fatalf("%d open, want %d", o.n, len(want))
				}
				for k, mark := range want {
					if got := o.get(k); got == nil || got.Token != k || got.State != mark {
						t.Fatalf("token %x: %+v, want mark %d", k, got, mark)
					}
				}
				if k := token(); o.get(k) != nil {
					if _, ok := want[k]; !ok {
						t.Fatalf("token %x is open", k)
					}
				}
				if len(o.blocks)+len(o.spare) > 80 || len(o.blocks) > len(want) {
					t.Fatalf("%d blocks and %d spare for %d tasks", len(o.blocks), len(o.spare), len(want))
				}
			},
		})
	})
}

// forget closes the oldest tasks of all threads first, and spares those that run.
func TestForget(t *testing.T) {
	o := open[int]{blocks: map[uint64]*block[int]{}}
	token := func(lane, n uint64) uint64 { return (lane+1)<<40 | n }
	for lane := range uint64(2) {
		for n := range uint64(1000) {
			o.add(token(lane, n))
		}
	}
	closed := o.forget(500, []uint64{token(1, 3)})
	if o.n > 500 || o.n+closed != 2000 {
		t.Errorf("%d open, %d closed", o.n, closed)
	}
	if o.get(token(1, 3)) == nil || o.get(token(0, 3)) != nil || o.get(token(0, 999)) == nil || o.get(token(1, 999)) == nil {
		t.Error("closed a task that runs, or the newest, or kept the oldest")
	}
	if again := o.add(token(0, 3)); again == nil || o.get(token(0, 3)) != again {
		t.Error("a token cannot be used again")
	}
}
