package pair

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Case is a measured pair, predicted from pairs that one of its programs is not
// in.
type Case struct {
	Device   string                 `json:"device,omitempty"`
	Model    string                 `json:"model"`
	Other    string                 `json:"other"`
	Without  string                 `json:"without"` // the program left out
	Speed    float64                `json:"speed"`   // measured, as a share of that alone
	Told     uncertainty.Prediction `json:"predicted"`
	Relative bool                   `json:"relatives"` // told by names that differ in numbers alone
}

// Score is how far predictions were off on a device.
type Score struct {
	Device string  `json:"device,omitempty"`
	Cases  int     `json:"cases"`
	Models int     `json:"models"`
	Error  float64 `json:"median_absolute_error"` // of the relative speed
	Held   float64 `json:"held"`                  // share of the intervals that held what was measured
	Width  float64 `json:"median_width"`
	// The same error of two rules: each program at half its speed, and the mean
	// speed of the programs that the other one was measured beside.
	Half    float64 `json:"half_error"`
	Partner float64 `json:"partner_error"`
}

// Judge predicts every pair of each device with one program left out at a time:
// nothing of it is in what predicts it, nor in what its interval is made from.
// Devices with too few pairs are left out, and are in the error beside the others.
func Judge(rows []Row) (scores []Score, cases []Case, err error) {
	var devices []string
	for _, r := range rows {
		devices = append(devices, r.Device)
	}
	slices.Sort(devices)
	for _, device := range slices.Compact(devices) {
		own := without(rows, func(r Row) bool { return r.Device != device })
		all, failed := judge(own)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		scores, cases = append(scores, score(device, own, all)), append(cases, all...)
	}
	return scores, cases, err
}

func judge(rows []Row) (cases []Case, err error) {
	err = leaveOut(rows, func(name string, rest, left []Row) error {
		m, err := Fit(rest)
		for _, r := range left {
			if err == nil {
				told, relative := m.Predict(r.Model, r.Other)
				cases = append(cases, Case{r.Device, r.Model, r.Other, name, r.Speed, told, relative})
			}
		}
		return err
	})
	return cases, err
}

func score(device string, rows []Row, cases []Case) Score {
	s := Score{Device: device, Cases: len(cases), Models: len(names(rows))}
	var off, width, half, partner []float64
	for _, c := range cases {
		off, width, half = append(off, math.Abs(c.Told.Value-c.Speed)), append(width, c.Told.Width()), append(half, math.Abs(0.5-c.Speed))
		if c.Told.Contains(c.Speed) {
			s.Held += 1 / float64(len(cases))
		}
		beside := without(rows, func(r Row) bool {
			return r.has(c.Without) || r.Other != c.Other && r.Model != c.Model
		})
		if len(beside) > 0 {
			partner = append(partner, math.Abs(mean(beside)-c.Speed))
		}
	}
	s.Error, s.Width, s.Half, s.Partner = stats.Median(off), stats.Median(width), stats.Median(half), stats.Median(partner)
	return s
}

// ErrDevice is returned for a device that the table does not have, and if none is named
// and it has several.
var ErrDevice = errors.New("which device?")

// Of returns the rows of one device; if device is empty, of the only one.
func Of(rows []Row, device string) ([]Row, error) {
	var all []string
	for _, r := range rows {
		all = append(all, r.Device)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if device == "" && len(all) > 1 || device != "" && !slices.Contains(all, device) {
		return nil, fmt.Errorf("device %q: %w The table has %q", device, ErrDevice, all)
	}
	return without(rows, func(r Row) bool { return device != "" && r.Device != device }), nil
}
