package model

import (
	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
)

// Origin describes the training data of a model.
type Origin struct {
	// From and To are the beginning of the first predecessor and the start of the
	// last successor that the model has seen, Unix seconds.
	From     int64              `json:"from"`
	To       int64              `json:"to"`
	Service  chain.Service      `json:"service"` // of the first set
	Clusters []simulator.Config `json:"clusters"`
}

// originOf returns the origin of sets, as far as they were used.
func originOf(sets []*samples.Set, until int64) *Origin {
	var o Origin
	for i, set := range sets {
		m := set.Manifest
		if i == 0 {
			o.From, o.Service = m.Plan.Submit(0), m.Plan.Service
		}
		o.From = min(o.From, m.Plan.Submit(0))
		o.Clusters = append(o.Clusters, m.Config)
		for _, s := range set.Samples {
			if until == 0 || s.SuccStart < until {
				o.To = max(o.To, s.SuccStart)
			}
		}
	}
	return &o
}

// Saw says whether the model has seen something of a span, in Unix seconds.
func (o *Origin) Saw(from, to int64) bool { return from < o.To && to > o.From }
