package cli

import (
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// hours is a number of hours in a table, printed in minutes with the unit if it is
// below 1.
type hours float64

func (h hours) String() string { return predictedHours(uncertainty.Point(float64(h))).String() }

// predictedHours is a prediction in hours, printed like hours, with its interval.
type predictedHours uncertainty.Prediction

// Predicted returns the prediction in hours, as CSV prints it.
func (h predictedHours) Predicted() uncertainty.Prediction { return uncertainty.Prediction(h) }

func (h predictedHours) String() string {
	if p := h.Predicted(); p.Value == 0 || p.Value <= -1 || p.Value >= 1 {
		return cli.Text(p)
	}
	return cli.Text(h.Predicted().Times(60)) + " min"
}

// wait returns a time in hours for a sentence, in a suitable unit.
func wait(hours uncertainty.Prediction) cli.Quantity { return cli.Seconds(hours.Times(3600)) }

// lasting returns a wait without an interval.
func lasting(hours float64) cli.Quantity { return wait(uncertainty.Point(hours)) }

// wide reports whether an interval in hours is wider than a day and needs a note.
func wide(p uncertainty.Prediction) bool { return p.Bounded() && p.Width() > 24 }
