package wait

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foretime/foretime/mirage/internal/lengths"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/uncertainty"
)

// isNear compares to rounding; two unknown values are alike.
func isNear(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b), 1e-3)
}

// drawLog returns a log of so many jobs of three users with waits about a minute, equal times
// and a few jobs without a limit or a known start.
func drawLog(rng *rand.Rand, n int) []trace.Job {
	jobs := make([]trace.Job, n)
	at := int64(5*day + 80000)
	for i := range jobs {
		at += int64(rng.IntN(3) * 40)
		j := &jobs[i]
		*j = trace.Job{
			User: []string{"u", "v", "w"}[rng.IntN(3)], Partition: []string{"", "p"}[rng.IntN(2)], Nodes: rng.IntN(5),
			Submit: at, Priority: float64(rng.IntN(3)), Limit: []int64{0, 30, 59, 60, 64, 3600, 31 * day}[rng.IntN(7)],
		}
		j.Start = at + []int64{0, 1, 59, 60, 61, 200, 4000}[rng.IntN(7)]
		j.End = j.Start + int64(rng.IntN(4)*50)
		j.NoStart = rng.IntN(12) == 0
	}
	return jobs
}

// past holds a group's waits, starts and jobs before an instant, counted from the log.
type past struct {
	waits   []float64
	started []int64
	running int
	uses    [2]lengths.Uses // with the latest OfKind, and OfAll
}

// look returns the past of the matching jobs before one of a log, at an instant.
func look(jobs []trace.Job, before int, now int64, match func(*trace.Job) bool) (p past) {
	var order []int
	for i := range before {
		if match(&jobs[i]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Start, jobs[b].Start) })
	for _, i := range order {
		j := &jobs[i]
		if j.Start >= now {
			continue
		}
		if !j.NoStart {
			p.waits = append(p.waits, float64(j.Start-j.Submit))
			p.started = append(p.started, j.Start)
		}
		if j.End >= now {
			p.running++
		}
	}
	for k, most := range []int{lengths.OfKind, lengths.OfAll} {
		var ended lengths.Uses
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].End, jobs[b].End) })
		for _, i := range order {
			j := &jobs[i]
			if j.End < now && j.Limit > 0 {
				ended = append(ended, lengths.Use{Share: float64(j.End-j.Start) / float64(j.Limit)})
			}
		}
		p.uses[k] = slices.Clone(ended[max(len(ended)-most, 0):])
		for _, i := range order {
			j := &jobs[i]
			if j.Start < now && j.End >= now && j.Limit > 0 {
				p.uses[k] = append(p.uses[k], lengths.Use{Share: float64(now-j.Start) / float64(j.Limit), Running: true})
			}
		}
		p.uses[k].Sort()
	}
	return p
}

// middle returns the median of the last n values, or else another value.
func (p past) middle(n int, otherwise float64) float64 {
	w := slices.Clone(p.waits[max(len(p.waits)-n, 0):])
	if len(w) == 0 {
		return otherwise
	}
	slices.Sort(w)
	return (w[(len(w)-1)/2] + w[len(w)/2]) / 2
}

// share returns the share of the last 20 waits that f holds for, and their mean.
func (p past) lately() (short, average float64) {
	w := p.waits[max(len(p.waits)-20, 0):]
	if len(w) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, x := range w {
		average += x / float64(len(w))
		if x < 60.5 {
			short += 1 / float64(len(w))
		}
	}
	return short, average
}

// minutes is the logarithm of one more than the minutes.
func minutes(seconds float64) float64 {
	if seconds < 0 {
		seconds = 0
	}
	return math.Log(1 + seconds/60)
}

// doublings returns how often a number from 1 can be halved, and one more; 0 of 0.
func doublings(n int64) float64 {
	k := 0.0
	for ; n > 0; n /= 2 {
		k++
	}
	return k
}

// TestFeaturesFromTheLog compares each feature and rule with one counted from the jobs of the log
// before the instant.
func TestFeaturesFromTheLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 6 {
		jobs := drawLog(rng, 150)
		r := NewReplay(jobs)
		for i := range jobs {
			j := &jobs[i]
			now := j.Submit
			r.Advance(now, func(int) {})
			g := r.groups(j)
			rules := g.rules()
			got := r.features(j, g, rules)

			sameClass := func(o *trace.Job) bool {
				return o.Partition == j.Partition && doublings(max(int64(o.Nodes), 1)) == doublings(max(int64(j.Nodes), 1)) && doublings(max(o.Limit, 60)) == doublings(max(j.Limit, 60))
			}
			sameUser := func(o *trace.Job) bool { return o.User == j.User }
			anyJob := func(*trace.Job) bool { return true }
			all, user, class := look(jobs, i, now, anyJob), look(jobs, i, now, sameUser), look(jobs, i, now, sameClass)
			shape := look(jobs, i, now, func(o *trace.Job) bool {
				return sameUser(o) && o.Partition == j.Partition && o.Nodes == j.Nodes && o.Limit == j.Limit
			})
			last, since := math.NaN(), math.NaN()
			if n := len(user.waits); n > 0 {
				last, since = user.waits[n-1], float64(now-user.started[n-1])
			}
			var want Rules
			for _, w := range all.waits[max(len(all.waits)-100, 0):] {
				want.Mean += w / float64(min(len(all.waits), 100))
			}
			want.All = all.middle(100, 0)
			want.Class = class.middle(100, want.All)
			want.User = user.middle(20, want.Class)
			want.Shape = shape.middle(5, user.middle(5, want.Class))
			if !isNear(rules.Mean, want.Mean) || rules.All != want.All || rules.Class != want.Class || rules.User != want.User || rules.Shape != want.Shape {
				t.Fatalf("job %d: rules %+v, want %+v", i, rules, want)
			}
			type part struct{ jobs, nodes, hours, oldest, youngest float64 }
			line := func(match func(*trace.Job) bool) part {
				p := part{oldest: -1, youngest: -1}
				for k := range i {
					if o := &jobs[k]; o.Start >= now && match(o) {
						if p.jobs == 0 {
							p.oldest = minutes(float64(now - o.Submit))
						}
						p.youngest = minutes(float64(now - o.Submit))
						p.jobs++
						p.nodes += float64(o.Nodes)
						p.hours += float64(o.Nodes) * min(float64(o.Limit)/3600, 720)
					}
				}
				return p
			}
			every, own, same := line(anyJob), line(sameUser), line(sameClass)
			ahead := line(func(o *trace.Job) bool { return o.Priority > j.Priority })
			used := 0
			for k := range i {
				if jobs[k].Start < now && jobs[k].End >= now {
					used += jobs[k].Nodes
				}
			}
			interval := 0.0
			if starts := user.started[max(len(user.started)-20, 0):]; len(starts) > 0 {
				interval = max(float64(now-starts[0])/float64(len(starts)), 1)
			}
			userShort, _ := user.lately()
			classShort, classMean := class.lately()
			_, allMean := all.lately()
			x := []float64{
				doublings(int64(j.Nodes)), math.Log(1 + float64(j.Limit)), math.Mod(float64(now)/3600, 24), math.Mod(math.Floor(float64(now)/86400), 7), j.Priority,
				minutes(want.Shape), minutes(want.User), minutes(want.Class), minutes(want.All), minutes(last),
				minutes(user.middle(5, math.NaN())), minutes(class.middle(20, math.NaN())), minutes(all.middle(20, math.NaN())),
				minutes(allMean), minutes(classMean), classShort, userShort,
				float64(len(user.waits)), minutes(since), float64(user.running), float64(used),
				math.Log(1 + every.jobs), math.Log(1 + every.nodes), math.Log(1 + every.hours), every.oldest, every.youngest,
				math.Log(1 + own.jobs), own.oldest, own.youngest, minutes(own.jobs * interval),
				math.Log(1 + same.jobs), same.oldest,
				math.Log(1 + ahead.nodes), math.Log(1 + ahead.hours),
			}
			for k := range x {
				if !isNear(got[k], x[k]) {
					t.Fatalf("job %d: feature %d is %v, want %v", i, k, got[k], x[k])
				}
			}
			kinds := func(p ...past) lengths.Kinds {
				return func(kind int) lengths.Uses {
					if kind == 2 {
						return p[2].uses[1]
					}
					return p[kind].uses[0]
				}
			}
			if got, want := r.length(j, g), max(kinds(shape, user, all).Mean()*float64(j.Limit), 60); !isNear(got, want) {
				t.Fatalf("job %d: length %v, want %v", i, got, want)
			}
			for _, k := range r.running {
				o := &jobs[k]
				its := kinds(
					look(jobs, i, now, func(x *trace.Job) bool { return shapeOf(x) == shapeOf(o) }),
					look(jobs, i, now, func(x *trace.Job) bool { return x.User == o.User }), all,
				)
				ran := float64(now - o.Start)
				share := ran
				if o.Limit > 0 {
					share = ran / float64(o.Limit)
				}
				if got, want := r.remaining(k), max(its.Share(share, .5, .5)*float64(o.Limit)-ran, 60); !isNear(got, want) {
					t.Fatalf("job %d: job %d remains %v, want %v", i, k, got, want)
				}
			}
			r.Submit(i)
		}
	}
}

// TestListsServedByHand checks the wait of the asked job, where each of the first hundred starts as
// soon as it fits, found event by event.
func TestListsServedByHand(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for round := range 1000 {
		n := 1 + rng.IntN(8)
		if round%50 == 0 {
			n = 98 + rng.IntN(6)
		}
		list := make([]listed, n)
		for i := range list {
			list[i] = listed{nodes: float64(1 + rng.IntN(5)), length: 1 + 9*rng.Float64()}
			if n > 90 {
				list[i].nodes = 5
			}
		}
		list[n-1].asked = true
		free := float64(rng.IntN(5))
		var ends releases
		for range rng.IntN(4) {
			ends = append(ends, release{9 * rng.Float64(), float64(1 + rng.IntN(3))})
		}
		// The reference goes on from end to end and looks at the first hundred.
		waiting, running, left, now := slices.Clone(list), slices.Clone(ends), free, 0.0
		want := -1.0
		for want < 0 {
			for i := 0; i < len(waiting) && i < 100 && left > 0; i++ {
				if waiting[i].nodes > left {
					continue
				}
				if waiting[i].asked {
					want = now
					break
				}
				left -= waiting[i].nodes
				running = append(running, release{now + waiting[i].length, waiting[i].nodes})
				waiting = slices.Delete(waiting, i, i+1)
				i--
			}
			if want >= 0 {
				break
			}
			if len(running) == 0 {
				want = now
				break
			}
			first := 0
			for i := range running {
				if running[i].after < running[first].after {
					first = i
				}
			}
			now = running[first].after
			left += running[first].nodes
			running = slices.Delete(running, first, first+1)
		}
		if got := serveList(slices.Clone(list), slices.Clone(ends), free); got != want {
			t.Fatalf("round %d: %v with %v free and %v: %v, want %v", round, list, free, ends, got, want)
		}
	}
	ends := releases{{10, 2}, {3, 5}}
	list := []listed{{nodes: 2, length: 7}, {nodes: 3, length: 11}, {nodes: 9, length: 1e6, asked: true}}
	if got := workWait(list, ends, 4); got != (20+15+14+33)/4. {
		t.Errorf("work %v, want 20.5", got)
	}
	if got := workWait(list, ends, 0); got != 82 {
		t.Errorf("work on no node %v, want that on one", got)
	}
}

// With 999 jobs before it a job is served, with one more they count as work.
func TestLongList(t *testing.T) {
	for before, want := range map[int]float64{
		999:  9 * 60, // a hundred at a time for a minute each
		1000: 1000 * 60 / 100.,
	} {
		jobs := make([]trace.Job, before)
		for i := range jobs {
			jobs[i] = trace.Job{User: "u", Nodes: 1, Limit: 1, Submit: 10, Start: 1e6, End: 1e6}
		}
		r := NewReplay(jobs)
		r.Advance(10, func(int) {})
		for i := range jobs {
			r.Submit(i)
		}
		j := trace.Job{User: "u", Nodes: 1, Limit: 1}
		if got := r.listWait(&j, r.groups(&j), 100); got != want {
			t.Errorf("behind %d jobs %v s, want %v", before, got, want)
		}
	}
}

// The forecaster fits again when the starts since the last fit are a fortieth of
// the jobs learnt from, and at least one.
func TestCadence(t *testing.T) {
	jobs := make([]trace.Job, 99)
	for i := range jobs {
		at := int64(100 * i)
		jobs[i] = trace.Job{User: "u", Nodes: 1, Limit: 60, Submit: at, Start: at + 1, End: at + 2, NoStart: i%10 == 9}
	}
	f, err := NewForecaster(jobs, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	fresh := 0
	for i := range jobs {
		if i > 0 && !jobs[i-1].NoStart {
			fresh++
		}
		if fresh >= 1 && fresh*40 >= i {
			fresh = 0
		}
		if _, _, err := f.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.model.fresh != fresh {
			t.Fatalf("before job %d: %d starts are fresh, want %d", i, f.model.fresh, fresh)
		}
		if len(f.model.trees) != 0 {
			t.Fatalf("trees are fitted to %d jobs", i)
		}
	}
}

// Jobs before the first to learn from do not count, and nothing is
// fitted before the first forecast.
func TestCadenceFromTheFirst(t *testing.T) {
	jobs := make([]trace.Job, 129)
	for i := range jobs {
		at := int64(100 * i)
		jobs[i] = trace.Job{User: "u", Nodes: 1, Limit: 60, Submit: at, Start: at + 1, End: at + 2}
	}
	f, err := NewForecaster(jobs, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	f.first, f.warm = 30, 32
	fresh := 0
	for i := range jobs {
		if i > 0 {
			fresh++
		}
		if i >= 32 && fresh*40 >= i-30 {
			fresh = 0
		}
		if _, _, err := f.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.model.fresh != fresh {
			t.Fatalf("before job %d: %d starts are fresh, want %d", i, f.model.fresh, fresh)
		}
	}
}

// Forecasts begin a thousand jobs before the first that matters, and learning
// 6000 before those; where the log has fewer it begins with the log.
func TestWarmUp(t *testing.T) {
	jobs := make([]trace.Job, 8000)
	for i := range jobs {
		jobs[i] = trace.Job{Nodes: 1, Submit: int64(2 * i), Start: int64(2 * i), End: int64(2 * i)}
	}
	for _, tt := range []struct {
		from        int64
		warm, first int
	}{
		{0, 0, 0}, {2 * 1000, 0, 0}, {2*1001 - 1, 1, 0}, {2 * 1001, 1, 0}, {2*1001 + 1, 2, 0}, {2 * 7000, 6000, 0}, {2 * 7001, 6001, 1}, {1e9, 7000, 1000},
	} {
		f, err := NewForecaster(jobs, Settings{From: tt.from})
		if err != nil || f.warm != tt.warm || f.first != tt.first {
			t.Errorf("from %d: forecasts from job %d, learns from %d, %v; want %d, %d", tt.from, f.warm, f.first, err, tt.warm, tt.first)
		}
	}
	f, err := NewForecaster(jobs, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6002 {
		if i == 6000 && f.asked[0].each == nil {
			t.Error("the forecast of a job that is learnt from is gone")
		}
		f.submit(forecast{features: []float64{1}, each: []float64{1}})
	}
	if f.asked[0].each != nil || f.asked[0].features != nil || f.asked[1].each != nil || f.asked[2].each == nil || f.next != 6002 {
		t.Error("not the forecasts of 6000 jobs are kept")
	}
}

// Of the latest 6000 jobs, those that started count with their wait, those
// that have not with their age, and those that ended without a start not at all.
func TestLatestWaits(t *testing.T) {
	jobs := make([]trace.Job, 6005)
	for i := range jobs {
		jobs[i] = trace.Job{Nodes: 1, Submit: int64(i), Start: int64(i) + 4, End: 1e6, NoStart: i%7 == 0}
	}
	f, err := NewForecaster(jobs, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for range 6003 {
		f.submit(forecast{})
	}
	f.replay.now = 6000
	want := map[int]observed{}
	for i := 3; i < 6003; i++ {
		switch {
		case i+4 >= 6000:
			want[i] = observed{i, toScale(float64(6000 - i)), true}
		case i%7 > 0:
			want[i] = observed{i, toScale(4), false}
		}
	}
	got := f.latestWaits()
	for _, w := range got {
		if w != want[w.job] {
			t.Errorf("job %d: %+v, want %+v", w.job, w, want[w.job])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d waits, want %d", len(got), len(want))
	}
	f.first = 6000
	if got := f.latestWaits(); len(got) != 3 {
		t.Errorf("%d waits from job 6000 on, want 3", len(got))
	}
}

// A restored forecaster answers as the one that had learnt, at any time, and
// learns no more.
func TestRestored(t *testing.T) {
	jobs := queue(130, 4)
	s := Settings{Level: .8, Seed: 3}
	f, err := NewForecaster(jobs, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{jobs[0].Submit, jobs[40].Submit, jobs[60].Submit + 1, jobs[104].Submit, jobs[106].Submit} {
		if err := f.Reach(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		state, err := f.State()
		if err != nil {
			t.Fatal(err)
		}
		if state.At != at || state.First != 0 || len(state.Values) != f.next || len(state.Trees) != len(f.model.trees) {
			t.Fatalf("state at %d from %d with %d values of %d", state.At, state.First, len(state.Values), f.next)
		}
		other, err := NewForecaster(jobs, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Restore(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		if other.next != f.next || other.model.fits != 0 {
			t.Fatalf("restored at job %d, want %d", other.next, f.next)
		}
		want, err := f.Ask(jobs[110])
		if err != nil {
			t.Fatal(err)
		}
		got, err := other.Ask(jobs[110])
		if err != nil || !gocmp.Equal(got, want, gocmp.AllowUnexported(Distribution{}), cmpopts.EquateApprox(1e-12, 0)) {
			t.Errorf("at %d: %+v, want %+v, %v", at, got, want, err)
		}
	}
	if len(f.model.trees) == 0 {
		t.Error("no trees were compared")
	}
	// A log in which forecasts begin later keeps their values only.
	long := queue(1012, 4)
	late, err := NewForecaster(long, Settings{From: long[1010].Submit})
	if err != nil {
		t.Fatal(err)
	}
	late.first = 1005 // nothing to fit trees to
	late.warm = 1005
	if err := late.Reach(t.Context(), long[1008].Submit); err != nil {
		t.Fatal(err)
	}
	state, err := late.State()
	if err != nil || state.First != 1005 || len(state.Values) != 3 {
		t.Errorf("from %d with %d values, want from 1005 with 3, %v", state.First, len(state.Values), err)
	}
	for k, p := range late.asked {
		if math.IsNaN(p.mixed) != (k < 1005) {
			t.Errorf("job %d is forecast as %v", k, p.mixed)
		}
	}
}

// Each quantile is tracked at its aim and moves in proportion to the median. An aim is nearer the
// end than its quantile's chance.
func TestSpreadFromAims(t *testing.T) {
	s, err := newSpread(.8)
	if err != nil {
		t.Fatal(err)
	}
	chances := []float64{.005, .01, .025, .05, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .975, .99, .995}
	aims := make([]float64, len(chances))
	for i, c := range chances {
		m := 1 - c
		if c < .5 {
			m = c
		}
		aims[i] = .6*m + .8*m*m
		if c > .5 {
			aims[i] = 1 - aims[i]
		}
	}
	curve, err := uncertainty.NewCurve(aims...)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 60 {
		d := s.about(300)
		if d.Value != 300 || d.Level != .8 || d.Known() != (i >= 20) {
			t.Fatalf("after %d starts: %+v", i, d)
		}
		if i >= 20 {
			value := math.Pow(6, .3)
			ends := curve.About(value)
			for k, c := range chances {
				end := ends[k] + (value-ends[8])*(1-math.Abs(2*c-1))
				switch {
				case c < .5:
					end = min(end, value)
				case c > .5:
					end = max(end, value)
				}
				seconds := 60 * (math.Pow(max(end, 1), 1/.3) - 1)
				if seconds < 1 {
					seconds = 0
				}
				if c == .5 {
					seconds = 300
				}
				if got := d.starts[k]; got.Chance != c || math.Abs(got.Seconds-seconds) > 1e-9*max(seconds, 1) {
					t.Fatalf("after %d starts: chance %v at %v s, want %v at %v", i, got.Chance, got.Seconds, c, seconds)
				}
			}
		}
		predicted, actual := float64(rng.IntN(600)), float64(rng.IntN(3000))
		s.learn(predicted, actual)
		if err := curve.Observe(math.Pow(predicted/60+1, .3), math.Pow(actual/60+1, .3)); err != nil {
			t.Fatal(err)
		}
	}
}

// The quantiles are those of the printed curve, of the usual intervals and of the
// level, to a billionth.
func TestGrid(t *testing.T) {
	usual := []float64{.005, .01, .025, .05, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .975, .99, .995}
	if got := gridChances(.8); !slices.Equal(got, usual) {
		t.Errorf("%v, want %v", got, usual)
	}
	want := append([]float64{.06, .94}, usual...)
	slices.Sort(want)
	if got := gridChances(.88); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := gridChances(1 - 2*1.5e-9); got[0] != 2e-9 {
		t.Errorf("the smallest chance is %v, want 2e-9", got[0])
	}
	if got := gridChances(1 - 2*2e-10); got[0] != 0 {
		t.Errorf("the smallest chance is %v, want 0", got[0])
	}
}

// A prediction on the side of the truth gains its distance from the
// mixture, at most the error of the mixture, on either side.
func TestWeightsBySlope(t *testing.T) {
	past := []outcome{{2, []float64{3, 1, 20}, 10}, {8, []float64{7, 9, 8}, 1}}
	// Regrets: 1 and 1, -1 and -1, 8 and 0. Over squares: 2/2, none, 8/64.
	want := []float64{.5 + .5*8./9, 0, .5 * 1. / 9}
	got := mixtureWeights(past, 3)
	for i := range want {
		if !isNear(got[i], want[i]) {
			t.Errorf("weights %v, want %v", got, want)
		}
	}
	if got := mix([]float64{.25, .75}, []float64{3, 7}); got != 6 {
		t.Errorf("mixed %v, want 6", got)
	}
}

// TestScaleValues checks seconds on the scales, by their definition.
func TestScaleValues(t *testing.T) {
	for seconds, v := range map[float64]float64{-5: 1, 0: 1, 60: math.Pow(2, .3), 180: math.Pow(4, .3), 1023 * 60: 8} {
		if got := toScale(seconds); !isNear(got, v) {
			t.Errorf("%v s: %v, want %v", seconds, got, v)
		}
		if got := fromScale(v); math.Abs(got-max(seconds, 0)) > 1e-9*max(seconds, 1) {
			t.Errorf("%v: %v s, want %v", v, got, seconds)
		}
		if got := logMinutes(seconds); !isNear(got, math.Log(1+max(seconds, 0)/60)) {
			t.Errorf("%v s: %v", seconds, got)
		}
	}
	if got := fromScale(.9); got != 0 {
		t.Errorf("below no wait: %v s", got)
	}
	if mean(nil) != 0 || mean([]float64{3, 6}) != 4.5 {
		t.Error("the mean of nothing is 0, and of 3 and 6 it is 4.5")
	}
	if got := tail([]int{1, 2, 3}, 2); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("the last two are %v", got)
	}
}

// A level is inside 0 and 1.
func TestLevels(t *testing.T) {
	for level, good := range map[float64]bool{.001: true, .999: true, 1: false, -1e-9: false, math.NaN(): false} {
		f, err := NewForecaster(nil, Settings{Level: level})
		if (err == nil) != good {
			t.Errorf("level %v: %v", level, err)
		}
		if good && f.s.Level != level {
			t.Errorf("level %v became %v", level, f.s.Level)
		}
	}
	f, err := NewForecaster(nil, Settings{})
	if err != nil || f.s.Level != .9 || f.size() != 0 {
		t.Errorf("the level is %v, want 0.9: %v", f.s.Level, err)
	}
	for partitioned, predictions := range map[bool]int{false: 6, true: 5} {
		f, err := NewForecaster(nil, Settings{Partitioned: partitioned})
		if err != nil || len(f.model.weights) != predictions {
			t.Errorf("%d predictions, want %d: %v", len(f.model.weights), predictions, err)
		}
	}
}
