package profiler

import (
	"math"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Scores measure how well times, and the choices that follow from them, were
// predicted. What does not exist for the data is nil.
type Scores struct {
	MAE      *float64 `json:"mae"` // seconds
	RMSE     *float64 `json:"rmse"`
	R2       *float64 `json:"r2"`
	MAPE     *float64 `json:"mape"` // a fraction, as all below
	Within5  *float64 `json:"within_5"`
	Within10 *float64 `json:"within_10"`
	Spearman *float64 `json:"spearman"`
	// Top1 is the share of models whose fastest device was predicted, among those
	// measured on several.
	Top1 *float64 `json:"top1"`
	// Regret is the time on the predicted devices over that on the fastest, less
	// 1, on average; RegretSeconds is their mean difference.
	Regret        *float64 `json:"regret"`
	RegretSeconds *float64 `json:"regret_seconds"`
}

// Report holds the results of a validation.
type Report struct {
	Validation Validation `json:"cv"`
	Rows       int        `json:"rows"`
	Dropped    int        `json:"dropped_rows"` // not usable, or without a time
	Models     int        `json:"models"`
	Families   int        `json:"families"`
	Devices    int        `json:"devices"`
	Tests      int        `json:"tests"`
	Method     string     `json:"method"` // whose scores are the report's own
	Scores
	// Coverage is the share of tests within intervals from the other families'
	// errors.
	Coverage *float64 `json:"coverage"`
	// Ceiling is the share of measurements whose repeat is within 10 %.
	Ceiling *float64 `json:"repeat_within_10"`
	// MostFastest is the share of models that the most frequent fastest device
	// wins.
	MostFastest *float64          `json:"most_frequent_fastest"`
	Methods     map[string]Scores `json:"methods"`
	Baselines   map[string]Scores `json:"baselines"`
	// Tested are the predictions, for plots.
	Tested []Tested `json:"-"`
}

// Tested is one prediction of what was left out.
type Tested struct {
	Model, Family, Setting string
	Actual, Predicted      float64
}

// report scores a judgement.
func (j *judgement) report(d *measurement.Data, v Validation) (*Report, error) {
	r := &Report{
		Validation: v, Rows: len(d.Rows), Dropped: d.Counts.Dropped + d.Missing, Tests: len(j.tests), Families: len(families(j.cases)),
		Methods: map[string]Scores{}, Baselines: map[string]Scores{},
	}
	models := map[string]bool{}
	for _, c := range j.cases {
		if c.Family != Operators {
			models[c.Model] = true
		}
	}
	_, settings := bySetting(j.cases)
	r.Models, r.Devices = len(models), len(settings)
	r.Method = MethodWhole
	if j.predicted[MethodKernels] != nil {
		r.Method = MethodKernels
	}
	for name, p := range j.predicted {
		scores, err := j.scores(p)
		if err != nil {
			return nil, err
		}
		switch name {
		case MethodKernels, MethodRates, MethodWhole:
			r.Methods[name] = scores
		default:
			r.Baselines[name] = scores
		}
	}
	r.Scores = r.Methods[r.Method]
	r.Ceiling, r.MostFastest = j.ceiling(), j.mostFastest()
	r.Coverage = j.coverage(j.predicted[r.Method])
	for i, t := range j.tests {
		c := &j.cases[t.of]
		if p := j.predicted[r.Method][i]; p > 0 {
			r.Tested = append(r.Tested, Tested{c.Model, c.Family, c.Setting, t.actual, p})
		}
	}
	return r, nil
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// scores of one method.
func (j *judgement) scores(predicted []float64) (Scores, error) {
	var s Scores
	var actual, answers []float64
	for i, t := range j.tests {
		if !math.IsNaN(predicted[i]) {
			actual, answers = append(actual, t.actual), append(answers, predicted[i])
		}
	}
	m, err := regression.Evaluate(actual, answers)
	if err != nil {
		return s, err
	}
	s = Scores{
		MAE: finite(m.MAE), RMSE: finite(m.RMSE), R2: finite(m.R2), MAPE: finite(m.MAPE), Within5: finite(m.Within5), Within10: finite(m.Within10), Spearman: finite(m.Spearman),
	}
	// A model's predicted device is the one with the smallest mean prediction.
	type mean struct{ sum, n float64 }
	byModel := map[string]map[string]mean{}
	for i, t := range j.tests {
		c := &j.cases[t.of]
		if byModel[c.Model] == nil {
			byModel[c.Model] = map[string]mean{}
		}
		if p := predicted[i]; !math.IsNaN(p) {
			m := byModel[c.Model][c.Setting]
			byModel[c.Model][c.Setting] = mean{m.sum + p, m.n + 1}
		}
	}
	choices := map[string]string{}
	for model, devices := range byModel {
		best, shortest := "", math.Inf(1)
		for setting, m := range devices {
			if p := m.sum / m.n; p < shortest || p == shortest && setting < best {
				best, shortest = setting, p
			}
		}
		choices[model] = best
	}
	j.place(&s, choices)
	return s, nil
}

// place scores the choice of a device for each model.
func (j *judgement) place(s *Scores, choices map[string]string) {
	times := j.times()
	hits, n, chosen, fastest := 0.0, 0.0, 0.0, 0.0
	ratios := 0.0
	for _, model := range sortedKeys(times) {
		devices := times[model]
		choice, measured := devices[choices[model]]
		if len(devices) < 2 || !measured {
			continue
		}
		_, best := minimum(devices)
		n++
		if choice == best {
			hits++
		}
		chosen += choice
		fastest += best
		ratios += choice/best - 1
	}
	if n > 0 {
		s.Top1, s.Regret, s.RegretSeconds = finite(hits/n), finite(ratios/n), finite((chosen-fastest)/n)
	}
}

// times are the measured times of each tested model by setting.
func (j *judgement) times() map[string]map[string]float64 {
	times := map[string]map[string]float64{}
	for _, t := range j.tests {
		c := &j.cases[t.of]
		if times[c.Model] == nil {
			times[c.Model] = map[string]float64{}
		}
		times[c.Model][c.Setting] = c.Seconds
	}
	return times
}

func minimum(times map[string]float64) (string, float64) {
	best, shortest := "", math.Inf(1)
	for name, t := range times {
		if t < shortest || t == shortest && name < best {
			best, shortest = name, t
		}
	}
	return best, shortest
}

func (j *judgement) mostFastest() *float64 {
	wins, n := map[string]float64{}, 0.0
	for _, devices := range j.times() {
		if len(devices) > 1 {
			best, _ := minimum(devices)
			wins[best]++
			n++
		}
	}
	most := 0.0
	for _, w := range wins {
		most = max(most, w)
	}
	return finite(most / n)
}

func (j *judgement) ceiling() *float64 {
	within, n := 0.0, 0.0
	for _, c := range j.cases {
		if c.Family == Operators || math.IsNaN(c.Repeat) {
			continue
		}
		n++
		if math.Abs(c.Repeat-1) <= 0.1 {
			within++
		}
	}
	return finite(within / n)
}

// coverage compares each family with intervals from the others, setting by setting; nil if
// there are too few to judge.
func (j *judgement) coverage(predicted []float64) *float64 {
	type part struct{ family, setting string }
	parts := map[part][]int{} // of tests
	for i, t := range j.tests {
		c := &j.cases[t.of]
		if predicted[i] > 0 {
			parts[part{c.Family, c.Setting}] = append(parts[part{c.Family, c.Setting}], i)
		}
	}
	var cases []uncertainty.Case
	for own, tests := range parts {
		var others []Error
		for other, tests := range parts {
			for _, i := range tests {
				if other.family != own.family && other.setting == own.setting {
					others = append(others, Error{Measured: j.tests[i].actual, Predicted: predicted[i]})
				}
			}
		}
		if len(others) < FewestModels {
			continue
		}
		band := bandOf(others)
		for _, i := range tests {
			cases = append(cases, uncertainty.Case{Prediction: band.Predict(predicted[i]), Actual: j.tests[i].actual, Block: own.family})
		}
	}
	v, err := uncertainty.Judge(Level, cases)
	if err != nil {
		return nil
	}
	return &v.Coverage.Value
}
