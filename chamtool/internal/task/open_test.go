package task

import (
	"testing"

	"pgregory.net/rapid"
)

// What is open behaves as a map.
func TestOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := open[int]{tasks: map[uint64]*Task[int]{}}
		want := map[uint64]int{}
		// Few threads and few tasks: everything collides.
		token := func() uint64 {
			lane := rapid.Uint64Range(1, 20).Draw(t, "lane")
			return lane<<40 | rapid.Uint64Range(0, 15).Draw(t, "task")
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
				if len(o.tasks) != len(want) {
					t.Fatalf("%d open, want %d", len(o.tasks), len(want))
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
			},
		})
	})
}

// forget closes the oldest tasks of all threads first, and spares those that run.
func TestForget(t *testing.T) {
	o := open[int]{tasks: map[uint64]*Task[int]{}}
	token := func(lane, n uint64) uint64 { return (lane+1)<<40 | n }
	for lane := range uint64(2) {
		for n := range uint64(1000) {
			o.add(token(lane, n))
		}
	}
	closed := o.forget(500, []uint64{token(1, 3)})
	if len(o.tasks) > 500 || len(o.tasks)+closed != 2000 {
		t.Errorf("%d open, %d closed", len(o.tasks), closed)
	}
	if o.get(token(1, 3)) == nil || o.get(token(0, 3)) != nil || o.get(token(0, 999)) == nil || o.get(token(1, 999)) == nil {
		t.Error("closed a task that runs, or the newest, or kept the oldest")
	}
	if again := o.add(token(0, 3)); again == nil || o.get(token(0, 3)) != again {
		t.Error("a token cannot be used again")
	}
}
