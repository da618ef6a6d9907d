package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// Settings say how much to make. Either Jobs or Days is needed; where both
// are given the first to be reached ends the trace.
type Settings struct {
	Jobs  int
	Days  float64
	Start int64          // Unix seconds
	Zone  *time.Location // of the hours of the profile
	// NodeHoursPerDay scales the arrivals; 0 keeps those of the profile.
	NodeHoursPerDay float64
	// MaxNodes leaves out classes that ask for more; 0 keeps all.
	MaxNodes int
	Seed     uint64
}

// Generate draws jobs, in the order of submission. The error wraps ErrProfile.
func (p *Profile) Generate(ctx context.Context, s Settings) ([]trace.Job, error) {
	g, err := newGenerator(p, s)
	if err != nil {
		return nil, err
	}
	end := s.Start + 1<<40
	if s.Days > 0 {
		end = s.Start + int64(s.Days*86400)
	}
	var jobs []trace.Job
	for at := float64(s.Start); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at = g.nextSession(at)
		if int64(at) >= end || s.Jobs > 0 && len(jobs) >= s.Jobs+s.Jobs/4+1000 {
			break
		}
		jobs = g.session(jobs, int64(at), end)
	}
	slices.SortStableFunc(jobs, func(a, b trace.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	if s.Jobs > 0 {
		jobs = jobs[:min(s.Jobs, len(jobs))]
	}
	for i := range jobs {
		jobs[i].ID = strconv.Itoa(i + 1)
	}
	return jobs, nil
}

type generator struct {
	profile  *Profile
	zone     *time.Location
	random   *rand.Rand
	classes  []Class
	byClass  []float64 // cumulated weights
	byUser   []float64
	names    []string
	sessions float64 // a second, at the busiest hour of the week
	busiest  float64 // weight of that hour
}

func newGenerator(p *Profile, s Settings) (*generator, error) {
	switch {
	case s.Jobs <= 0 && s.Days <= 0:
		return nil, fmt.Errorf("%w: want a number of jobs or days", ErrProfile)
	case s.NodeHoursPerDay < 0 || math.IsNaN(s.NodeHoursPerDay):
		return nil, fmt.Errorf("%w: %v node-hours per day", ErrProfile, s.NodeHoursPerDay)
	case s.Zone == nil:
		s.Zone = time.UTC
	}
	q := *p
	q.Classes = slices.DeleteFunc(slices.Clone(p.Classes), func(c Class) bool { return s.MaxNodes > 0 && c.Nodes > s.MaxNodes })
	if len(q.Classes) == 0 {
		return nil, fmt.Errorf("%w: every class has more than %d nodes", ErrProfile, s.MaxNodes)
	}
	if s.NodeHoursPerDay > 0 {
		q.SessionsPerDay *= s.NodeHoursPerDay / q.NodeHoursPerDay()
	}
	g := &generator{profile: &q, zone: s.Zone, random: rand.New(rand.NewPCG(s.Seed, 0x6d6972616765)), classes: q.Classes}
	weights := make([]float64, len(g.classes))
	for i, c := range g.classes {
		weights[i] = c.Weight
	}
	g.byClass = floats.CumSum(make([]float64, len(weights)), weights)
	g.byUser = floats.CumSum(make([]float64, len(q.Users)), q.Users)
	for i := range q.Users {
		g.names = append(g.names, fmt.Sprintf("user%03d", i+1))
	}
	// A week has 168 hours. The weight of each is that of its hour times that
	// of its day; the mean weight corresponds to the mean rate.
	hours, days := slices.Max(q.Hours[:]), slices.Max(q.Weekdays[:])
	meanWeight := floats.Sum(q.Hours[:]) / 24 * floats.Sum(q.Weekdays[:]) / 7
	g.busiest = hours * days
	g.sessions = q.SessionsPerDay / 86400 * g.busiest / meanWeight
	return g, nil
}

// nextSession draws the next arrival of a Poisson process whose rate changes
// by hour and weekday, by thinning (Lewis and Shedler 1979).
func (g *generator) nextSession(at float64) float64 {
	for {
		at += g.random.ExpFloat64() / g.sessions
		clock := time.Unix(int64(at), 0).In(g.zone)
		weight := g.profile.Hours[clock.Hour()] * g.profile.Weekdays[clock.Weekday()]
		if g.random.Float64()*g.busiest <= weight {
			return at
		}
	}
}

// session draws the jobs of one session.
func (g *generator) session(jobs []trace.Job, at, end int64) []trace.Job {
	c := &g.classes[g.pick(g.byClass)]
	user := g.names[g.pick(g.byUser)]
	priority := math.Round(g.draw(g.profile.Priority))
	for n := max(1, int(math.Round(g.draw(c.Length)))); n > 0 && at < end; n-- {
		duration := int64(g.draw(c.Fraction) * float64(c.LimitSeconds))
		jobs = append(jobs, trace.Job{
			User: user, Submit: at, Start: at, End: at + duration,
			Limit: c.LimitSeconds, Nodes: c.Nodes, Priority: priority,
		})
		at += int64(g.draw(g.profile.GapSeconds))
	}
	return jobs
}

// draw takes a value from the distribution through evenly spaced quantiles.
func (g *generator) draw(q []float64) float64 {
	at := g.random.Float64() * float64(len(q)-1)
	i := int(at)
	return q[i] + (at-float64(i))*(q[i+1]-q[i])
}

func (g *generator) pick(cumulated []float64) int {
	x := g.random.Float64() * cumulated[len(cumulated)-1]
	i, _ := slices.BinarySearch(cumulated, x)
	return min(i, len(cumulated)-1)
}
