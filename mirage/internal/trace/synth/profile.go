package synth

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// ErrProfile is returned when a profile cannot be fitted or drawn from.
var ErrProfile = errors.New("unusable workload profile")

// quantiles is the number of evenly spaced quantiles that describe a distribution.
const quantiles = 21

// sessionGap is the longest pause, in seconds, between two jobs of a session.
const sessionGap = 3600

// maxClasses is the largest number of kinds of sessions in a profile.
const maxClasses = 80

// Profile describes the distribution of synthetic jobs.
type Profile struct {
	SessionsPerDay float64     `json:"sessions_per_day"`
	Hours          [24]float64 `json:"hours"`    // weight of each hour of the day
	Weekdays       [7]float64  `json:"weekdays"` // weight of each day, from Sunday
	Users          []float64   `json:"users"`    // weight of each user, falling
	Classes        []Class     `json:"classes"`
	GapSeconds     []float64   `json:"gap_seconds"` // quantiles, between jobs of a session
	Priority       []float64   `json:"priority"`    // quantiles of logged priorities
}

// Class is a kind of session: what its jobs ask for and use.
type Class struct {
	Nodes        int       `json:"nodes"`
	LimitSeconds int64     `json:"limit_seconds"`
	Weight       float64   `json:"weight"`   // share of the sessions
	Length       []float64 `json:"length"`   // quantiles of the jobs in a session
	Fraction     []float64 `json:"fraction"` // quantiles of duration / limit
}

//go:embed lonestar6.json
var lonestar6 []byte

// Default returns the profile of the Lonestar6 A100 queue.
func Default() *Profile {
	var p Profile
	if err := json.Unmarshal(lonestar6, &p); err != nil {
		panic(err) // the file is part of the program
	}
	return &p
}

// session is a run of jobs of one user with one request.
type session struct {
	first int // index of its first job
	jobs  int
	last  int64 // latest submission
}

// Fit takes a profile from a trace of at least a week and a hundred jobs. The
// error wraps ErrProfile.
func Fit(t *trace.Trace) (*Profile, error) {
	if len(t.Jobs) < 100 {
		return nil, fmt.Errorf("%w: too few jobs for a fit: %d", ErrProfile, len(t.Jobs))
	}
	days := float64(t.Jobs[len(t.Jobs)-1].Submit-t.Jobs[0].Submit) / 86400
	if days < 7 {
		return nil, fmt.Errorf("%w: too few days for a fit: %.1f", ErrProfile, days)
	}
	p := &Profile{}
	sessions, gaps := sessionsOf(t.Jobs)
	p.SessionsPerDay = float64(len(sessions)) / days
	p.GapSeconds = quantilesOf(gaps)
	users := map[string]float64{}
	for _, s := range sessions {
		j := &t.Jobs[s.first]
		at := time.Unix(j.Submit, 0).In(t.Zone)
		p.Hours[at.Hour()]++
		p.Weekdays[at.Weekday()]++
		users[j.User]++
	}
	for _, n := range users {
		p.Users = append(p.Users, n)
	}
	slices.SortFunc(p.Users, func(a, b float64) int { return cmp.Compare(b, a) })
	priorities := make([]float64, len(t.Jobs))
	for i := range t.Jobs {
		priorities[i] = t.Jobs[i].Priority
	}
	p.Priority = quantilesOf(priorities)
	if p.Classes = classesOf(t.Jobs, sessions); len(p.Classes) == 0 {
		return nil, fmt.Errorf("%w: no job has a limit", ErrProfile)
	}
	return p, nil
}

// key identifies a session: its jobs have these values in common.
type key struct {
	user  string
	nodes int
	limit int64
}

func sessionsOf(jobs []trace.Job) (sessions []session, gaps []float64) {
	open := map[key]int{}
	for i := range jobs {
		j := &jobs[i]
		k := key{j.User, j.Nodes, j.Limit}
		if s, ok := open[k]; ok && j.Submit-sessions[s].last <= sessionGap {
			gaps = append(gaps, float64(j.Submit-sessions[s].last))
			sessions[s].jobs++
			sessions[s].last = j.Submit
			continue
		}
		open[k] = len(sessions)
		sessions = append(sessions, session{i, 1, j.Submit})
	}
	return sessions, gaps
}

func classesOf(jobs []trace.Job, sessions []session) []Class {
	type shape struct {
		nodes int
		limit int64
	}
	lengths, fractions := map[shape][]float64{}, map[shape][]float64{}
	for _, s := range sessions {
		j := &jobs[s.first]
		k := shape{j.Nodes, j.Limit}
		lengths[k] = append(lengths[k], float64(s.jobs))
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Limit > 0 {
			k := shape{j.Nodes, j.Limit}
			fractions[k] = append(fractions[k], min(1, float64(j.Duration())/float64(j.Limit)))
		}
	}
	var classes []Class
	for k, l := range lengths {
		if k.limit > 0 {
			classes = append(classes, Class{k.nodes, k.limit, float64(len(l)) / float64(len(sessions)), quantilesOf(l), quantilesOf(fractions[k])})
		}
	}
	slices.SortFunc(classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.LimitSeconds, b.LimitSeconds))
	})
	return classes[:min(len(classes), maxClasses)]
}

// quantilesOf returns evenly spaced quantiles, rounded to four digits; zeros
// for no values.
func quantilesOf(values []float64) []float64 {
	q := make([]float64, quantiles)
	if len(values) == 0 {
		return q
	}
	sorted := stats.Sort(values)
	for i := range q {
		q[i] = math.Round(sorted.Quantile(float64(i)/(quantiles-1))*1e4) / 1e4
	}
	return q
}

// NodeHoursPerDay is the work that arrives in a day, on average.
func (p *Profile) NodeHoursPerDay() float64 {
	perSession, weights := 0.0, 0.0
	for _, c := range p.Classes {
		perSession += c.Weight * mean(c.Length) * mean(c.Fraction) * float64(c.LimitSeconds) / 3600 * float64(c.Nodes)
		weights += c.Weight
	}
	return p.SessionsPerDay * perSession / weights
}

// mean is the mean of the piecewise linear distribution through quantiles.
func mean(q []float64) float64 {
	sum := 0.0
	for i := 1; i < len(q); i++ {
		sum += (q[i-1] + q[i]) / 2
	}
	return sum / float64(len(q)-1)
}
