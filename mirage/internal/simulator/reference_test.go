package simulator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/regression"
)

// drawWorkload returns jobs with equal times, dependencies, charges and sizes about those of a
// machine of four nodes, and the machine.
func drawWorkload(rng *rand.Rand, d cluster.Discipline) ([]trace.Job, Config) {
	c := Config{Machine: cluster.Machine{Nodes: 4}, Rules: cluster.Defaults(d), Caps: []int64{3, 2}}
	c.UserLimit = rng.IntN(3)
	if d == cluster.Slurm {
		c.Backfill.IntervalSeconds = int64(rng.IntN(5))
		c.Weights.Age, c.Weights.Size, c.Weights.MaxAgeDays = float64(rng.IntN(2)*86400*64), float64(rng.IntN(2)*4096), 1
	}
	for range rng.IntN(3) {
		from := int64(rng.IntN(40) - 5)
		c.Down = append(c.Down, cluster.Window{From: from, To: from + 1 + int64(rng.IntN(8)), Nodes: 1 + rng.IntN(3)})
	}
	jobs := make([]trace.Job, 1+rng.IntN(12))
	at := int64(0)
	for i := range jobs {
		at += int64(rng.IntN(4))
		jobs[i] = trace.Job{ID: fmt.Sprint(i), User: []string{"u", "v"}[rng.IntN(2)], Nodes: 1 + rng.IntN(5), Submit: at, Start: at + int64(rng.IntN(5)), Limit: int64(rng.IntN(9))}
		jobs[i].End = jobs[i].Start + int64(rng.IntN(9))
		jobs[i].NoStart = rng.IntN(8) == 0
		if rng.IntN(3) == 0 {
			jobs[i].After = fmt.Sprint(rng.IntN(len(jobs)))
		}
		if rng.IntN(3) == 0 {
			jobs[i].Charges = []trace.Charge{{Cap: int32(rng.IntN(2)), Amount: int64(1 + rng.IntN(3))}}
			if jobs[i].Charges[0].Cap == 1 {
				jobs[i].Charges[0].Amount = 1 + int64(rng.IntN(2))
			}
		}
	}
	return jobs, c
}

// everySecond simulates jobs second by second with a discipline's own passes and returns the
// starts, -1 for a rejected job.
func everySecond(t *testing.T, jobs []trace.Job, c Config) []int64 {
	t.Helper()
	plan, err := c.Rules.Plan()
	if err != nil {
		t.Fatal(err)
	}
	starts := make([]int64, len(jobs))
	rejected := make([]bool, len(jobs))
	for i := range jobs {
		rejected[i] = jobs[i].Nodes > c.Nodes
		starts[i] = -1
	}
	user := func(i int32) int32 {
		if jobs[i].User == jobs[0].User {
			return 0
		}
		return 1
	}
	leader := func(i int) int { // the job that one follows, -1 for none
		for k := i - 1; k >= 0; k-- {
			if jobs[k].ID == jobs[i].After && !rejected[k] && !rejected[i] {
				return k
			}
		}
		return -1
	}
	now := jobs[0].Submit
	nodes := cluster.NewOccupancy(c.Machine)
	running, used := make([]int32, 2), make([]int64, len(c.Caps))
	f := &cluster.Pass{Queue: cluster.NewQueue(&c.Rules, now), Nodes: nodes, Running: running}
	f.Admits = func(r *cluster.Request) bool {
		for _, x := range jobs[r.Job].Charges {
			if used[x.Cap]+x.Amount > c.Caps[x.Cap] {
				return false
			}
		}
		return true
	}
	f.Start = func(r *cluster.Request, _ *cluster.Place, _ bool) {
		j := &jobs[r.Job]
		starts[r.Job] = f.Now
		running[r.User]++
		for _, x := range j.Charges {
			used[x.Cap] += x.Amount
		}
		nodes.Take(cluster.Allocation{Job: r.Job, Nodes: r.Nodes, User: r.User, Start: f.Now, Until: f.Now + j.Limit, End: f.Now + min(j.Limit, j.End-j.Start)})
	}
	add := func(i int, eligible int64) {
		j := &jobs[i]
		f.Queue.Add(cluster.Request{
			Job: int32(i), Nodes: int32(j.Nodes), User: user(int32(i)), Limit: j.Limit, Submit: j.Submit, Eligible: eligible,
			Static: c.Static(float64(j.Nodes)/float64(c.Nodes), j.Priority),
		})
	}
	dirty, last := false, int64(-1000)
	ended := map[int]int64{}
	added := map[int]bool{}
	for ; now < 400; now++ {
		f.Now = now
		for again := true; again; { // a job of no seconds ends in the second of its start
			again = false
			changed := false
			for {
				end, ok := nodes.NextEnd()
				if !ok || end > now {
					break
				}
				a := nodes.Release()
				running[a.User]--
				for _, x := range jobs[a.Job].Charges {
					used[x.Cap] -= x.Amount
				}
				ended[int(a.Job)] = a.End
				changed, again = true, true
			}
			for _, w := range c.Down {
				changed = changed || (w.From == now || w.To == now) && !again && !added[-1-int(now)]
			}
			added[-1-int(now)] = true
			for i := range jobs {
				k := leader(i)
				if rejected[i] || added[i] || k < 0 || jobs[i].Submit > now {
					continue
				}
				if end, ok := ended[k]; ok {
					add(i, max(end, jobs[i].Submit))
					added[i], changed = true, true
				}
			}
			for i := range jobs {
				if jobs[i].Submit == now && !added[i] && leader(i) < 0 && !rejected[i] {
					add(i, now)
					added[i] = true
				}
				changed = changed || jobs[i].Submit == now && !added[-1000-i]
				if jobs[i].Submit == now {
					added[-1000-i] = true
				}
			}
			if changed {
				dirty = plan.Periodic()
				plan.Event(f)
				again = true
			}
			if dirty && now >= last+c.Backfill.IntervalSeconds && (changed || f.Queue.Len() > 0) {
				dirty, last = false, now
				plan.Periodically(f)
				again = true
			}
		}
	}
	return starts
}

// Jobs start when a simulation of every second lets them, and the figures
// of the result are those of their definitions.
func TestSecondBySecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range 500 {
		d := []cluster.Discipline{cluster.FCFS, cluster.EASY, cluster.Conservative, cluster.Slurm}[rng.IntN(4)]
		jobs, c := drawWorkload(rng, d)
		w, err := NewWorkload(jobs, c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Simulate(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := everySecond(t, jobs, c)
		for i := range jobs {
			got, end, ok := r.Times(i)
			if !ok {
				got = -1
			}
			if got != want[i] || ok && end != got+min(jobs[i].Limit, jobs[i].End-jobs[i].Start) {
				t.Fatalf("round %d, %s: job %d starts at %d and ends at %d, want %d of %v\n%+v\n%+v", round, d, i, got, end, want[i], want, jobs, c)
			}
		}
		compareFigures(t, r, want, 2, 15)
	}
}

// compareFigures computes the loss and the metrics of a result by their definitions.
func compareFigures(t *testing.T, r *Result, starts []int64, from, to int64) {
	t.Helper()
	var m Metrics
	var simulated, actual, cappedS, cappedA []float64
	first, last := math.Inf(1), math.Inf(-1)
	busy := 0.0
	for i := range starts {
		j := &r.Workload.Jobs[i]
		if j.Submit < from || j.Submit > to-1 {
			continue
		}
		if starts[i] < 0 {
			m.Rejected++
			continue
		}
		m.Jobs++
		run := float64(min(j.Limit, j.End-j.Start))
		wait := float64(starts[i] - j.Submit)
		m.BoundedSlowdown += math.Max(1, (wait+run)/math.Max(run, 10))
		busy += run * float64(j.Nodes)
		first, last = math.Min(first, float64(j.Submit)), math.Max(last, float64(starts[i])+run)
		if !j.NoStart {
			simulated = append(simulated, wait/3600)
			actual = append(actual, float64(j.Start-j.Submit)/3600)
		}
	}
	got := r.MetricsBetween(from, to)
	if got.Jobs != m.Jobs || got.Rejected != m.Rejected {
		t.Fatalf("%d jobs, %d rejected; want %d, %d", got.Jobs, got.Rejected, m.Jobs, m.Rejected)
	}
	if m.Jobs == 0 {
		return
	}
	n := float64(len(simulated))
	sumS, sumA, sumD, capD, capA := 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range simulated {
		sumS += simulated[i]
		sumA += actual[i]
		sumD += math.Abs(simulated[i] - actual[i])
		cappedS, cappedA = append(cappedS, min(simulated[i], 24)), append(cappedA, min(actual[i], 24))
		capA += cappedA[i]
		capD += math.Abs(cappedS[i] - cappedA[i])
	}
	rho, err := regression.Spearman(simulated, actual)
	if err != nil {
		rho = 0
	}
	if n == 0 {
		n = 1
	}
	m.MeanWaitHours, m.ActualMeanWaitHours, m.MAEHours, m.Spearman = sumS/n, sumA/n, sumD/n, rho
	m.BoundedSlowdown /= float64(m.Jobs)
	if last > first {
		m.MakespanDays = (last - first) / 86400
		m.Utilisation = busy / ((last - first) * float64(r.Workload.Config.Nodes))
	}
	for name, pair := range map[string][2]float64{
		"mean wait": {got.MeanWaitHours, m.MeanWaitHours}, "actual": {got.ActualMeanWaitHours, m.ActualMeanWaitHours}, "error": {got.MAEHours, m.MAEHours},
		"rank": {got.Spearman, m.Spearman}, "slowdown": {got.BoundedSlowdown, m.BoundedSlowdown}, "makespan": {got.MakespanDays, m.MakespanDays}, "utilisation": {got.Utilisation, m.Utilisation},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12*max(1, math.Abs(pair[1])) {
			t.Fatalf("%s %v, want %v", name, pair[0], pair[1])
		}
	}
	want := math.Inf(1)
	if sumA > 0 {
		if rho, err = regression.Spearman(cappedS, cappedA); err != nil {
			rho = 0
		}
		want = capD/capA + math.Abs(sumS/sumA-1) + (1 - rho)
	}
	if loss := Loss(r, from, to); loss != want && math.Abs(loss-want) > 1e-12*want {
		t.Fatalf("loss %v, want %v", loss, want)
	}
}

// The loss tells waits of a day apart and no longer ones; figures of long
// waits.
func TestFiguresOfDays(t *testing.T) {
	const hour = 3600
	jobs := []trace.Job{
		{ID: "a", Nodes: 1, Submit: 0, Start: 10 * hour, End: 60 * hour, Limit: 50 * hour},
		{ID: "b", Nodes: 1, Submit: 1, Start: 1 + 24*hour, End: 1 + 34*hour, Limit: 10 * hour},
		{ID: "c", Nodes: 1, Submit: 2, Start: 2 + 80*hour, End: 2 + 81*hour, Limit: hour},
		{ID: "d", Nodes: 1, Submit: 3, Start: 3 + 23*hour, End: 3 + 24*hour, Limit: hour},
	}
	w, err := NewWorkload(jobs, Config{Machine: cluster.Machine{Nodes: 1}, Rules: cluster.Defaults(cluster.FCFS)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Simulate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	compareFigures(t, r, []int64{0, 50 * hour, 60 * hour, 61 * hour}, 0, 4)
}

// With nodes of several kinds the utilisation counts CPUs.
func TestUtilisationOfKinds(t *testing.T) {
	m := cluster.Machine{Nodes: 3, Kinds: []cluster.Kind{{Name: "a", Nodes: 2, CPUs: 4}, {Name: "b", Nodes: 1, CPUs: 8}}}
	jobs := []trace.Job{
		{ID: "a", Nodes: 2, Submit: 0, End: 100, Limit: 100, Need: &trace.Need{CPUs: 6}},
		{ID: "b", Nodes: 1, Submit: 0, End: 50, Limit: 50},
	}
	w, err := NewWorkload(jobs, Config{Machine: m, Rules: cluster.Defaults(cluster.FCFS)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Simulate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// Three CPUs on each of two nodes for 100 s, and all eight of the third for 50 s, of 16.
	if got := r.MetricsBetween(0, 1); math.Abs(got.Utilisation-1000./1600) > 1e-12 {
		t.Errorf("utilisation %v, want %v", got.Utilisation, 1000./1600)
	}
}

// Each field of a job is accepted at its limit and refused beyond.
func TestWorkloadLimits(t *testing.T) {
	const most = 1 << 50
	for name, tt := range map[string]struct {
		change func(*trace.Job)
		good   bool
	}{
		"as it is":           {func(*trace.Job) {}, true},
		"the last second":    {func(j *trace.Job) { j.Submit, j.Start, j.End = most, most, most }, true},
		"after it":           {func(j *trace.Job) { j.Submit, j.Start, j.End = most+1, most+1, most+1 }, false},
		"the first second":   {func(j *trace.Job) { j.Submit = -most }, true},
		"before it":          {func(j *trace.Job) { j.Submit = -most - 1 }, false},
		"no limit":           {func(j *trace.Job) { j.Limit = 0 }, true},
		"negative limit":     {func(j *trace.Job) { j.Limit = -1 }, false},
		"the longest limit":  {func(j *trace.Job) { j.Limit = most }, true},
		"a longer one":       {func(j *trace.Job) { j.Limit = most + 1 }, false},
		"no duration":        {func(j *trace.Job) { j.End = j.Start }, true},
		"a negative one":     {func(j *trace.Job) { j.End = j.Start - 1 }, false},
		"no priority":        {func(j *trace.Job) { j.Priority = math.NaN() }, false},
		"endless priority":   {func(j *trace.Job) { j.Priority = math.Inf(1) }, false},
		"endlessly low":      {func(j *trace.Job) { j.Priority = math.Inf(-1) }, false},
		"the first cap":      {func(j *trace.Job) { j.Charges = []trace.Charge{{Cap: 0}} }, true},
		"a cap before it":    {func(j *trace.Job) { j.Charges = []trace.Charge{{Cap: -1}} }, false},
		"the last cap":       {func(j *trace.Job) { j.Charges = []trace.Charge{{Cap: 1}} }, true},
		"a cap behind it":    {func(j *trace.Job) { j.Charges = []trace.Charge{{Cap: 2}} }, false},
		"one bad cap of two": {func(j *trace.Job) { j.Charges = []trace.Charge{{Cap: 1}, {Cap: 2}} }, false},
	} {
		j := trace.Job{ID: "a", Nodes: 1, Submit: 5, Start: 6, End: 7, Limit: 3}
		tt.change(&j)
		_, err := NewWorkload([]trace.Job{j}, Config{Machine: cluster.Machine{Nodes: 1}, Rules: cluster.Defaults(cluster.FCFS), Caps: []int64{1, 1}})
		if (err == nil) != tt.good || err != nil && !errors.Is(err, ErrWorkload) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nodes go down from the peak to four fifths of it in steps of an eightieth, at
// least one; users' limits are the most that ran and one more.
func TestGrids(t *testing.T) {
	for peak, want := range map[int][]int{1: {1}, 2: {2, 1}, 5: {5, 4}, 9: {9, 8, 7}, 159: nil, 160: nil, 200: nil} {
		jobs := []trace.Job{{ID: "a", User: "u", Nodes: peak, Submit: 10, Start: 10, End: 20}, {ID: "b", User: "u", Nodes: 1, Submit: 30, Start: 30, End: 40}}
		if peak > 100 {
			step := map[int]int{159: 1, 160: 2, 200: 2}[peak]
			for n := peak; 5*n >= 4*peak-4; n -= step { // 4/5 rounded down
				if n >= peak*4/5 {
					want = append(want, n)
				}
			}
		}
		g := GridFor(jobs, 10, 31)
		if !slices.Equal(g.Nodes, want) || !slices.Equal(g.UserLimits, []int{0, 1, 2}) || !slices.Equal(g.Logged, []float64{0}) || !slices.Equal(g.Size, []float64{100, 200, 400}) || g.From != 10 || g.To != 31 {
			t.Errorf("peak %d: %+v, want nodes %v", peak, g, want)
		}
		jobs[1].Priority = 1
		if g := GridFor(jobs, 10, 31); !slices.Equal(g.Logged, []float64{1, 0, .5, 1.5, 2, 3}) {
			t.Errorf("with priorities: weights %v", g.Logged)
		}
		if g := GridFor(jobs, 10, 30); !slices.Equal(g.Logged, []float64{0}) {
			t.Errorf("without the second job: weights %v", g.Logged)
		}
	}
}

// TestPointsOfTheSearch checks a point's settings, and the first of the best points.
func TestPointsOfTheSearch(t *testing.T) {
	s := &search{}
	for logged, want := range map[float64]struct {
		on     bool
		weight float64
	}{0: {false, 1}, .5: {true, .5}, 1: {true, 1}} {
		c := s.config(point{nodes: 7, limit: 3, logged: logged, size: 200})
		if c.Nodes != 7 || c.UserLimit != 3 || c.LoggedPriority != want.on || c.Weights.Logged != want.weight || c.Weights.Size != 200 || c.Discipline != cluster.Slurm {
			t.Errorf("logged %v: %+v", logged, c.Rules)
		}
	}
	points := []point{{nodes: 1}, {nodes: 2}, {nodes: 3}, {nodes: 4}}
	s.known = map[point]float64{points[0]: 3, points[1]: 2, points[2]: 2, points[3]: 5}
	if got, err := s.best(points); err != nil || got != points[1] {
		t.Errorf("the best is %+v, %v; want the first of the two best", got, err)
	}
}

// A hundred jobs are enough for a search, 99 are not; those of the four weeks
// before count for the queue.
func TestSearchRange(t *testing.T) {
	const from = 40 * 86400
	for _, tt := range []struct {
		jobs  int
		first int64 // submission of a job that holds the machine until the range
		waits bool
	}{
		{99, from - 28*86400, true}, {100, from - 28*86400, true}, {100, from - 28*86400 - 1, false},
	} {
		jobs := []trace.Job{{ID: "x", User: "x", Nodes: 1, Submit: tt.first, Start: tt.first, End: from + 1000, Limit: 100 * 86400}}
		for i := range tt.jobs {
			at := int64(from + 10*i)
			jobs = append(jobs, trace.Job{ID: fmt.Sprint(i), User: "u", Nodes: 1, Submit: at, Start: at + int64(i), End: at + int64(i) + 1, Limit: 60})
		}
		last := jobs[tt.jobs].Submit
		grid := Grid{From: from, To: last + 1, Nodes: []int{1}, UserLimits: []int{0}, Logged: []float64{0}, Size: []float64{100}}
		simulations := 0
		found, err := Search(t.Context(), jobs, grid, 0, func() { simulations++ })
		if tt.jobs == 99 {
			if !errors.Is(err, ErrRange) {
				t.Errorf("99 jobs: %v", err)
			}
			continue
		}
		if err != nil || found.Tried != 1 || simulations != 1 {
			t.Fatalf("%+v in %d simulations, %v", found, simulations, err)
		}
		f := File{Config: found.Config, From: from, To: last}
		if err := f.Judge(t.Context(), jobs, last); err != nil || f.Held != nil || f.All != nil || f.Train.Jobs != 99 || f.Train.MeanWaitHours > 0 != tt.waits {
			t.Errorf("until the range ends: %+v, held %+v, all %+v, %v; want waits %v", f.Train, f.Held, f.All, err, tt.waits)
		}
		if err := f.Judge(t.Context(), jobs, last+1); err != nil || f.Held == nil || f.Held.Jobs != 1 || f.All.Jobs != 100 || f.Train.Jobs != 99 {
			t.Errorf("a second later: %+v, %v", f, err)
		}
	}
}

// A running job may have started this second or at its submission, on one node, with a limit of
// a second. A waiting job may be ineligible until later, or follow another job.
func TestStandingLimits(t *testing.T) {
	c := Config{Machine: cluster.Machine{Nodes: 2}, Rules: cluster.Defaults(cluster.FCFS), Caps: []int64{1}}
	charge := []trace.Charge{{Cap: 0, Amount: 1}}
	st := Standing{
		Now:     100,
		Running: []trace.Job{{ID: "a", User: "u", Nodes: 1, Submit: 100, Start: 100, Limit: 1}},
		Pending: []trace.Job{
			{ID: "b", User: "u", Nodes: 1, Submit: 100, Limit: 10, Eligible: 100, Charges: charge},
			{ID: "c", User: "u", Nodes: 1, Submit: 90, Limit: 10, Eligible: 105},
			{ID: "d", User: "u", Nodes: 1, Submit: 95, Limit: 10, After: "a"},
			{ID: "e", User: "u", Nodes: 3, Submit: 95, Limit: 10},
		},
		Own:   []trace.Job{{ID: "o", User: "s", Nodes: 1, Submit: 50, Start: 60, End: 61, Limit: 42, Charges: charge}},
		Ended: []trace.Job{{ID: "y", User: "u", Nodes: 1, Submit: 2, Start: 5, End: 40, Limit: 70}, {ID: "z", User: "u", Nodes: 1, Submit: 3, Start: 4, End: 30, Limit: 70}},
	}
	s, err := c.Resume(st)
	if err != nil {
		t.Fatal(err)
	}
	starts := map[string]int64{}
	s.OnStart = func(job int32, at int64) { starts[s.w.Jobs[job].ID] = at }
	if own := s.Extra(0); own.End() != 102 || !own.Started || own.Finished {
		t.Errorf("the own job: %+v", own)
	}
	if len(s.ended) != 2 || s.w.Jobs[s.ended[0].job].End != 30 || s.ended[0].start != 4 || s.ended[1].start != 5 {
		t.Errorf("ended: %+v", s.ended)
	}
	for s.Step() {
	}
	// At 101 a ends and d follows it on the node; b waits for the cap that o holds until 102,
	// and c for its time.
	want := map[string]int64{"d": 101, "b": 102, "c": 111}
	if fmt.Sprint(starts) != fmt.Sprint(want) || !s.Extra(0).Finished || s.Now() != 121 {
		t.Errorf("starts %v, want %v; ends at %d", starts, want, s.Now())
	}
	for name, change := range map[string]func(*Standing){
		"no nodes":          func(st *Standing) { st.Running[0].Nodes = 0 },
		"in a second":       func(st *Standing) { st.Running[0].Start = 101 },
		"before it came":    func(st *Standing) { st.Running[0].Submit = 101 },
		"no limit":          func(st *Standing) { st.Running[0].Limit = 0 },
		"pending in future": func(st *Standing) { st.Pending[0].Submit = 101 },
		"own":               func(st *Standing) { st.Own[0].Nodes = 0 },
	} {
		bad := Standing{Now: 100, Running: slices.Clone(st.Running), Pending: slices.Clone(st.Pending), Own: slices.Clone(st.Own)}
		change(&bad)
		if _, err := c.Resume(bad); !errors.Is(err, ErrStanding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Numbers are those of splitmix64 from seed 0, as its authors' program prints
// them.
func TestSplitMix(t *testing.T) {
	for number, want := range map[int]uint64{1: 0xe220a8397b1dcdaf, 2: 0x6e789e6aa1b965f4, 3: 0x06c45d188009454f} {
		if got := uniform(0, number); got != float64(want>>11)/(1<<53) {
			t.Errorf("number %d: %v, want %v", number, got, float64(want>>11)/(1<<53))
		}
	}
	if uniform(1, 0) == uniform(0, 1) || uniform(3, -1) == uniform(3, 1) {
		t.Error("equal numbers")
	}
}

// A draw is a quantile of the uses of similar jobs, or of the usual distribution before any has
// ended; it lasts at least a second.
func TestDrawnLengths(t *testing.T) {
	s := steady(t, 60)
	for ended, now := range map[int]int64{0: 300, 40: 40*600 + 300} {
		s := s.Fork()
		s.RunUntil(now)
		if len(s.ended) != ended {
			t.Fatalf("%d ended, want %d", len(s.ended), ended)
		}
		l := s.Lengths()
		running := lengths.Use{Share: 300. / 3600, Running: true}
		for number := range 30 {
			u := uniform(50, 2*number+1)
			want := int64(3600*(.25+math.Pow(u, 1.5)*.75)) + 1
			if ended > 0 {
				uses := lengths.Uses{running}
				for range 29 {
					uses = append(uses, lengths.Use{Share: 1. / 6})
				}
				all := lengths.Uses{running}
				for range 40 {
					all = append(all, lengths.Use{Share: 1. / 6})
				}
				kinds := lengths.Kinds(func(kind int) lengths.Uses { return []lengths.Uses{uses, uses, all}[kind] })
				want = int64(3600*kinds.Share(.25, uniform(50, 2*number), u)) + 1
			}
			if got := l.Draw(number)(50, 900); got != want {
				t.Errorf("%d ended, draw %d: %d s, want %d", ended, number, got, want)
			}
		}
	}
}

// The rest of a wait is for room.
func TestRoom(t *testing.T) {
	if got := (Wait{Seconds: 100, Eligible: 7, Dependency: 20, Limits: 3}).Room(); got != 70 {
		t.Errorf("%d s for room, want 70", got)
	}
}

// The latest waits come first, and a fork remembers 512.
func TestLastWaits(t *testing.T) {
	s := steady(t, 1)
	for i := range 600 {
		s.waits = append(s.waits, float64(i))
	}
	if got := s.LastWaits(2); !slices.Equal(got, []float64{599, 598}) {
		t.Errorf("the last two: %v", got)
	}
	if got := len(s.LastWaits(601)); got != 600 {
		t.Errorf("%d waits, want 600", got)
	}
	if got := s.Fork().LastWaits(1000); len(got) != 512 || got[511] != 88 {
		t.Errorf("a fork remembers %d waits, want 512", len(got))
	}
}
