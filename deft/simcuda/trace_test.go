package simcuda_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/simcuda/simcudatest"
)

// order is one line of simcudatest/testdata/trace.c: client queues ns of work at a time, or
// ends (drop).
type order struct {
	at, client, ns int
	drop           bool
}

// The device of device.c on a clock of its own, against two small models that
// share nothing with it: in simcuda.FIFO order by arithmetic, in slices by counting
// nanoseconds one by one.
func TestDeviceAgainstModel(t *testing.T) {
	needCompiler(t)
	trace, err := cc.Compiler{Cache: t.TempDir()}.Build(context.Background(), cc.Product{
		Name: "trace", Sources: simcudatest.Sources(),
		Args: []string{"-O1", "-g", "-std=gnu11", "-fsanitize=address,undefined", "-fno-sanitize-recover", "trace.c", "device.c", "-pthread"},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "device")
	rapid.Check(t, func(t *rapid.T) {
		const clients = 4
		sliced := rapid.Bool().Draw(t, "sliced")
		slice, swap := rapid.IntRange(1, 40).Draw(t, "slice"), rapid.IntRange(0, 5).Draw(t, "switch")
		orders := drawOrders(t, clients)
		os.Remove(file)
		got := runTrace(t, trace, file, sliced, slice, swap, clients, orders)
		want := fifoEnds(orders)
		if sliced {
			want = slicedEnds(orders, slice, swap, clients)
		}
		if !slices.Equal(got, want) {
			t.Errorf("orders %v\n got %v\nwant %v", orders, got, want)
		}
	})
}

func drawOrders(t *rapid.T, clients int) []order {
	var orders []order
	at := 0
	gone := make([]bool, clients)
	for range rapid.IntRange(1, 40).Draw(t, "lines") {
		at += rapid.IntRange(0, 60).Draw(t, "pause")
		o := order{at: at, client: rapid.IntRange(0, clients-1).Draw(t, "client")}
		if gone[o.client] {
			continue
		}
		o.drop = rapid.IntRange(0, 12).Draw(t, "drop") == 0
		gone[o.client] = o.drop
		if !o.drop {
			o.ns = rapid.IntRange(0, 90).Draw(t, "ns")
		}
		orders = append(orders, o)
	}
	return orders
}

func runTrace(t *rapid.T, trace, file string, sliced bool, slice, swap, clients int, orders []order) []int {
	name := "fifo"
	if sliced {
		name = "sliced"
	}
	var in strings.Builder
	for _, o := range orders {
		if o.drop {
			fmt.Fprintln(&in, o.at, o.client, "drop")
		} else {
			fmt.Fprintln(&in, o.at, o.client, o.ns)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, trace, file, name, strconv.Itoa(slice), strconv.Itoa(swap), strconv.Itoa(clients))
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var ends []int
	for _, f := range strings.Fields(string(out)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, n)
	}
	return ends
}

// fifoEnds: each command begins when the one before is done; a client that
// ends takes back what is not done, and frees the device at once.
func fifoEnds(orders []order) []int {
	ends := make([]int, len(orders))
	free := 0
	var queue []int // not yet known to be done
	settle := func(now int) {
		for len(queue) > 0 {
			o := orders[queue[0]]
			end := max(free, o.at) + o.ns
			if end > now {
				return
			}
			ends[queue[0]], free, queue = end, end, queue[1:]
		}
	}
	for i, o := range orders {
		settle(o.at)
		if !o.drop {
			queue = append(queue, i)
			continue
		}
		if len(queue) > 0 && orders[queue[0]].client == o.client {
			free = max(free, o.at) // its command was running
		}
		// The others' commands cannot have run before the drop.
		wasFirst := len(queue) > 0 && orders[queue[0]].client == o.client
		queue = slices.DeleteFunc(queue, func(j int) bool { return orders[j].client == o.client })
		if wasFirst && free < o.at {
			free = o.at
		}
	}
	settle(1 << 40)
	return ends
}

// slicedEnds counts the device's nanoseconds one by one.
func slicedEnds(orders []order, slice, swap, clients int) []int {
	ends := make([]int, len(orders))
	type command struct{ line, left int }
	queues := make([][]command, clients)
	clock, running, turnEnd := 0, -1, 0
	run := func(now int) {
		for {
			if running < 0 || len(queues[running]) == 0 || clock >= turnEnd {
				next := -1
				for k := 1; k <= clients && next < 0; k++ {
					if c := (max(running, -1) + k + clients) % clients; len(queues[c]) > 0 {
						next = c
					}
				}
				if next < 0 {
					running, clock = -1, max(clock, now)
					return
				}
				if running >= 0 && next != running {
					clock += swap
				}
				running, turnEnd = next, clock+slice
			}
			head := &queues[running][0]
			if head.left > 0 {
				if clock >= now {
					return
				}
				head.left--
				clock++
			}
			if head.left == 0 {
				ends[head.line] = clock
				queues[running] = queues[running][1:]
			}
		}
	}
	for i, o := range orders {
		run(o.at)
		if o.drop {
			queues[o.client] = nil
			if running == o.client {
				running = -1
			}
			continue
		}
		queues[o.client] = append(queues[o.client], command{i, o.ns})
	}
	run(1 << 20)
	return ends
}
