package cli

import (
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// hours is a number of hours in a table: in minutes, which it then says, where it is
// under one.
type hours float64

func (h hours) String() string { return predictedHours(uncertainty.Point(float64(h))).String() }

// predictedHours is the same of a prediction, with its interval.
type predictedHours uncertainty.Prediction

// Predicted has CSV keep it in hours.
func (h predictedHours) Predicted() uncertainty.Prediction { return uncertainty.Prediction(h) }

func (h predictedHours) String() string {
	if p := h.Predicted(); p.Value == 0 || p.Value <= -1 || p.Value >= 1 {
		return cli.Text(p)
	}
	return cli.Text(h.Predicted().Times(60)) + " min"
}

// wait is a time of hours in the unit that suits it, in a sentence.
func wait(hours uncertainty.Prediction) cli.Quantity { return cli.Seconds(hours.Times(3600)) }

// lasting is a wait that has no interval.
func lasting(hours float64) cli.Quantity { return wait(uncertainty.Point(hours)) }

// wide says that an interval of hours is wider than a day, which is to be explained.
func wide(p uncertainty.Prediction) bool { return p.Bounded() && p.Width() > 24 }
