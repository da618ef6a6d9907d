package cluster

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// room is a machine of ten nodes of which six are taken until 100, with a queue
// in the order of submission.
func room(t *testing.T, rules Rules, requests ...Request) (*Plan, *Pass, *[]int32) {
	t.Helper()
	plan, err := rules.Plan()
	if err != nil {
		t.Fatal(err)
	}
	nodes := NewOccupancy(Machine{Nodes: 10})
	nodes.Take(Allocation{Job: 99, Nodes: 6, Until: 100, End: 100})
	f := &Pass{Queue: NewQueue(&rules, 0), Nodes: nodes, Running: []int32{7: 2}}
	started := &[]int32{}
	f.Start = func(r *Request, _ *Place, outOfTurn bool) {
		*started = append(*started, r.Job)
		nodes.Take(Allocation{Job: r.Job, Nodes: r.Nodes, Until: f.Now + r.Limit, End: f.Now + r.Limit})
	}
	for i, r := range requests {
		r.Job, r.Submit = int32(i), int64(i)-100
		f.Queue.Add(r)
	}
	return plan, f, started
}

// TestDisciplines: four nodes are free, the others in 100 s. Job 0 needs eight
// and must wait for them. Job 1 leaves eight beside it, job 2 after it would not,
// and job 3 is done in time.
func TestDisciplines(t *testing.T) {
	queue := []Request{
		{Nodes: 8, Limit: 50},
		{Nodes: 2, Limit: 500},
		{Nodes: 1, Limit: 500},
		{Nodes: 2, Limit: 100},
	}
	for _, tt := range []struct {
		name Discipline
		want []int32
	}{
		{FCFS, nil},
		{EASY, []int32{1, 3}},         // 8 of 10 stay free of job 1 at 100
		{Conservative, []int32{1, 3}}, // job 2 has its place after job 0
		{Slurm, nil},                  // the strict pass alone
	} {
		rules := Defaults(tt.name)
		plan, f, started := room(t, rules, queue...)
		plan.Event(f)
		if !slices.Equal(*started, tt.want) || f.Queue.Len() != len(queue)-len(tt.want) {
			t.Errorf("%s: %v started, %d left; want %v", tt.name, *started, f.Queue.Len(), tt.want)
		}
	}
	plan, f, started := room(t, Defaults(Slurm), queue...)
	if !plan.Periodic() {
		t.Fatal("slurm has no pass on an interval")
	}
	plan.Periodically(f)
	if want := []int32{1, 3}; !slices.Equal(*started, want) {
		t.Errorf("backfill: %v started, want %v", *started, want)
	}
}

// TestEasyReservesForTheFirstOnly: job 2 would delay job 1 and not job 0: EASY
// starts it, conservative backfill does not.
func TestEasyReservesForTheFirstOnly(t *testing.T) {
	queue := []Request{{Nodes: 7, Limit: 50}, {Nodes: 10, Limit: 50}, {Nodes: 3, Limit: 400}}
	for name, want := range map[Discipline][]int32{EASY: {2}, Conservative: nil} {
		plan, f, started := room(t, Defaults(name), queue...)
		plan.Event(f)
		if !slices.Equal(*started, want) {
			t.Errorf("%s: %v started, want %v", name, *started, want)
		}
	}
}

// TestLimits: a user at the limit is passed over and blocks nobody; a pass looks
// at no more jobs than it may.
func TestLimits(t *testing.T) {
	queue := []Request{{Nodes: 1, Limit: 10, User: 7}, {Nodes: 1, Limit: 10}, {Nodes: 1, Limit: 10}}
	for _, d := range []Discipline{FCFS, EASY, Conservative, Slurm} {
		rules := Defaults(d)
		rules.UserLimit = 2
		plan, f, started := room(t, rules, queue...)
		plan.Event(f)
		if want := []int32{1, 2}; !slices.Equal(*started, want) {
			t.Errorf("%s: %v started, want %v", d, *started, want)
		}
	}
	rules := Defaults(Slurm)
	rules.QueueDepth = 2
	plan, f, started := room(t, rules, queue...)
	plan.Event(f)
	if want := []int32{0, 1}; !slices.Equal(*started, want) {
		t.Errorf("a depth of two: %v started, want %v", *started, want)
	}
	rules.QueueDepth, rules.Backfill.MaxJobTest = 0, 1
	plan, f, started = room(t, rules, queue...)
	plan.Periodically(f)
	if want := []int32{0}; !slices.Equal(*started, want) {
		t.Errorf("one job to test: %v started, want %v", *started, want)
	}
}

// TestDown: no job is placed where its limit reaches into a span in which the
// nodes it needs are down.
func TestDown(t *testing.T) {
	for _, d := range []Discipline{FCFS, EASY, Conservative, Slurm} {
		rules := Defaults(d)
		plan, err := rules.Plan()
		if err != nil {
			t.Fatal(err)
		}
		nodes := NewOccupancy(Machine{Nodes: 4, Down: []Window{{From: 50, To: 90, Nodes: 3}}})
		var started []int32
		f := &Pass{Queue: NewQueue(&rules, 0), Nodes: nodes, Start: func(r *Request, _ *Place, _ bool) {
			started = append(started, r.Job)
			nodes.Take(Allocation{Job: r.Job, Nodes: r.Nodes, Until: r.Limit, End: r.Limit})
		}}
		f.Queue.Add(Request{Job: 0, Nodes: 2, Limit: 50})
		f.Queue.Add(Request{Job: 1, Nodes: 2, Limit: 51, Submit: 1})
		plan.Event(f)
		if want := []int32{0}; !slices.Equal(started, want) {
			t.Errorf("%s: %v started, want %v", d, started, want)
		}
	}
}

// TestQueueOrder: priority is static points and age up to its cap; equal ones
// stand as they were submitted.
func TestQueueOrder(t *testing.T) {
	rules := Defaults(Slurm)
	rules.Weights.Age, rules.Weights.MaxAgeDays = 10, 1
	q := NewQueue(&rules, 0)
	const day = 86400
	for i, r := range []Request{
		{Static: 0, Eligible: 0, Submit: 0},
		{Static: 3, Eligible: day / 2, Submit: day / 2},
		{Static: 3, Eligible: day / 2, Submit: day/2 + 1},
		{Static: 9, Eligible: day, Submit: day},
	} {
		r.Job = int32(i)
		q.Add(r)
	}
	for _, tt := range []struct {
		now  int64
		want []int32
	}{
		{day, []int32{0, 3, 1, 2}},     // 10; 8; 8; 9
		{day * 2, []int32{3, 1, 2, 0}}, // 10; 13; 13; 19
	} {
		var order []int32
		q.Each(tt.now, func(r *Request) bool { order = append(order, r.Job); return true })
		if !slices.Equal(order, tt.want) {
			t.Errorf("at %d: %v, want %v", tt.now, order, tt.want)
		}
	}
}

// TestEqualPriorities: 2880 s are worth as much as one node of three. Two such jobs stand as
// they were submitted, however their sums are rounded, until the greatest age.
// A lower tier stands behind them, whatever its priority.
func TestEqualPriorities(t *testing.T) {
	rules := Defaults(Slurm)
	const older = 2880
	for submit := range int64(3000) {
		q := NewQueue(&rules, 0)
		q.Add(Request{Job: 1, Tier: 2, Static: rules.Static(3./3, 0), Submit: submit + older, Eligible: submit + older})
		q.Add(Request{Job: 0, Tier: 2, Static: rules.Static(2./3, 0), Submit: submit, Eligible: submit})
		q.Add(Request{Job: 2, Tier: 1, Static: 4e9, Submit: submit, Eligible: submit})
		for _, now := range []int64{submit + older, submit + 7*86400, submit + 7*86400 + older/2} {
			var order []int32
			q.Each(now, func(r *Request) bool { order = append(order, r.Job); return true })
			want := []int32{0, 1, 2}
			if now > submit+7*86400 { // the older one has its greatest age, the other gains
				want = []int32{1, 0, 2}
			}
			if !slices.Equal(order, want) {
				t.Fatalf("submitted at %d, at %d: %v, want %v", submit, now, order, want)
			}
		}
	}
}

func TestRulesRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Rules){
		"no such discipline":  func(r *Rules) { r.Discipline = "lottery" },
		"negative limit":      func(r *Rules) { r.UserLimit = -1 },
		"negative weight":     func(r *Rules) { r.Weights.Size = -1 },
		"not a number":        func(r *Rules) { r.Weights.Age = math.NaN() },
		"age without cap":     func(r *Rules) { r.Weights.MaxAgeDays = 0 },
		"negative window":     func(r *Rules) { r.Backfill.WindowMinutes = -1 },
		"priorities for fcfs": func(r *Rules) { r.Discipline = FCFS },
	} {
		r := Defaults(Slurm)
		spoil(&r)
		if _, err := r.Plan(); !errors.Is(err, ErrRules) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStatic(t *testing.T) {
	r := Defaults(Slurm)
	if got := r.Static(.1, 7); got != 10 {
		t.Errorf("without the logged priority %v, want 10", got)
	}
	r.LoggedPriority = true
	if got := r.Static(.1, 7); got != 17 {
		t.Errorf("with the logged priority %v, want 17", got)
	}
}
