package model

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/linear"
)

// squash makes each x sign(x)·log(1+|x|), so that counts, minutes and seconds
// have spreads alike.
func squash(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Copysign(math.Log1p(math.Abs(v)), v)
	}
	return out
}

// squashed are samples with squashed features.
func squashed(s regression.Samples) regression.Samples {
	s.X = squash(s.X)
	return s
}

// line is a fitted ridge regression as it is stored.
type line struct {
	Intercept    float64   `json:"intercept"`
	Coefficients []float64 `json:"coefficients"`
}

func (l *line) Hours(x []float64) (float64, error) {
	if err := regression.CheckRow(x, len(l.Coefficients), false); err != nil {
		return 0, err
	}
	y := l.Intercept
	for i, v := range squash(x) {
		y += l.Coefficients[i] * v
	}
	return max(0, y), nil
}

func (l *line) Save() ([]byte, error) { return json.Marshal(l) }

func loadLine(b []byte) (Scorer, error) {
	l := new(line)
	if err := json.Unmarshal(b, l); err != nil {
		return nil, err
	}
	return l, nil
}

// penalties are tried in turn; the later samples choose.
var penalties = []float64{1, 10, 100, 1000}

// fitRidge fits a ridge regression.
func fitRidge(_ context.Context, train, held regression.Samples, _ Settings) (Scorer, string, error) {
	var best *line
	least, penalty := math.Inf(1), 0.0
	for _, p := range penalties {
		m, err := linear.Ridge{Penalty: p, Scaled: true}.Fit(context.Background(), squashed(train))
		if err != nil {
			return nil, "", err
		}
		l := &line{m.Intercept, m.Coefficients}
		sum := 0.0
		for i := range held.Y {
			y, err := l.Hours(held.Row(i))
			if err != nil {
				return nil, "", err
			}
			sum += math.Abs(y - held.Y[i])
		}
		if sum < least {
			best, least, penalty = l, sum, p
		}
	}
	return best, fmt.Sprintf("penalty %g", penalty), nil
}

func ridge() Learner { return Learner{Fit: fitRidge, Load: loadLine} }
