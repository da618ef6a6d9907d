package cluster

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// Each field of a machine is accepted at its limit and refused one step beyond.
func TestMachineLimits(t *testing.T) {
	counted := func(change func(*Machine)) Machine {
		m := Machine{Nodes: 4, Down: []Window{{From: 5, To: 6, Nodes: 1}}}
		change(&m)
		return m
	}
	kinds := func(change func(*Machine)) Machine {
		m := Machine{Nodes: 3, Kinds: []Kind{{Name: "a", Nodes: 1, CPUs: 1}, {Name: "b", Nodes: 2, CPUs: 1}}, Partitions: []Partition{{Name: "p"}}}
		change(&m)
		return m
	}
	for name, tt := range map[string]struct {
		machine Machine
		good    bool
	}{
		"one node":                  {Machine{Nodes: 1}, true},
		"no node":                   {Machine{}, false},
		"the most nodes":            {Machine{Nodes: 1 << 30}, true},
		"one more than the most":    {Machine{Nodes: 1<<30 + 1}, false},
		"a window of a second":      {counted(func(*Machine) {}), true},
		"an empty window":           {counted(func(m *Machine) { m.Down[0].To = 5 }), false},
		"a window of no node":       {counted(func(m *Machine) { m.Down[0].Nodes = 0 }), false},
		"a window of all nodes":     {counted(func(m *Machine) { m.Down[0].Nodes = 4 }), true},
		"a window of more":          {counted(func(m *Machine) { m.Down[0].Nodes = 5 }), false},
		"a window of node 0":        {counted(func(m *Machine) { m.Down[0].On = []int32{0} }), true},
		"a window of node 3":        {counted(func(m *Machine) { m.Down[0].On = []int32{3} }), true},
		"a window of node 4":        {counted(func(m *Machine) { m.Down[0].On = []int32{4} }), false},
		"a window of node -1":       {counted(func(m *Machine) { m.Down[0].On = []int32{-1} }), false},
		"a window of two nodes":     {counted(func(m *Machine) { m.Down[0].On = []int32{0, 1} }), false},
		"a second bad window":       {counted(func(m *Machine) { m.Down = append(m.Down, Window{From: 9, To: 9, Nodes: 1}) }), false},
		"kinds":                     {kinds(func(*Machine) {}), true},
		"a kind of no node":         {kinds(func(m *Machine) { m.Kinds[0].Nodes, m.Nodes = 0, 2 }), false},
		"the largest kind":          {kinds(func(m *Machine) { m.Kinds[0].Nodes, m.Nodes = 1<<24, 1<<24+2 }), true},
		"a larger kind":             {kinds(func(m *Machine) { m.Kinds[0].Nodes, m.Nodes = 1<<24+1, 1<<24+3 }), false},
		"a kind without CPUs":       {kinds(func(m *Machine) { m.Kinds[1].CPUs = 0 }), false},
		"a kind with GPUs":          {kinds(func(m *Machine) { m.Kinds[1].GPUs = 1 }), true},
		"a kind with fewer GPUs":    {kinds(func(m *Machine) { m.Kinds[1].GPUs = -1 }), false},
		"a kind with memory":        {kinds(func(m *Machine) { m.Kinds[1].MemoryMB = 1 }), true},
		"a kind with less memory":   {kinds(func(m *Machine) { m.Kinds[1].MemoryMB = -1 }), false},
		"more nodes than in kinds":  {kinds(func(m *Machine) { m.Nodes = 4 }), false},
		"fewer nodes than in kinds": {kinds(func(m *Machine) { m.Nodes = 2 }), false},
		"kinds counted in nodes":    {kinds(func(m *Machine) { m.Unit = trace.Nodes }), true},
		"kinds counted in CPUs":     {kinds(func(m *Machine) { m.Unit = trace.CPUs }), false},
		"a partition of seconds":    {kinds(func(m *Machine) { m.Partitions[0].MaxSeconds = 1 }), true},
		"of negative seconds":       {kinds(func(m *Machine) { m.Partitions[0].MaxSeconds = -1 }), false},
		"a partition of nodes":      {kinds(func(m *Machine) { m.Partitions[0].MaxNodes = 1 }), true},
		"of negative nodes":         {kinds(func(m *Machine) { m.Partitions[0].MaxNodes = -1 }), false},
		"the highest tier":          {kinds(func(m *Machine) { m.Partitions[0].Tier = 65535 }), true},
		"a higher tier":             {kinds(func(m *Machine) { m.Partitions[0].Tier = 65536 }), false},
		"a negative tier":           {kinds(func(m *Machine) { m.Partitions[0].Tier = -1 }), false},
		"partitions without kinds":  {Machine{Nodes: 3, Partitions: []Partition{{Name: "p"}}}, false},
	} {
		if err := tt.machine.Check(); errors.Is(err, ErrMachine) == tt.good || (err == nil) != tt.good {
			t.Errorf("%s: %v", name, err)
		}
	}
	for nodes, good := range map[int]bool{0: false, 1: true, 4: true, 5: false} {
		if err := (Machine{Nodes: 4}).Accepts(nodes); errors.Is(err, ErrOversize) == good {
			t.Errorf("%d of 4 nodes: %v", nodes, err)
		}
	}
}

// A job's resources divide over its nodes, rounded up, and its partitions decide
// on which nodes, up to their limits.
func TestShares(t *testing.T) {
	m := sharedMachine()
	m.Partitions = []Partition{{Name: "a", Tier: 2, MaxSeconds: 100, MaxNodes: 2}, {Name: "b", Tier: 1}, {Name: "c", MaxNodes: 3}, {Name: "empty"}}
	l := m.Layout()
	need := func(cpus, gpus int, memory int64) *trace.Need {
		return &trace.Need{CPUs: cpus, GPUs: gpus, MemoryMB: memory}
	}
	for name, tt := range map[string]struct {
		job  trace.Job
		per  Amount
		on   []int32
		tier int
		bad  bool
	}{
		"whole nodes":                  {job: trace.Job{Nodes: 5}, on: []int32{0, 1, 2, 3, 4}},
		"one node too many":            {job: trace.Job{Nodes: 6}, bad: true},
		"no node":                      {job: trace.Job{Nodes: 0}, bad: true},
		"no node of a need":            {job: trace.Job{Nodes: 0, Need: need(1, 0, 0)}, bad: true},
		"two CPUs":                     {job: trace.Job{Nodes: 1, Need: need(2, 0, 0)}, per: Amount{2, 0, 0}, on: []int32{0, 1, 2, 3, 4}},
		"three CPUs":                   {job: trace.Job{Nodes: 1, Need: need(3, 0, 0)}, per: Amount{3, 0, 0}, on: []int32{2, 3, 4}},
		"no CPU is one":                {job: trace.Job{Nodes: 2, Need: need(0, 0, 0)}, per: Amount{1, 0, 0}, on: []int32{0, 1, 2, 3, 4}},
		"seven CPUs of two nodes":      {job: trace.Job{Nodes: 2, Need: need(7, 0, 0)}, per: Amount{4, 0, 0}, on: []int32{2, 3}},
		"six CPUs of two nodes":        {job: trace.Job{Nodes: 2, Need: need(6, 0, 0)}, per: Amount{3, 0, 0}, on: []int32{2, 3, 4}},
		"a GPU":                        {job: trace.Job{Nodes: 1, Need: need(1, 1, 0)}, per: Amount{1, 1, 0}, on: []int32{2, 3}},
		"three GPUs of a node":         {job: trace.Job{Nodes: 1, Need: need(1, 3, 0)}, bad: true},
		"4 MB":                         {job: trace.Job{Nodes: 1, Need: need(1, 0, 4)}, per: Amount{1, 0, 4}, on: []int32{0, 1, 2, 3, 4}},
		"5 MB":                         {job: trace.Job{Nodes: 1, Need: need(1, 0, 5)}, per: Amount{1, 0, 5}, on: []int32{0, 1, 2, 3}},
		"9 MB":                         {job: trace.Job{Nodes: 2, Need: need(1, 0, 17)}, per: Amount{1, 0, 9}, on: []int32{0, 1}},
		"a partition at its limits":    {job: trace.Job{Nodes: 2, Limit: 100, Partition: "a"}, on: []int32{0, 1, 4}, tier: 2},
		"a second too long":            {job: trace.Job{Nodes: 2, Limit: 101, Partition: "a"}, bad: true},
		"a node too many":              {job: trace.Job{Nodes: 3, Limit: 100, Partition: "a"}, bad: true},
		"limits of nodes alone":        {job: trace.Job{Nodes: 3, Limit: 1e6, Partition: "c"}, on: []int32{0, 1, 2, 3, 4}},
		"more nodes than those":        {job: trace.Job{Nodes: 4, Partition: "c"}, bad: true},
		"no limits":                    {job: trace.Job{Nodes: 3, Limit: 1e6, Partition: "b"}, on: []int32{2, 3, 4}, tier: 1},
		"two partitions":               {job: trace.Job{Nodes: 2, Limit: 100, Partition: "a,b"}, on: []int32{0, 1, 2, 3, 4}, tier: 2},
		"and the other way":            {job: trace.Job{Nodes: 2, Limit: 100, Partition: "b,a"}, on: []int32{0, 1, 2, 3, 4}, tier: 2},
		"two, one of them too short":   {job: trace.Job{Nodes: 2, Limit: 101, Partition: "a,b"}, on: []int32{2, 3, 4}, tier: 1},
		"two, one of them unknown":     {job: trace.Job{Nodes: 2, Partition: "x,b"}, on: []int32{2, 3, 4}, tier: 1},
		"an unknown one":               {job: trace.Job{Nodes: 1, Partition: "x"}, bad: true},
		"one of the nodes without any": {job: trace.Job{Nodes: 1, Partition: "empty"}, on: []int32{4}},
	} {
		s, tier, err := l.Share(&tt.job)
		if tt.bad {
			if !errors.Is(err, ErrOversize) || s != nil || tier != 0 {
				t.Errorf("%s: %+v, tier %d, %v", name, s, tier, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if on := l.Fitting(s); s.Per != tt.per || !slices.Equal(on, tt.on) || tier != tt.tier || s.Whole != (tt.job.Need == nil) {
			t.Errorf("%s: %+v on %v, tier %d; want %v on %v, tier %d", name, s, on, tier, tt.per, tt.on, tt.tier)
		}
	}
	s, _, err := l.Share(&trace.Job{Nodes: 1, Need: &trace.Need{CPUs: 1, Exclusive: true, Only: []int32{1, 3}}})
	if err != nil || !s.Whole || !slices.Equal(l.Fitting(s), []int32{1, 3}) {
		t.Errorf("an exclusive job of two nodes: %+v, %v", s, err)
	}
	if (Machine{Nodes: 3}).Layout() != nil {
		t.Error("a counted machine has a layout")
	}
	for name, want := range map[string]string{"x": "no nodes in partition x", "a": "no partition of a allows 3 nodes for "} {
		_, _, err := l.Share(&trace.Job{Nodes: 3, Limit: 60, Partition: name})
		if err == nil || !strings.Contains(err.Error(), ": "+want) {
			t.Errorf("partition %s: %v", name, err)
		}
	}
}

// A job that already runs stays on its nodes if they are known and
// exist, else has the first with room, else the roomiest.
func TestPlacesOfRunningJobs(t *testing.T) {
	o := NewOccupancy(sharedMachine())
	two := &Share{Per: Amount{2, 0, 0}}
	for _, tt := range []struct {
		nodes    int
		on, want []int32
		cpus     int32
	}{
		{1, []int32{4}, []int32{4}, 2},
		{2, []int32{0, 4}, []int32{0, 4}, 4},
		{2, []int32{4}, []int32{0, 1}, 4},          // one is missing
		{1, []int32{5}, []int32{0}, 2},             // no such node
		{1, []int32{-1}, []int32{0}, 2},            // nor this
		{6, nil, []int32{2, 3, 4, 0, 1}, 2 * 5},    // more than there are: the roomiest first
		{1, []int32{0, 1}, []int32{0}, 2},          // one too many
		{5, []int32{}, []int32{0, 1, 2, 3, 4}, 10}, // none known
	} {
		p := o.Assign(tt.nodes, two, tt.on)
		if !slices.Equal(p.On, tt.want) || p.CPUs != tt.cpus {
			t.Errorf("%d nodes on %v: on %v with %d CPUs, want %v with %d", tt.nodes, tt.on, p.On, p.CPUs, tt.want, tt.cpus)
		}
	}
	counted := NewOccupancy(Machine{Nodes: 3})
	if counted.Assign(1, nil, nil) != nil || counted.PlaceOf(7) != nil {
		t.Error("counted nodes have a place")
	}
	place := o.Assign(2, two, nil)
	o.Take(Allocation{Job: 7, Nodes: 2, Until: 9, End: 5, Place: place})
	if o.PlaceOf(7) != place || o.Free() != 3 {
		t.Errorf("job 7 is on %+v, and %d nodes are free; want 3", o.PlaceOf(7), o.Free())
	}
	if o.Room(4, two) || !o.Room(3, two) || o.Room(1, &Share{Per: Amount{5, 0, 0}}) {
		t.Error("three nodes have two CPUs")
	}
	if !o.NeedsPlan(0) {
		t.Error("kinds need a plan")
	}
	back := o.Release()
	if back.Job != 7 || o.Free() != 5 || !o.Room(5, two) {
		t.Errorf("released %+v, %d free; want 5", back, o.Free())
	}
}

// Jobs end in the order of their ends, and nodes come back.
func TestCountedNodes(t *testing.T) {
	o := NewOccupancy(Machine{Nodes: 4})
	if _, ok := o.NextEnd(); ok || o.NeedsPlan(0) {
		t.Error("an idle machine has an end, or needs a plan")
	}
	o.Take(Allocation{Job: 1, Nodes: 2, Until: 30, End: 20})
	o.Take(Allocation{Job: 2, Nodes: 1, Until: 25, End: 22})
	o.Take(Allocation{Job: 3, Nodes: 1, Until: 30, End: 20})
	jobs := func() (list []int32) {
		for _, a := range o.Running() {
			list = append(list, a.Job)
		}
		return list
	}
	if !slices.Equal(jobs(), []int32{2, 1, 3}) || o.Free() != 0 {
		t.Errorf("running %v, %d free", jobs(), o.Free())
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a fifth node was taken of four")
			}
		}()
		o.Take(Allocation{Job: 4, Nodes: 1})
	}()
	later := o.Clone()
	later.Reschedule(func(job int32, until, end int64) int64 { return until + end + int64(job) })
	if at, _ := later.NextEnd(); at != 25+22+2 {
		t.Errorf("the next end is %d, want 49", at)
	}
	for _, want := range []int32{1, 3, 2} {
		if at, ok := o.NextEnd(); !ok || at != map[int32]int64{1: 20, 3: 20, 2: 22}[want] {
			t.Errorf("the end of job %d is %d, %v", want, at, ok)
		}
		if got := o.Release(); got.Job != want {
			t.Errorf("job %d ends, want %d", got.Job, want)
		}
	}
	if o.Free() != 4 || len(later.Running()) != 3 {
		t.Errorf("%d free, and a copy has %d running", o.Free(), len(later.Running()))
	}
}

// Times count up to the next multiple after the origin.
func TestRoundUp(t *testing.T) {
	for origin := int64(-3); origin < 4; origin++ {
		for at := int64(-9); at < 20; at++ {
			for resolution := int64(-1); resolution < 6; resolution++ {
				want := at
				for resolution > 0 && want > origin && (want-origin)%resolution != 0 {
					want++
				}
				if got := RoundUp(at, origin, resolution); got != want {
					t.Fatalf("%d after %d in steps of %d: %d, want %d", at, origin, resolution, got, want)
				}
			}
		}
	}
}

// The queue reads as its pending requests sorted by priority, while
// requests come, grow old and start.
func TestQueueAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const day = 86400
	for round := range 200 {
		rules := Defaults(Slurm)
		rules.Weights.Age = float64(rng.IntN(3)) * 16
		rules.Weights.MaxAgeDays = 1
		origin := int64(rng.IntN(3)) * day
		q := NewQueue(&rules, origin)
		var pending []Request
		at := origin
		for step := range 60 {
			at += int64(rng.IntN(4)) * day / 16
			if rng.IntN(3) > 0 {
				r := Request{Job: int32(step), Nodes: 1, Tier: rng.IntN(2), Static: float64(rng.IntN(12)), Submit: at - int64(rng.IntN(3)), Eligible: at - int64(rng.IntN(2)-1)*day/8}
				q.Add(r)
				pending = append(pending, r)
			}
			// A request that is not yet eligible stands as if its age were negative.
			standing := func(r *Request) float64 {
				return r.Static + rules.Weights.Age*float64(min(at-r.Eligible, day))/day
			}
			slices.SortFunc(pending, func(a, b Request) int {
				switch pa, pb := standing(&a), standing(&b); {
				case a.Tier != b.Tier:
					return b.Tier - a.Tier
				case math.Abs(pa-pb) > 1e-6 && pa > pb:
					return -1
				case math.Abs(pa-pb) > 1e-6:
					return 1
				case a.Submit != b.Submit:
					return int(a.Submit - b.Submit)
				}
				return int(a.Job - b.Job)
			})
			i := 0
			copied := q.Clone()
			copied.Each(at, func(r *Request) bool {
				if r.Job != pending[i].Job {
					t.Fatalf("round %d, step %d: job %d at place %d, want %d", round, step, r.Job, i, pending[i].Job)
				}
				i++
				return true
			})
			if i != len(pending) || q.Len() != len(pending) {
				t.Fatalf("round %d, step %d: %d read and %d counted of %d", round, step, i, q.Len(), len(pending))
			}
			if len(pending) > 0 && rng.IntN(3) == 0 {
				start := rng.IntN(len(pending))
				q.Advance(at)
				w := walk{q: q, now: at}
				for r := w.next(); r != nil; r = w.next() {
					if r.Job == pending[start].Job {
						q.markStarted(r)
						break
					}
				}
				pending = slices.Delete(pending, start, start+1)
				if rng.IntN(2) == 0 {
					q.sweep()
					if lists := len(q.young) + len(q.old); q.started != lists-len(pending) || q.started > 0 && 8*q.started >= lists {
						t.Fatalf("%d marked of %d stay after a sweep", q.started, lists)
					}
				}
			}
		}
	}
}

// Settings at their limits make a plan, one step beyond they do not.
func TestRuleLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Rules)
		good   bool
	}{
		"defaults":            {func(*Rules) {}, true},
		"no limits":           {func(r *Rules) { r.UserLimit, r.QueueDepth, r.Backfill = 0, 0, Backfill{} }, true},
		"no weights":          {func(r *Rules) { r.Weights = Weights{} }, true},
		"no weight of age":    {func(r *Rules) { r.Weights.Age, r.Weights.MaxAgeDays = 0, 0 }, true},
		"age without days":    {func(r *Rules) { r.Weights.Age, r.Weights.MaxAgeDays = 1, 0 }, false},
		"user limit":          {func(r *Rules) { r.UserLimit = -1 }, false},
		"queue depth":         {func(r *Rules) { r.QueueDepth = -1 }, false},
		"jobs to test":        {func(r *Rules) { r.Backfill.MaxJobTest = -1 }, false},
		"interval":            {func(r *Rules) { r.Backfill.IntervalSeconds = -1 }, false},
		"window":              {func(r *Rules) { r.Backfill.WindowMinutes = -1 }, false},
		"resolution":          {func(r *Rules) { r.Backfill.ResolutionSeconds = -1 }, false},
		"age":                 {func(r *Rules) { r.Weights.Age = -1e-9 }, false},
		"days":                {func(r *Rules) { r.Weights.MaxAgeDays = math.Inf(1) }, false},
		"logged":              {func(r *Rules) { r.Weights.Logged = math.NaN() }, false},
		"in order":            {func(r *Rules) { *r = Defaults(FCFS) }, true},
		"in order, logged":    {func(r *Rules) { *r = Defaults(FCFS); r.LoggedPriority = true }, false},
		"in order, with age":  {func(r *Rules) { *r = Defaults(FCFS); r.Weights.Age = 1 }, false},
		"in order, with size": {func(r *Rules) { *r = Defaults(FCFS); r.Weights.Size = 1 }, false},
		"easy, with size":     {func(r *Rules) { *r = Defaults(EASY); r.Weights.Size = 1 }, true},
	} {
		r := Defaults(Slurm)
		tt.change(&r)
		if _, err := r.Plan(); (err == nil) != tt.good || err != nil && !errors.Is(err, ErrRules) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Slurm's own defaults, and points for seven days of age.
	want := Rules{
		Discipline: Slurm, Weights: Weights{Age: 7000, MaxAgeDays: 7, Size: 100, Logged: 1}, QueueDepth: 1000,
		Backfill: Backfill{IntervalSeconds: 30, WindowMinutes: 2880, MaxJobTest: 1000},
	}
	if got := Defaults(Slurm); got != want {
		t.Errorf("defaults %+v, want %+v", got, want)
	}
	if got, want := Defaults(EASY), (Rules{Discipline: EASY, Weights: Weights{MaxAgeDays: 7, Logged: 1}}); got != want {
		t.Errorf("defaults %+v, want %+v", got, want)
	}
}

// A place just within the window is kept from later jobs, one at its end
// is not.
func TestWindowOfBackfill(t *testing.T) {
	for ends, want := range map[int64][]int32{59: nil, 60: {1}} {
		rules := Defaults(Slurm)
		rules.Backfill.WindowMinutes = 1
		plan, err := rules.Plan()
		if err != nil {
			t.Fatal(err)
		}
		o := NewOccupancy(Machine{Nodes: 2})
		o.Take(Allocation{Job: 9, Nodes: 1, Until: now + ends, End: now + ends})
		f := &Pass{Now: now, Queue: NewQueue(&rules, 0), Nodes: o}
		f.Queue.Add(Request{Job: 0, Nodes: 2, Limit: 5})
		f.Queue.Add(Request{Job: 1, Nodes: 1, Limit: ends + 1, Submit: 1})
		var started []int32
		f.Start = func(r *Request, _ *Place, _ bool) {
			started = append(started, r.Job)
			o.Take(Allocation{Job: r.Job, Nodes: r.Nodes})
		}
		plan.Periodically(f)
		if !slices.Equal(started, want) {
			t.Errorf("nodes come in %d s: %v started, want %v", ends, started, want)
		}
	}
}

// A request notes that a limit holds it, and when the limit let it go.
func TestBarred(t *testing.T) {
	rules := Defaults(EASY)
	rules.UserLimit = 2
	plan, err := rules.Plan()
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{User: 1}
	for _, tt := range []struct {
		running int32
		admits  bool
		now     int64
		want    int64
		blocked bool
	}{
		{1, true, 5, 0, false},
		{2, true, 6, -1, true},
		{3, true, 7, -1, true},
		{1, false, 8, -1, true},
		{1, true, 9, 9, false},
		{0, true, 10, 9, false},
	} {
		f := &Pass{Now: tt.now, Running: []int32{0, tt.running}, Admits: func(*Request) bool { return tt.admits }}
		if got := plan.isBlocked(f, r); got != tt.blocked || r.Barred != tt.want {
			t.Errorf("at %d: blocked %v, barred %d; want %v, %d", tt.now, got, r.Barred, tt.blocked, tt.want)
		}
	}
}
