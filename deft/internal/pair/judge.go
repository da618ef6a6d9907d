package pair

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Case is a measured pair with its prediction from pairs that do not contain one of its
// programs.
type Case struct {
	Device    string                 `json:"device,omitempty"`
	Model     string                 `json:"model"`
	Other     string                 `json:"other"`
	LeftOut   string                 `json:"without"` // the program left out
	Speed     float64                `json:"speed"`   // measured, relative to alone
	Predicted uncertainty.Prediction `json:"predicted"`
	Relatives bool                   `json:"relatives"` // from programs whose names differ in numbers only
}

// Score summarises the errors of predictions on a device.
type Score struct {
	Device string  `json:"device,omitempty"`
	Cases  int     `json:"cases"`
	Models int     `json:"models"`
	Error  float64 `json:"median_absolute_error"` // of the relative speed
	Inside float64 `json:"held"`                  // share of the measurements inside their interval
	Width  float64 `json:"median_width"`
	// The same error of two rules: half the speed for each program, and the mean speed of
	// the programs that were measured next to the same partner.
	Half    float64  `json:"half_error"`
	Partner *float64 `json:"partner_error,omitempty"` // nil: no partner has other programs
}

// Judge predicts every pair of each device with one program left out at a time: neither
// the prediction nor its interval uses a measurement of that program. Devices with too few
// pairs have no score; the error names them.
func Judge(rows []Row) (scores []Score, cases []Case, err error) {
	var devices []string
	for _, r := range rows {
		devices = append(devices, r.Device)
	}
	slices.Sort(devices)
	for _, device := range slices.Compact(devices) {
		own := remove(rows, func(r Row) bool { return r.Device != device })
		all, failed := judge(own)
		if failed == nil && len(all) == 0 {
			failed = fmt.Errorf("%s: %w: no pair is left without the rows of one program", cmp.Or(device, "pairs"), uncertainty.ErrTooFew)
		}
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
		if err != nil {
			return err
		}
		for _, r := range left {
			predicted, relatives := m.Predict(r.Model, r.Other)
			cases = append(cases, Case{r.Device, r.Model, r.Other, name, r.Speed, predicted, relatives})
		}
		return nil
	})
	return cases, err
}

func score(device string, rows []Row, cases []Case) Score {
	s := Score{Device: device, Cases: len(cases), Models: len(names(rows))}
	var errs, width, half, partner []float64
	for _, c := range cases {
		errs, width, half = append(errs, math.Abs(c.Predicted.Value-c.Speed)), append(width, c.Predicted.Width()), append(half, math.Abs(0.5-c.Speed))
		if c.Predicted.Contains(c.Speed) {
			s.Inside += 1 / float64(len(cases))
		}
		same := remove(rows, func(r Row) bool {
			return r.contains(c.LeftOut) || r.Other != c.Other && r.Model != c.Model
		})
		if len(same) > 0 {
			partner = append(partner, math.Abs(mean(same)-c.Speed))
		}
	}
	s.Error, s.Width, s.Half = stats.Median(errs), stats.Median(width), stats.Median(half)
	if len(partner) > 0 {
		median := stats.Median(partner)
		s.Partner = &median
	}
	return s
}

// ErrDevice is returned for a device that the table does not contain, and if none is named
// and the table has several.
var ErrDevice = errors.New("which device?")

// OnDevice returns the rows of one device; if device is empty, of the only one.
func OnDevice(rows []Row, device string) ([]Row, error) {
	var all []string
	for _, r := range rows {
		all = append(all, r.Device)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if device != "" && len(all) == 1 && all[0] == "" {
		return nil, fmt.Errorf("device %q: %w The table has no column device", device, ErrDevice)
	}
	if device == "" && len(all) > 1 || device != "" && !slices.Contains(all, device) {
		return nil, fmt.Errorf("device %q: %w The table has %q", device, ErrDevice, all)
	}
	return remove(rows, func(r Row) bool { return device != "" && r.Device != device }), nil
}
