package cli

import (
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// wait returns a time in hours for a sentence, in a suitable unit.
func wait(hours uncertainty.Prediction) cli.Quantity { return cli.Seconds(hours.Times(3600)) }

// lasting returns a wait without an interval.
func lasting(hours float64) cli.Quantity { return wait(uncertainty.Point(hours)) }

// wide reports whether an interval in hours is wider than a day and needs a note.
func wide(p uncertainty.Prediction) bool { return p.IsBounded() && p.Width() > 24 }
