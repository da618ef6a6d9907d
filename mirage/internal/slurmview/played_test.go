package slurmview

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// reply is what was said of the wait of a job, what one would say who knows from which
// shares lengths are drawn, and what it came to.
type reply struct {
	waits, knowing stats.Sorted
	wait           float64
}

// played is TestRealWhen without a Slurm, in hours: the same jobs in the simulator,
// which are asked for as a real queue would be. Shares are of the limits, as quantiles.
func played(t *testing.T, seed uint64, jobs int, shares []float64) []reply {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	h := &Hardware{Machine: cluster.Machine{Nodes: 4, Kinds: []cluster.Kind{{Name: "n", Nodes: 4, CPUs: 4, GPUs: 4}}}}
	config := simulator.Config{Machine: h.Machine, Rules: liveRules("bf_interval=30")}
	rng := rand.New(rand.NewPCG(seed, 4))
	all, at := make([]trace.Job, before+jobs), 1e9
	for i := range all {
		gpus, limit := 1+rng.IntN(4), int64(3600*(1+rng.IntN(3)))
		run := int64(float64(limit) * share(rng, shares))
		all[i] = trace.Job{
			ID: strconv.Itoa(i), User: "u", Nodes: 1, Limit: limit, Need: &trace.Need{CPUs: 1, GPUs: gpus},
			Submit: int64(at), Start: int64(at), End: int64(at) + max(run, 1), Priority: float64(len(all) - i),
		}
		if i >= before {
			at += rng.ExpFloat64() * 360
		}
	}
	w, err := simulator.NewWorkload(all, config)
	must(err)
	r, err := w.Simulate(t.Context(), nil)
	must(err)
	var replies []reply
	for i := before; i < len(all); i++ {
		st := simulator.Standing{Now: all[i].Submit}
		for k, j := range all[:i] {
			j.Start, j.End, _ = r.Times(k)
			switch {
			case j.End <= st.Now:
				st.Ended = append(st.Ended, j)
			case j.Start <= st.Now:
				st.Running = append(st.Running, j)
			default:
				st.Pending = append(st.Pending, j)
			}
		}
		v, err := newView(h, st, config)
		must(err)
		asked := trace.Job{User: "u", Nodes: 1, Limit: all[i].Limit, Need: all[i].Need}
		waits, err := waitsOf(v, asked)
		must(err)
		knowing, err := v.drawn(asked, drawnFor(v.Pending), func(draw int) length {
			rng := rand.New(rand.NewPCG(uint64(draw), 5))
			return func(job int32, ran int64) (run int64) {
				limit := float64(v.sim.Workload().Jobs[job].Limit)
				for range 1000 { // until it is longer than it has run: almost all have
					if run = int64(limit * share(rng, shares)); run > ran || ran == 0 {
						return run
					}
				}
				return int64(limit)
			}
		})
		must(err)
		replies = append(replies, reply{waits, knowing, float64(r.Starts[i] - st.Now)})
	}
	return replies
}

// TestStatisticsPlayedWhen holds answers against what came in forty queues, to the minute, in
// which a backfill pass comes round: of one queue, whose waits hang together, nobody
// could tell whether answers are too long or hold as often as promised, not even who
// knows from what lengths are drawn.
func TestStatisticsPlayedWhen(t *testing.T) { playedWhen(t, 40, .05, .15) }

// TestPlayedWhen plays few queues: it sees answers that are far off.
func TestPlayedWhen(t *testing.T) { playedWhen(t, 4, .2, .4) }

// playedWhen wants intervals of 80 % that hold so often but for a margin, and answers
// that are on average too long or too short by no more than a share.
func playedWhen(t *testing.T, queues int, margin, share float64) {
	const slack = 60
	var came []float64
	var said, held [2][]float64 // ours and those of who knows
	for seed := range uint64(queues) {
		var n, wait float64
		var value, inside [2]float64
		for _, r := range played(t, seed, 50, shares[:]) {
			n, wait = n+1, wait+r.wait
			for k, waits := range []stats.Sorted{r.waits, r.knowing} {
				p := Expect(waits, .8)
				value[k] += p.Value
				if r.wait >= p.Low-slack && r.wait <= p.High+slack {
					inside[k]++
				}
			}
		}
		came = append(came, wait/n)
		for k := range said {
			said[k], held[k] = append(said[k], value[k]/n), append(held[k], inside[k]/n)
		}
	}
	for k, who := range []string{"answers", "who knows the shares"} {
		bias, ratio := mean(said[k])/mean(came)-1, make([]float64, queues)
		for i := range ratio {
			ratio[i] = said[k][i]/came[i] - 1
		}
		of, in := stats.Sort(held[k]), stats.Sort(ratio)
		t.Logf("%s: 80 %% intervals hold %.2f (one queue in ten below %.2f, one above %.2f), %+.0f %% too long (one below %+.0f %%, one above %+.0f %%)",
			who, mean(held[k]), of.Quantile(.1), of.Quantile(.9), 100*bias, 100*in.Quantile(.1), 100*in.Quantile(.9))
		if h := mean(held[k]); k == 0 && (math.Abs(h-.8) > margin || math.Abs(bias) > share) {
			t.Errorf("held %.2f, bias %+.2f", h, bias)
		}
	}
}

// newView returns a view of the jobs on a machine.
func newView(h *Hardware, st simulator.Standing, config simulator.Config) (*View, error) {
	v := &View{Now: st.Now, Hardware: h, limits: newLimits()}
	return v, v.resume(st, config)
}

// TestStatisticsPlayedQueued asks about the pending jobs of forty queues, all of whose
// jobs were submitted at once, until they start: what TestRealQueued measures on a few.
func TestStatisticsPlayedQueued(t *testing.T) {
	const history, jobs, slack, every = 64, 44, 60, 900
	h := &Hardware{Machine: cluster.Machine{Nodes: 4, Kinds: []cluster.Kind{{Name: "n", Nodes: 4, CPUs: 4, GPUs: 4}}}}
	config := simulator.Config{Machine: h.Machine, Rules: liveRules("bf_interval=30")}
	var n, said, came, inside, off float64
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 12))
		const now = int64(1e9)
		all := make([]trace.Job, jobs)
		for i := range all {
			limit := int64(3600 * (1 + rng.IntN(4)))
			all[i] = trace.Job{
				ID: strconv.Itoa(i), User: "u", Nodes: 1, Limit: limit, Need: &trace.Need{CPUs: 1, GPUs: 1 + rng.IntN(4)},
				Submit: now, Start: now, End: now + max(int64(float64(limit)*share(rng, shares[:])), 1), Priority: float64(jobs - i),
			}
		}
		var past []trace.Job
		for range history {
			past = append(past, trace.Job{User: "u", Nodes: 1, Limit: 3600, Need: &trace.Need{CPUs: 1, GPUs: 1}, Submit: now - 7200, Start: now - 7200, End: now - 7200 + max(int64(3600*share(rng, shares[:])), 1)})
		}
		w, err := simulator.NewWorkload(all, config)
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Simulate(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for at := now + 60; ; at += every {
			st := simulator.Standing{Now: at, Ended: past}
			for i, j := range all {
				j.Start, j.End, _ = r.Times(i)
				switch {
				case j.End <= at:
					st.Ended = append(st.Ended, j)
				case j.Start <= at:
					st.Running = append(st.Running, j)
				default:
					st.Pending = append(st.Pending, j)
				}
			}
			if len(st.Pending) == 0 {
				break
			}
			for k := 0; k < len(st.Pending); k += 5 {
				rest := st
				rest.Pending = slices.Delete(slices.Clone(st.Pending), k, k+1)
				v, err := newView(h, rest, config)
				if err != nil {
					t.Fatal(err)
				}
				waits, err := waitsOf(v, st.Pending[k])
				if err != nil {
					t.Fatal(err)
				}
				i, _ := strconv.Atoi(st.Pending[k].ID)
				wait, p := float64(r.Starts[i]-at), Expect(waits, .8)
				n, said, came, off = n+1, said+p.Value, came+wait, off+math.Abs(p.Value-wait)
				if wait >= p.Low-slack && wait <= p.High+slack {
					inside++
				}
			}
		}
	}
	t.Logf("%.0f answers: mean wait %.2f h, mean error %.2f h, %+.0f %% too long, 80 %% intervals hold %.2f", n, came/n/3600, off/n/3600, 100*(said/came-1), inside/n)
	if held, bias := inside/n, said/came-1; math.Abs(held-.8) > .07 || math.Abs(bias) > .15 {
		t.Errorf("held %.2f, bias %+.2f", held, bias)
	}
}
