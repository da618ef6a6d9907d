package forecast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/wait"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Answer is a predicted wait, as mirage when prints it in JSON.
type Answer struct {
	At    trace.Instant          `json:"at"`
	Wait  uncertainty.Prediction `json:"wait_hours"`
	Start trace.Instant          `json:"start"`
	// Submitted is when a job of the queue was submitted.
	Submitted trace.Instant `json:"submitted,omitzero"`
	// Asked is the shape of the job, and Job its row.
	Asked string    `json:"asked"`
	Job   trace.Job `json:"-"`
	// Started says that it runs already, since Start.
	Started bool `json:"started,omitempty"`
	// Unread names the facts that could not be read and may hold the job back: the interval has no
	// upper end then.
	Unread []string `json:"unread,omitempty"`
	// Parts splits the wait on a live Slurm, in a typical future.
	Parts *Parts `json:"parts_hours,omitempty"`
	// Chance is the probability of a start by the time By, if By was given and the
	// probability is known, see statesChances.
	By trace.Instant `json:"by,omitzero"`
	// TestOnly is the start that sbatch --test-only predicts on a live Slurm.
	TestOnly     trace.Instant `json:"test_only,omitzero"`
	Chance       *float64      `json:"chance,omitempty"`
	Notes        []string      `json:"notes,omitempty"` // extrapolations and doubts
	Alternatives []Alternative `json:"alternatives"`
	Handover     *Handover     `json:"handover,omitempty"` // if the cost of overlap was given
}

// Alternative is a cheaper shape of the job.
type Alternative struct {
	Shape string                 `json:"shape"`
	Wait  uncertainty.Prediction `json:"wait_hours"`
	// EarlierHours is the gain that four of five simulated futures reach.
	EarlierHours float64 `json:"earlier_hours"`
}

// Parts are the parts of a wait, in hours: until the job is eligible, then for the end
// of another job, then for its own limits, then for room.
type Parts struct {
	Eligible   float64 `json:"eligible"`
	Dependency float64 `json:"dependency"`
	Limits     float64 `json:"own_limits"`
	Room       float64 `json:"room"`
}

// Handover is the distribution of the start time and the best time to submit a
// successor.
type Handover struct {
	Curve []wait.Start `json:"chance_by"`
	// LeadHours is the time before its predecessor's end at which submitting a
	// successor has the least expected cost, if an hour of overlap costs OverlapCost
	// hours of interruption: the 1/(1+OverlapCost) quantile of the wait (the
	// newsvendor's critical ratio).
	LeadHours   float64 `json:"lead_hours"`
	OverlapCost float64 `json:"overlap_cost"`
}

// newAnswer returns the answer of a distribution at a time, which clock prints.
func newAnswer(d wait.Distribution, now int64, clock func(unix int64) trace.Instant) *Answer {
	return &Answer{
		At: clock(now), Wait: d.Interval().Times(1. / 3600), Start: clock(now + int64(d.Value)), Alternatives: []Alternative{},
	}
}

// addQuantiles adds what a question asks of a distribution: the probability of a start by a
// time in the time zone, and the handover.
func (a *Answer) addQuantiles(q Question, d wait.Distribution, zone *time.Location, now int64) error {
	stated := a.statesChances(d)
	if !stated && d.Known() && (q.Overlap > 0 || q.By != "") {
		a.Notes = append(a.Notes, "no probability of a start is stated: the interval has no upper end")
	}
	if q.Overlap > 0 && stated {
		a.Handover = &Handover{d.Curve(), d.By(1/(1+q.Overlap)) / 3600, q.Overlap}
	}
	if q.By == "" {
		return nil
	}
	by, err := trace.ParseNext(q.By, zone, now)
	if err != nil {
		return questionErrorf("--by: %w", err)
	}
	shown := func(unix int64) trace.Instant { return trace.Instant{Time: time.Unix(unix, 0).In(zone)} }
	if by < now {
		return questionErrorf("--by: %s, want a time after %s", q.By, shown(now))
	}
	a.By = shown(by)
	if stated {
		chance := d.Chance(float64(by - now))
		a.Chance = &chance
	}
	return nil
}

// statesChances reports whether a distribution gives probabilities of a start, a curve and a
// lead: it knows more than the value, and nothing unread may hold the job back.
func (a *Answer) statesChances(d wait.Distribution) bool { return d.Known() && len(a.Unread) == 0 }

// shape is a job that asks for less.
type shape struct {
	name string
	job  trace.Job
}

// cheaper returns shapes with a half and a quarter of a job's limit, and of its nodes.
func cheaper(job trace.Job) (shapes []shape) {
	for _, part := range []int64{2, 4} {
		shorter, smaller := job, job
		if shorter.Limit /= part; job.Limit != trace.Unlimited {
			shapes = append(shapes, shape{fmt.Sprintf("a limit of %s", trace.Span(shorter.Limit)), shorter})
		}
		if smaller.Nodes /= int(part); smaller.Nodes > 0 {
			if n := job.Need; n != nil {
				smaller.Need = &trace.Need{CPUs: n.CPUs / int(part), GPUs: n.GPUs / int(part), MemoryMB: n.MemoryMB / part}
			}
			shapes = append(shapes, shape{plural.Count(smaller.Nodes, "node"), smaller})
		}
	}
	return shapes
}

// The gain that makes a shape worth printing: so many seconds and so large a share of
// the wait, in so many futures.
const (
	gainSeconds = 600
	gainShare   = 0.1
	gainFutures = 0.8
)

// reachableGain returns the gain that as many values as gainFutures reach.
func reachableGain(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := stats.Sort(values)
	return sorted[len(sorted)-int(math.Ceil(gainFutures*float64(len(sorted))))]
}

// compare puts other shapes into the same simulated futures as the job, and keeps those
// that gain enough in enough of them, the earliest first. Waits are in seconds.
func (a *Answer) compare(job []float64, shapes []shape, waits func(shape) ([]float64, error)) error {
	if reachableGain(job) < gainSeconds {
		return nil
	}
	for _, s := range shapes {
		other, err := waits(s)
		if err != nil {
			return err
		}
		if len(other) != len(job) { // this shape can never start
			continue
		}
		gains, enough := make([]float64, len(job)), 0
		for i := range job {
			gains[i] = job[i] - other[i]
			if gains[i] >= max(gainSeconds, gainShare*job[i]) {
				enough++
			}
		}
		if float64(enough) < gainFutures*float64(len(job)) {
			continue
		}
		sorted := stats.Sort(other)
		a.Alternatives = append(a.Alternatives, Alternative{s.name, wait.FromSamples(a.Wait.Level, sorted).Interval().Times(1. / 3600), reachableGain(gains) / 3600})
	}
	slices.SortStableFunc(a.Alternatives, func(x, y Alternative) int { return cmp.Compare(y.EarlierHours, x.EarlierHours) })
	return nil
}

// seconds formats a duration for a note.
func seconds(s float64) uncertainty.Quantity { return uncertainty.Seconds(uncertainty.Point(s)) }
