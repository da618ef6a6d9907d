package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/record"
	"github.com/foretime/foretime/shared/uncertainty"
)

// maxMeasured is in seconds, eleven days: no inference takes longer.
const maxMeasured = 1e6

// errUnkept is returned where the service has no place for outcomes.
var errUnkept = errors.New("outcomes are not kept")

// outcome is a candidate as it was answered, with what one inference then took.
type outcome struct {
	Node     string  `json:"node"`
	Value    float64 `json:"predicted_execution_time"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Level    float64 `json:"level"`
	Measured float64 `json:"measured_execution_time"`
}

// standing says how many of a node's intervals contained the measured time.
type standing struct {
	Held     bool    `json:"held"` // the outcome
	Outcomes int     `json:"outcomes"`
	Within   int     `json:"outcomes_held"`
	Factor   float64 `json:"width_factor"` // of the node's next intervals
}

// question returns the key of a node's predictions in the record.
func question(node string) record.Question {
	return record.Question{Tool: "edgeprof", Of: "serve " + node}
}

// factors stores by how much the intervals of each node are to be widened.
func (s *Service) factors() {
	all := map[string]float64{}
	if s.Record != nil {
		for _, of := range s.Record.Standings(question("").Tool) {
			if node, ok := strings.CutPrefix(of.Of, question("").Of); ok {
				all[node] = of.Factor
			}
		}
	}
	s.widths.Store(&all)
}

// correct returns a ranking with intervals as earlier outcomes would have them, of
// which clients may post the outcomes.
func (s *Service) correct(r *placement.Ranking, err error) (*placement.Ranking, error) {
	if err != nil {
		return nil, err
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if f, ok := (*s.widths.Load())[c.Node]; ok && f != 1 && c.Seconds.IsBounded() {
			c.Seconds, c.Width = c.Seconds.Widen(f), f
			c.Seconds.Low = max(0, c.Seconds.Low)
		}
	}
	if s.Record != nil {
		s.ledger.add(s.Now(), r.Candidates)
	}
	return r, nil
}

// postOutcomes learns from a measured time how wide a node's intervals should be.
func (s *Service) postOutcomes(w http.ResponseWriter, r *http.Request) (any, error) {
	if s.Record == nil {
		return nil, fmt.Errorf("%w: the service runs with --no-record", errUnkept)
	}
	var o outcome
	if err := json.NewDecoder(received{http.MaxBytesReader(w, r.Body, s.MaxRequestBytes)}).Decode(&o); err != nil {
		return nil, fmt.Errorf("%w: %w", placement.ErrSyntax, broken(err))
	}
	p := uncertainty.Prediction{Value: o.Value, Low: o.Low, High: o.High, Level: o.Level}
	if !(o.Measured > 0 && o.Measured <= maxMeasured) {
		return nil, fmt.Errorf("%w: measured_execution_time %g: want the seconds of one inference, above 0 and at most %g", errParameter, o.Measured, maxMeasured)
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
	factor, ok := s.ledger.settle(s.Now(), made{o.Node, o.Value, o.Low, o.High, o.Level})
	if !ok {
		return nil, fmt.Errorf("%w: no open prediction of node %q with these values: send node, predicted_execution_time, low, high and level as this process answered them, once, within %v", errParameter, o.Node, openFor)
	}
	of := question(o.Node)
	if err := s.Record.Add(s.Now(), of, w.Header().Get(access.IDHeader), p, factor, o.Measured); err != nil {
		return nil, fmt.Errorf("%w: %w", errParameter, err)
	}
	s.warnings()
	s.factors()
	where := "held"
	if !p.Contains(o.Measured) {
		where = map[bool]string{true: "above", false: "below"}[o.Measured > p.High]
	}
	s.metrics.outcomes.WithLabelValues(o.Node, where).Inc()
	s.metrics.errors.Observe(math.Abs(o.Value-o.Measured) / o.Measured)
	st := s.Record.Standing(of)
	return &standing{where == "held", st.Outcomes, st.Held, st.Factor}, nil
}

// warnings passes on what was wrong with the file of the record.
func (s *Service) warnings() {
	for _, err := range s.Record.Warnings() {
		if s.Warn != nil {
			s.Warn(err)
		}
	}
}
