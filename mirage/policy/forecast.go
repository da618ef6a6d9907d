package policy

import (
	"errors"

	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrForecast is returned when a policy that needs a forecast of the queue is
// asked where there is none.
var ErrForecast = errors.New("there is no forecast of the queue")

// QueueForecast submits when the predecessor has as long to run as the queue itself
// predicts a successor to wait: a weighted mean of the forecasts with full
// and with partly used time limits. It learns nothing.
type QueueForecast struct {
	Full float64 // weight of the forecast with full limits, in [0, 1]
}

// Decide says submit when the predicted wait is reached.
func (f QueueForecast) Decide(s *State) (Decision, error) {
	if s.Forecast == nil {
		return Decision{}, ErrForecast
	}
	waits, err := s.Forecast()
	if err != nil {
		return Decision{}, err
	}
	return waitOf(s, uncertainty.Point(f.Full*waits[0]+(1-f.Full)*waits[1])), nil
}

func queueForecast() Baseline {
	return Baseline{
		Policy: func(full float64) Policy { return QueueForecast{Full: full} },
		Knob: &Knob{
			Name: "weight_of_full_limits", Help: "weight of jobs using their full limits against two fifths",
			Most:    1,
			Choices: []float64{0, 0.25, 0.5, 0.75, 1},
		},
		Forecasts: true, Rival: true,
	}
}
