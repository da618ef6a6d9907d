package synth

import (
	_ "embed"
	"encoding/json"
	"errors"
)

// ErrProfile is returned when a profile cannot be drawn from.
var ErrProfile = errors.New("unusable workload profile")

// Profile describes the distribution of synthetic jobs.
type Profile struct {
	SessionsPerDay float64     `json:"sessions_per_day"`
	Hours          [24]float64 `json:"hours"`    // weight of each hour of the day
	Weekdays       [7]float64  `json:"weekdays"` // weight of each day, from Sunday
	Users          []float64   `json:"users"`    // weight of each user, falling
	Classes        []Class     `json:"classes"`
	GapSeconds     []float64   `json:"gap_seconds"` // evenly spaced quantiles, between jobs of a session
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

// NodeHoursPerDay returns the work that arrives in a day, on average.
func (p *Profile) NodeHoursPerDay() float64 {
	perSession, weights := 0.0, 0.0
	for _, c := range p.Classes {
		perSession += c.Weight * mean(c.Length) * mean(c.Fraction) * float64(c.LimitSeconds) / 3600 * float64(c.Nodes)
		weights += c.Weight
	}
	return p.SessionsPerDay * perSession / weights
}

// mean returns the mean of the piecewise linear distribution through quantiles.
func mean(q []float64) float64 {
	sum := 0.0
	for i := 1; i < len(q); i++ {
		sum += (q[i-1] + q[i]) / 2
	}
	return sum / float64(len(q)-1)
}
