package slurmview

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

const (
	shownNodes = `NodeName=g1 CoresPerSocket=1 CPUAlloc=0 CPUEfctv=62 CPUTot=64 Gres=gpu:a100:4(S:0-1) OS=Linux 5 State=IDLE+DRAIN Partitions=gpu RealMemory=500000
NodeName=g2 CPUAlloc=1 CPUEfctv=62 CPUTot=64 Gres=gpu:a100:4(S:0-1) State=MIXED Partitions=gpu,all RealMemory=500000 CfgTRES=cpu=62,mem=500000M,gres/gpu=4
NodeName=g3 CPUTot=62 Gres=gpu:4 State=IDLE+CLOUD+POWERED_DOWN Partitions=gpu,all RealMemory=500000
NodeName=c1 CPUTot=8 Gres=(null) State=ALLOCATED* RealMemory=1
`
	shownPartitions = `PartitionName=gpu Default=YES MaxNodes=UNLIMITED MaxTime=2-00:00:00 OverSubscribe=NO PriorityTier=5
PartitionName=all Default=NO MaxNodes=2 MaxTime=UNLIMITED OverSubscribe=EXCLUSIVE PriorityTier=1
`
)

func TestParseHardware(t *testing.T) {
	h, err := ParseHardware([]byte(shownNodes), []byte(shownPartitions), Controller{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Machine{
		Nodes: 4,
		Kinds: []cluster.Kind{
			{Name: "g2", Nodes: 2, CPUs: 62, GPUs: 4, MemoryMB: 500000, Partitions: []string{"gpu", "all"}},
			{Name: "g1", Nodes: 1, CPUs: 62, GPUs: 4, MemoryMB: 500000, Partitions: []string{"gpu"}},
			{Name: "c1", Nodes: 1, CPUs: 8, MemoryMB: 1, Partitions: []string{""}},
		},
		Down:       []cluster.Window{{From: 0, To: math.MaxInt32 * 4, Nodes: 2}},
		Partitions: []cluster.Partition{{Name: "gpu", MaxSeconds: 2 * 86400, Tier: 5}, {Name: "all", MaxNodes: 2, Tier: 1}},
	}
	if diff := cmp.Diff(want, h.Machine); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int32{0, 1, 2}, h.numbers("g[2-3],g1")); diff != "" || h.Default != "gpu" {
		t.Errorf("default %q, nodes %s", h.Default, diff)
	}
	for _, tt := range []struct {
		partition string
		need      *trace.Need
		exclusive bool
	}{{"gpu", &trace.Need{CPUs: 2, GPUs: 1}, false}, {"all", &trace.Need{CPUs: 2}, true}, {"gpu", nil, true}} {
		if got := h.need(tt.need, tt.partition, nil); got.Exclusive != tt.exclusive {
			t.Errorf("%+v in %s: %+v", tt.need, tt.partition, got)
		}
	}
	if _, err := ParseHardware([]byte("NodeName=x\n"), nil, Controller{}); !errors.Is(err, ErrAnswer) {
		t.Errorf("a node without CPUs: %v", err)
	}
}

func TestHosts(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "n1": "n1", "n1,m2": "n1 m2", "n[0-2,5]": "n0 n1 n2 n5", "n[08-11]x,m": "n08x n09x n10x n11x m", "a[1],b[2-3]": "a1 b2 b3",
		"n[1-": "", "n[a-b]": "", "n[0-99999999]": "",
	} {
		if got := strings.Join(hosts(list), " "); got != want {
			t.Errorf("%s: %q, want %q", list, got, want)
		}
	}
}

func TestLiveRules(t *testing.T) {
	r := liveRules("sched_min_interval=2,bf_interval=7,bf_resolution=60,bf_window=600,bf_continue,bf_max_job_test=5,default_queue_depth=9")
	b := r.Backfill
	if b.IntervalSeconds != 7 || b.ResolutionSeconds != 60 || b.WindowMinutes != 600 || b.MaxJobTest != 5 || r.QueueDepth != 9 || !r.LoggedPriority || r.Weights.Age != 0 {
		t.Errorf("%+v", r)
	}
}

func TestGPUsOf(t *testing.T) {
	for gres, want := range map[string]int{
		"": 0, "(null)": 0, "gpu:4": 4, "gpu:a100:4(S:0-1),shard:8": 4, "gres:gpu:2": 2, "gres/gpu=3": 3, "gres/gpu:a100:1,gres/gpu:h100:2": 3,
		"gres:gpu": 1, "gpu:a100": 1, "craynetwork:2": 0,
	} {
		if got := gpusOf(gres); got != want {
			t.Errorf("%s: %d, want %d", gres, got, want)
		}
	}
	jobs, err := ParseQueue([]byte(`{"jobs":[{"job_id":2,"job_state":"PENDING","node_count":2,"tres_req_str":"cpu=4","tres_per_node":"gres:gpu:3"},
		{"job_id":3,"job_state":"RUNNING","node_count":1,"tres_alloc_str":"cpu=4,gres/gpu=2","tres_per_node":"gres:gpu:2"}]}`))
	if err != nil || jobs[0].TRES != "cpu=4,gres/gpu=6" || jobs[1].TRES != "cpu=4,gres/gpu=2" {
		t.Errorf("%v, %v", jobs, err)
	}
}

// BenchmarkWaits asks when a job of two GPUs would start behind so many pending
// ones, on a hundred nodes of eight GPUs.
func BenchmarkWaits(b *testing.B) {
	for _, pending := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			st := simulator.Standing{Now: 1_700_000_000}
			row := func(i int) trace.Job {
				gpus := 1 + rng.IntN(8)
				return trace.Job{
					User: fmt.Sprint(i % 40), Nodes: 1, Submit: st.Now - 1000, Limit: int64(3600 * (1 + rng.IntN(48))), Priority: float64(rng.IntN(1000)),
					Need: &trace.Need{CPUs: 8 * gpus, GPUs: gpus},
				}
			}
			for i := range 170 {
				j := row(i)
				j.Start = st.Now - int64(rng.IntN(900))
				st.Running = append(st.Running, j)
			}
			for i := range pending {
				st.Pending = append(st.Pending, row(i))
			}
			m := cluster.Machine{Nodes: 100, Kinds: []cluster.Kind{{Name: "g", Nodes: 100, CPUs: 64, GPUs: 8}}}
			config := simulator.Config{Machine: m, Rules: liveRules("")}
			v, err := newView(&Hardware{}, st, config)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				job := trace.Job{User: "0", Nodes: 1, Limit: 7200, Need: &trace.Need{CPUs: 16, GPUs: 2}}
				_, err := waitsOf(v, job)
				for range 4 { // cheaper shapes
					_, e := waitsOf(v, job)
					err = errors.Join(err, e)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestNodeStates: a node takes jobs only in a state that is known to.
func TestNodeStates(t *testing.T) {
	for state, want := range map[string]struct {
		outage         string
		reserved, held bool
	}{
		"IDLE": {}, "MIXED": {held: true}, "ALLOCATED": {held: true}, "IDLE+PLANNED": {}, "MIX-": {held: true}, "IDLE+CLOUD+POWERED_DOWN": {}, "IDLE~": {}, "ALLOC#": {held: true},
		"IDLE+COMPLETING": {held: true}, "IDLE+MAINTENANCE": {reserved: true}, "IDLE$": {reserved: true}, "MIXED+RESERVED": {reserved: true, held: true},
		"DOWN+DRAIN": {outage: "drained"}, "IDLE+DRAIN+NOT_RESPONDING": {outage: "drained"}, "DOWN*": {outage: "down"}, "IDLE*": {outage: "not responding"},
		"IDLE@": {outage: "waiting for a reboot"}, "IDLE+REBOOT_ISSUED": {outage: "rebooting"}, "MIXED^": {outage: "rebooting", held: true}, "IDLE+BLOCKED": {outage: "in state blocked"},
		"IDLE+INVALID_REG": {outage: "in state invalid_reg"}, "INVAL": {outage: "in state inval"}, "IDLE+SOMETHING_NEW": {outage: "in state something_new"}, "": {outage: "in state"}, "FUTURE": {outage: "future"},
	} {
		if outage, reserved, held := outage(state, ""); outage != want.outage || reserved != want.reserved || held != want.held {
			t.Errorf("%s: %q, reserved %v, held %v, want %+v", state, outage, reserved, held, want)
		}
	}
}

// TestHiddenUse: CPUs that nodes have in use and no visible job holds make the wait unknown.
func TestHiddenUse(t *testing.T) {
	for name, tt := range map[string]struct {
		states [3]string
		jobs   []string
		want   string // nodes; "" is none
	}{
		"all idle":         {states: [3]string{"IDLE", "IDLE", "IDLE"}},
		"seen job":         {states: [3]string{"ALLOCATED CPUAlloc=16", "IDLE", "IDLE"}, jobs: []string{running(1, 1, "w1", 240, "")}},
		"none seen":        {states: [3]string{"ALLOCATED", "IDLE CPUAlloc=0", "MIXED"}, want: "(w1, w3)"},
		"part seen":        {states: [3]string{"MIXED CPUAlloc=20", "IDLE", "IDLE"}, jobs: []string{running(1, 1, "w1", 240, "")}, want: "(w1)"},
		"over two nodes":   {states: [3]string{"MIXED CPUAlloc=2", "MIXED CPUAlloc=14", "IDLE"}, jobs: []string{running(1, 2, "w[1-2]", 240, "")}},
		"job ended before": {states: [3]string{"IDLE+COMPLETING", "IDLE", "IDLE"}, want: "(w1)"},
		"out of service":   {states: [3]string{"ALLOCATED+DRAIN", "IDLE", "IDLE"}},
	} {
		s := plainSite()
		s.nodes(tt.states[:]...)
		s["squeue"] = `{"jobs":[` + strings.Join(tt.jobs, ",") + `]}`
		got := strings.Join(look(t, s).FindUnknowns(hours(1, 1)), "; ")
		if (got != "") != (tt.want != "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
