package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/simulator"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Sharing is a way for two programs to share a device.
type Sharing struct {
	Name   string
	Device device.Settings
	Urgent int // the program that is urgent: to MPS if the device has Priorities, else to policy priority; -1 none
	// Part is the part of the device's processors that each program may use (MPS's active
	// thread percentage); 0 all.
	Part float64
	// Measured says that forecasts were compared with a device (gpu/checks.py).
	Measured bool
}

// Sharings returns the ways that [Traces] predicts: in time slices without control and
// under policy priority with either program urgent; under MPS without control, with client
// priorities, and with half of the processors for each.
func Sharings() []Sharing {
	turns, mps := device.Settings{Discipline: device.Turns}, device.Settings{Discipline: device.MPS}
	ranked := device.Settings{Discipline: device.MPS, Priorities: true}
	return []Sharing{
		{Name: "time slices", Device: turns, Urgent: -1, Measured: true},
		{Name: "MPS", Device: mps, Urgent: -1, Measured: true},
		{Name: "priority, A urgent", Device: turns, Urgent: 0, Measured: true},
		{Name: "priority, B urgent", Device: turns, Urgent: 1, Measured: true},
		{Name: "MPS with priority, A urgent", Device: ranked, Urgent: 0},
		{Name: "MPS with priority, B urgent", Device: ranked, Urgent: 1},
		{Name: "MPS, half each", Device: mps, Urgent: -1, Part: 0.5},
	}
}

// Outlook holds the speeds of two programs next to each other under one way of sharing:
// its speed relative to alone.
type Outlook struct {
	Sharing Sharing
	Speeds  [2]uncertainty.Prediction
	// Times are the times of each program's jobs, in order of length: from a first launch to
	// the program's own wait for the device.
	Times [2][]time.Duration
	// Periods are the mean times from one job to the next, pauses included.
	Periods [2]time.Duration
	// Alone are the times of each program's jobs alone, in order of length.
	Alone [2][]time.Duration
}

// Within returns the share of a program's jobs that take at most a time; low and high
// are that for the ends of the interval of its speed: the period becomes longer or
// shorter by the time of the job, not by that of the pause, and no job becomes shorter
// than alone.
func (o Outlook) Within(program int, deadline time.Duration) uncertainty.Prediction {
	speed := o.Speeds[program]
	share := func(actual float64) float64 {
		later, n := float64(o.Periods[program])*(speed.Value/actual-1), 0
		times, alone := o.Times[program], o.Alone[program]
		for i, t := range times {
			least := t
			if len(alone) > 0 {
				least = min(t, alone[i*len(alone)/len(times)])
			}
			if max(float64(t)+later, float64(least)) <= float64(deadline) {
				n++
			}
		}
		return float64(n) / float64(max(len(times), 1))
	}
	return uncertainty.Prediction{Value: share(speed.Value), Low: share(speed.Low), High: share(speed.High), Level: speed.Level}
}

// offModel is the half-width of 90 % intervals of a speed: 3.32 times the median error of
// fitted constants on the recorded pairs of an H200 (0.039 and 0.065), which is that of
// Laplace's errors: on an H100 their tails are at least as heavy. Of twelve speeds each of
// other programs on another H200, 10 and 12 were inside.
var offModel = map[device.Discipline]float64{device.Turns: 0.13, device.MPS: 0.216}

// shiftedRuns is the number of times that a pair is played, from other moments of the second program.
const shiftedRuns = 3

// leastPlayed is the least time for which programs are played.
const leastPlayed = 2 * time.Second

// tracePart is the most of a trace that is played again and again.
const tracePart = 2 * time.Second

// Traces predicts the slowdown of two recorded programs next to each other, for each of the
// ways. Slack is that of policy priority; 0 is its default.
func Traces(ctx context.Context, a, b *pair.Trace, ways []Sharing, slack float64) ([]Outlook, error) {
	var outlooks []Outlook
	for _, way := range ways {
		kernels := way.Device.Discipline == device.MPS // they alternate, those of graphs too
		clients := [2]simulator.Client{client(a, kernels), client(b, kernels)}
		if kernels {
			way.Device.Ahead = way.Device.WithDefaults().Ahead * max(len(clients[0].Kernels)/len(repeatedLaunches(a)), len(clients[1].Kernels)/len(repeatedLaunches(b)))
		}
		if way.Urgent >= 0 {
			clients[way.Urgent].Terms.Priority = 1
		}
		o := Outlook{Sharing: way}
		var alone [2]float64
		for k, c := range clients {
			r, err := play(ctx, way, slack, c)
			if err != nil {
				return nil, err
			}
			alone[k], o.Alone[k] = rates(r)[0], slices.Sorted(slices.Values(r.Clients[0].Unmarked))
		}
		playBoth := playShifted
		if way.Part > 0 {
			playBoth = playPartitioned
		}
		if err := playBoth(ctx, &o, slack, clients, alone); err != nil {
			return nil, err
		}
		for k := range o.Times {
			slices.Sort(o.Times[k])
		}
		outlooks = append(outlooks, o)
	}
	return outlooks, nil
}

// playShifted plays two programs next to each other, from several moments of the second.
func playShifted(ctx context.Context, o *Outlook, slack float64, clients [2]simulator.Client, alone [2]float64) error {
	var speeds [2][]float64
	for n := range shiftedRuns {
		clients[1].Start = time.Duration(n) * length(clients[0]) / shiftedRuns
		r, err := play(ctx, o.Sharing, slack, clients[:]...)
		if err != nil {
			return err
		}
		for k, rate := range rates(r) {
			speeds[k] = append(speeds[k], rate/alone[k])
			o.addRun(k, r.Clients[k], rate, shiftedRuns)
		}
	}
	for k := range speeds {
		o.Speeds[k] = spread(speeds[k], offModel[o.Sharing.Device.Discipline])
	}
	return nil
}

// playPartitioned plays each program alone on its part of the processors. A recording does
// not contain how many a kernel uses: one that fills the device takes as much longer as its
// part is smaller, a small one no longer at all.
func playPartitioned(ctx context.Context, o *Outlook, slack float64, clients [2]simulator.Client, alone [2]float64) error {
	for k, c := range clients {
		for i := range c.Kernels {
			c.Kernels[i] = time.Duration(float64(c.Kernels[i]) / o.Sharing.Part)
		}
		r, err := play(ctx, o.Sharing, slack, c)
		if err != nil {
			return err
		}
		rate := rates(r)[0]
		o.Speeds[k] = spread([]float64{rate / alone[k]}, offModel[device.MPS])
		o.Speeds[k].High = 1
		o.addRun(k, r.Clients[0], rate, 1)
	}
	return nil
}

// addRun adds the jobs of one of so many runs of a program, which went through its trace at
// a rate.
func (o *Outlook) addRun(program int, c simulator.ClientResult, rate float64, runs int) {
	o.Times[program] = append(o.Times[program], c.Unmarked...)
	if each := rate * float64(len(c.Unmarked)) / float64(len(c.Jobs)); each > 0 {
		o.Periods[program] += time.Duration(float64(time.Second) / each / float64(runs))
	}
}

// spread returns the mean of speeds with an interval that covers them and the model's error.
func spread(speeds []float64, off float64) uncertainty.Prediction {
	return uncertainty.Prediction{
		Value: stat.Mean(speeds, nil), Low: max(0, slices.Min(speeds)-off), High: slices.Max(speeds) + off, Level: Level,
	}
}

// client returns a program that repeats its trace; with kernels, each kernel of a graph by
// itself, all of the same time.
func client(t *pair.Trace, kernels bool) simulator.Client {
	c := simulator.Client{Unmarked: true}
	c.Name = t.Program
	for _, l := range repeatedLaunches(t) {
		parts := 1
		if kernels {
			parts = max(l.Kernels, 1)
		}
		for i := range parts {
			gap := l.Gap
			if i > 0 {
				gap = 0
			}
			c.Kernels = append(c.Kernels, max(l.Time/time.Duration(parts), 1))
			c.Gaps = append(c.Gaps, gap)
			c.Waits = append(c.Waits, l.Wait && i == 0)
		}
	}
	return c
}

// HasJobs reports whether [Traces] finds a whole job in a trace: what a program launches
// between two of its own waits.
func HasJobs(t *pair.Trace) bool { return repeatedLaunches(t)[0].Wait }

// repeatedLaunches returns the launches of a trace that are played again and again: its first whole
// jobs. A recording cuts the job at its begin and the one at its end. If no job is whole,
// all launches are played.
func repeatedLaunches(t *pair.Trace) []pair.Launch {
	first := slices.IndexFunc(t.Launches, func(l pair.Launch) bool { return l.Wait })
	if first < 0 {
		return firstPart(t.Launches)
	}
	end := len(t.Launches)
	if first > 0 {
		end = lastWait(t.Launches)
	}
	if end == first {
		return firstPart(t.Launches)
	}
	whole := t.Launches[first:end]
	part := firstPart(whole)
	if n := len(part); n < len(whole) && !whole[n].Wait {
		if last := lastWait(part); last > 0 {
			return part[:last]
		}
	}
	return part
}

// lastWait returns the index of the last launch before which the program waited.
func lastWait(launches []pair.Launch) int {
	i := len(launches) - 1
	for !launches[i].Wait {
		i--
	}
	return i
}

// firstPart returns the first launches that take tracePart together.
func firstPart(launches []pair.Launch) []pair.Launch {
	var span time.Duration
	for i, l := range launches {
		if span += max(l.Gap, l.Time); span > tracePart {
			return launches[:i+1]
		}
	}
	return launches
}

// length returns roughly the time of a client's job alone.
func length(c simulator.Client) (span time.Duration) {
	for i, each := range c.Kernels {
		span += max(each, c.Gaps[i])
	}
	return span
}

// ErrTooMany is returned for recordings of too many launches in a time: one program's are
// much shorter than the other's.
var ErrTooMany = errors.New("too many launches to play")

// mostPlayed bounds the launches of a simulation, which takes about a second for a million of
// them; a trace counts as leastPerTrace of them at least each time, as its result is kept.
const (
	mostPlayed    = 20_000_000
	leastPerTrace = 8
)

// checkLength returns an error if too many launches would be played.
func checkLength(clients []simulator.Client, duration time.Duration) error {
	launches := float64(duration) / float64(device.DefaultTurn) // a turn of the device costs as much
	for _, c := range clients {
		launches += float64(duration) / float64(length(c)) * float64(max(len(c.Kernels), leastPerTrace))
	}
	if launches <= mostPlayed {
		return nil
	}
	var each []string
	for _, c := range clients {
		each = append(each, fmt.Sprintf("%s goes through its launches in %v", c.Name, length(c)))
	}
	return fmt.Errorf("%w: %.2g in %v, the limit is %d: %s", ErrTooMany, launches, duration, mostPlayed, strings.Join(each, ", "))
}

// play has clients go through their traces until all have for long enough.
func play(ctx context.Context, way Sharing, slack float64, clients ...simulator.Client) (*simulator.Result, error) {
	var p policy.Policy = policy.None{}
	if way.Urgent >= 0 && !way.Device.Priorities {
		p = policy.NewPriority(policy.Settings{Slack: slack, Device: way.Device})
	}
	var span time.Duration
	for _, c := range clients {
		span = max(span, length(c))
	}
	duration := max(4*span, leastPlayed) // a program that is stopped for as long as the other runs must come to an end too
	if err := checkLength(clients, duration); err != nil {
		return nil, err
	}
	r, err := simulator.Run(ctx, simulator.Config{
		Clients: clients, Policy: p, Device: way.Device, Duration: duration, MinJobs: 1, Reaction: assumedHosts[1].reaction,
	})
	if errors.Is(err, simulator.ErrStuck) {
		return nil, fmt.Errorf("%s: %w", way.Name, err)
	}
	return r, err
}

// rates returns how often a second each client goes through its trace while all of them
// do.
func rates(r *simulator.Result) []float64 {
	begin, end := time.Duration(0), r.End
	for _, c := range r.Clients {
		begin, end = max(begin, c.Jobs[0].Begin), min(end, c.Jobs[len(c.Jobs)-1].End)
	}
	var all []float64
	for _, c := range r.Clients {
		all = append(all, progress(c.Jobs, begin, end))
	}
	return all
}

// progress returns the jobs a second in a time: of those that begin and end in it, as a
// job's other part may have been alone; if there is none, of its part.
func progress(jobs []simulator.Job, begin, end time.Duration) (rate float64) {
	whole := slices.DeleteFunc(slices.Clone(jobs), func(j simulator.Job) bool { return j.Begin < begin || j.End > end })
	if n := len(whole); n > 0 {
		return float64(n) / (whole[n-1].End - whole[0].Begin).Seconds()
	}
	for _, j := range jobs {
		if part := min(j.End, end) - max(j.Begin, begin); part > 0 {
			rate += float64(part) / float64(j.JCT())
		}
	}
	return rate / (end - begin).Seconds()
}

// Best returns the measured way under which the other program is fastest while the urgent
// one stays within slack (0: the policy's default) of its time alone; if it does so under
// none, the way under which it is fastest, and false.
func Best(outlooks []Outlook, urgent int, slack float64) (best Outlook, kept bool) {
	least := 1 / cmp.Or(slack, policy.DefaultSlack)
	return fastestOther(outlooks, urgent, least, func(o Outlook) float64 { return o.Speeds[urgent].Value })
}

// Punctual is the share of jobs that have to be done within a deadline.
const Punctual = 0.95

// BestWithin returns the measured way under which the other program is fastest while 0.95
// of a program's jobs take at most the deadline, also at the low end of the interval if
// there is such a way; if they do so under none, the way under which most of them do, and
// false.
func BestWithin(outlooks []Outlook, program int, deadline time.Duration) (best Outlook, kept bool) {
	best, kept = fastestOther(outlooks, program, Punctual, func(o Outlook) float64 { return o.Within(program, deadline).Low })
	if kept {
		return best, true
	}
	return fastestOther(outlooks, program, Punctual, func(o Outlook) float64 { return o.Within(program, deadline).Value })
}

// fastestOther returns the measured way with the fastest other program of those in which a
// share is enough, or else that with the largest share, and false.
func fastestOther(outlooks []Outlook, program int, enough float64, share func(Outlook) float64) (best Outlook, kept bool) {
	for _, o := range outlooks {
		if !o.Sharing.Measured {
			continue
		}
		keeps, faster := share(o) >= enough, o.Speeds[1-program].Value > best.Speeds[1-program].Value
		switch {
		case best.Sharing.Name == "", keeps && (!kept || faster),
			!keeps && !kept && (share(o) > share(best) || share(o) == share(best) && faster):
			best, kept = o, keeps
		}
	}
	return best, kept
}
