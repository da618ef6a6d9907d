package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/device"
	"github.com/foretime/foretime/edgeprof/placement"
	"github.com/foretime/foretime/shared/record"
	"github.com/foretime/foretime/shared/uncertainty"
)

// errUnkept is returned where the service has no place for outcomes.
var errUnkept = errors.New("outcomes are not kept")

// outcome is a candidate as it was answered, with what one inference then took.
type outcome struct {
	Node     string  `json:"node"`
	Value    float64 `json:"predicted_execution_time"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Level    float64 `json:"level"`
	Factor   float64 `json:"width_factor"` // 0 is 1
	Measured float64 `json:"measured_execution_time"`
}

// standing is how the intervals of a node held.
type standing struct {
	Held     bool    `json:"held"` // the outcome
	Outcomes int     `json:"outcomes"`
	Within   int     `json:"outcomes_held"`
	Factor   float64 `json:"width_factor"` // of the node's next intervals
}

// question is what the record has a node's predictions under.
func question(node string) record.Question {
	return record.Question{Tool: "edgeprof", Of: "serve " + node}
}

// factors reads by how much the intervals of each node are to be widened.
func (s *Service) factors() error {
	all := map[string]float64{}
	if s.Record != nil {
		standings, err := s.Record.Standings()
		if err != nil {
			return err
		}
		for _, of := range standings {
			if node, ok := strings.CutPrefix(of.Of, question("").Of); ok && of.Tool == question("").Tool {
				all[node] = of.Factor
			}
		}
	}
	s.widths.Store(&all)
	return nil
}

// corrected is a ranking with intervals as earlier outcomes would have them.
func (s *Service) corrected(r *placement.Ranking, err error) (*placement.Ranking, error) {
	if err != nil {
		return nil, err
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if f, ok := (*s.widths.Load())[c.Node]; ok && f != 1 && c.Seconds.Bounded() {
			c.Seconds, c.Width = c.Seconds.Widened(f), f
			c.Seconds.Low = max(0, c.Seconds.Low)
		}
	}
	return r, nil
}

// postOutcomes learns from a measured time how wide a node's intervals should be.
func (s *Service) postOutcomes(w http.ResponseWriter, r *http.Request) (any, error) {
	if s.Record == nil {
		return nil, fmt.Errorf("%w: the service has no folder for them (HOME, XDG_STATE_HOME), or runs with --no-record", errUnkept)
	}
	o := outcome{Factor: 1}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, s.MaxRequestBytes)).Decode(&o); err != nil {
		return nil, fmt.Errorf("%w: %w", placement.ErrSyntax, broken(err))
	}
	p := uncertainty.Prediction{Value: o.Value, Low: o.Low, High: o.High, Level: o.Level}
	if !(o.Measured > 0 && o.Factor > 0 && o.Level > 0 && o.Level < 1 && 0 <= o.Low && o.Low <= o.Value && o.Value <= o.High && o.High > 0) || math.IsInf(o.Measured, 0) {
		return nil, fmt.Errorf("%w: want a candidate as it was answered (predicted_execution_time, low, high, level, width_factor) and measured_execution_time, in seconds above 0", errParameter)
	}
	bound, err := s.fleet(r.Context())
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(bound.reading.Devices, func(d device.Device) bool { return d.Node == o.Node }) {
		return nil, fmt.Errorf("%w: node %q is not among the devices", errParameter, o.Node)
	}
	s.learning.Lock()
	defer s.learning.Unlock()
	of, key := question(o.Node), w.Header().Get(requestID)
	if _, err := s.Record.Predict(s.Now(), of, key, p.Widened(1/o.Factor)); err != nil {
		return nil, err
	}
	if err := errors.Join(s.Record.Outcome(s.Now(), of, key, o.Measured), s.factors()); err != nil {
		return nil, err
	}
	where := "held"
	if !p.Contains(o.Measured) {
		where = map[bool]string{true: "above", false: "below"}[o.Measured > p.High]
	}
	s.metrics.outcomes.WithLabelValues(o.Node, where).Inc()
	s.metrics.errors.Observe(math.Abs(o.Value-o.Measured) / o.Measured)
	st, err := s.Record.Standing(of)
	return &standing{where == "held", st.Outcomes, st.Held, st.Factor}, err
}
