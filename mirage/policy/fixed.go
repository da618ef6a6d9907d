package policy

import (
	"math"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Fixed submits a fixed time before the predecessor's end.
type Fixed struct {
	LeadHours float64
}

// Decide says submit when the lead is reached.
func (f Fixed) Decide(s *State) (Decision, error) {
	return waitOf(s, uncertainty.Point(f.LeadHours*3600)), nil
}

func fixed() Baseline {
	return Baseline{
		Policy: func(hours float64) Policy { return Fixed{LeadHours: hours} },
		Knob: &Knob{
			Name: "lead_hours", Help: "lead in hours",
			Most: math.Inf(1), Required: true,
			Choices: []float64{0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 24, 30, 36, 48},
			Hours:   true,
		},
		Rival: true,
	}
}
