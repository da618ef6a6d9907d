package simcuda_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

// order is one line of simcudatest/testdata/trace.c: client queues ns of work at a time, or
// ends (drop).
type order struct {
	at, client, ns int
	drop           bool
}

// The device of device.c on a clock of its own does what package device does in the
// simulator, and what two small models do that share nothing with either: in order by
// arithmetic, in turns by counting nanoseconds one by one.
func TestDeviceAgainstModel(t *testing.T) {
	needCompiler(t)
	trace, err := cc.Build(context.Background(), t.TempDir(), cc.Product{
		Name: "trace", Sources: simcudatest.Sources(),
		Args: []string{"-O1", "-g", "-std=gnu11", "-fsanitize=address,undefined", "-fno-sanitize-recover", "trace.c", "device.c", "-pthread"},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "device")
	rapid.Check(t, func(t *rapid.T) {
		const clients = 4
		s := device.Settings{
			Discipline: rapid.SampledFrom([]device.Discipline{device.FIFO, device.Turns, device.MPS}).Draw(t, "discipline"),
			Turn:       time.Duration(rapid.IntRange(1, 40).Draw(t, "slice")),
			Switch:     cmp.Or(time.Duration(rapid.IntRange(0, 5).Draw(t, "switch")), -1),
			Overlap:    rapid.SampledFrom([]float64{-1, 0.25, 0.5}).Draw(t, "overlap"),
		}
		orders := drawOrders(t, clients)
		os.Remove(file)
		got := runTrace(t, trace, file, s, clients, orders)
		wants := map[string][]int{}
		switch s.Discipline {
		case device.FIFO:
			wants["arithmetic"] = fifoEnds(orders)
		case device.Turns:
			wants["counted"] = slicedEnds(orders, int(s.Turn), int(max(s.Switch, 0)), clients)
		}
		if !slices.ContainsFunc(orders, func(o order) bool { return o.drop }) {
			wants["package device"] = playedEnds(orders, s, clients)
		}
		for model, want := range wants {
			if !slices.Equal(got, want) {
				t.Errorf("%+v, orders %v\n got %v\nwant %v by %s", s, orders, got, want, model)
			}
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

// playedEnds plays the orders on the device of the simulator.
func playedEnds(orders []order, s device.Settings, clients int) []int {
	d := device.New(s, clients)
	ends := make([]int, len(orders))
	next := make([][]int, clients) // lines of each client that are not done
	settle := func(now time.Duration) {
		for _, k := range d.Advance(now) {
			ends[next[k.Client][0]], next[k.Client] = int(k.End), next[k.Client][1:]
		}
	}
	for i, o := range orders {
		settle(time.Duration(o.at))
		d.Launch(device.Kernel{Client: o.client, Kernels: 1, Time: time.Duration(o.ns)})
		next[o.client] = append(next[o.client], i)
	}
	settle(1 << 40)
	return ends
}

func runTrace(t *rapid.T, trace, file string, s device.Settings, clients int, orders []order) []int {
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
	cmd := exec.CommandContext(ctx, trace, file, string(s.Discipline), strconv.Itoa(int(s.Turn)), strconv.Itoa(int(max(s.Switch, 0))),
		fmt.Sprint(max(s.Overlap, 0)), strconv.Itoa(clients))
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
	clock, running, last, turnEnd := 0, -1, -1, 0
	run := func(now int) {
		for {
			if running < 0 || len(queues[running]) == 0 || clock >= turnEnd {
				next := -1
				for k := 1; k <= clients && next < 0; k++ {
					if c := (last + k + clients) % clients; len(queues[c]) > 0 {
						next = c
					}
				}
				if next < 0 {
					running, clock = -1, max(clock, now)
					return
				}
				if last >= 0 && next != last {
					clock += swap
				}
				running, last, turnEnd = next, next, clock+slice
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
			if last == o.client {
				last = -1
			}
			continue
		}
		queues[o.client] = append(queues[o.client], command{i, o.ns})
	}
	run(1 << 20)
	return ends
}
