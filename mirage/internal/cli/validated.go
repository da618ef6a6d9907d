package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/validation"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// subject identifies a validation: its policy, log, date, costs and service.
type subject struct {
	Model        string         `json:"model"`
	Log          string         `json:"log"`
	Date         string         `json:"date"` // of the validation, UTC
	OverlapCost  float64        `json:"overlap_cost"`
	Nodes        int            `json:"service_nodes"`
	LimitSeconds int64          `json:"service_limit_seconds"`
	Settings     map[string]any `json:"settings"`
}

// validated is the JSON output of mirage validate, which provision --model reads.
type validated struct {
	subject
	validation.Summary
	Versus  map[string]validation.Paired `json:"versus,omitempty"`
	Verdict string                       `json:"verdict,omitempty"`
}

// readValidated reads the output of mirage validate --json; nil if the name is a baseline
// or another kind of file.
func readValidated(name string) (*validated, error) {
	if _, err := policy.Baselines().Find(name); err == nil {
		return nil, nil
	}
	b, err := file.ReadAll(name)
	if errors.Is(err, fs.ErrNotExist) { // the model's name is wrong
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var j validated
	if json.Unmarshal(b, &j) != nil || j.Date == "" { // a model file, or a broken one
		return nil, nil
	}
	if j.Model == "" || j.Episodes < 1 || !(j.OverlapCost >= 0) {
		return nil, fmt.Errorf("%s: not the output of mirage validate --json: it has no model, episodes or overlap_cost", name)
	}
	switch j.Model {
	case oracle:
		return nil, cli.Usagef("--model %s: it validates the oracle, which knows the future", name)
	case array:
		return nil, cli.Usagef("--model %s: it validates an array, which sbatch --array=1-N%%1 keeps running without a policy", name)
	}
	return &j, nil
}

// apply makes the settings those of the validation and warns of differences.
func (j *validated) apply(s *settings, warn func(format string, args ...any)) {
	if s.Policy == nil {
		s.Policy = map[string]float64{}
	}
	for _, b := range policy.Baselines() {
		k := b.New.Knob
		if k == nil {
			continue
		}
		value, tested := j.Settings[k.Name].(float64)
		if own, given := s.Policy[k.Name]; !tested || given && own == value {
			continue
		} else if given {
			warn("policy.%s is %v, the validation of %s had %v", k.Name, own, j.Date, value)
			continue
		}
		s.Policy[k.Name] = value
	}
	if s.source.Given("decide.overlap_cost") && s.Decide.OverlapCost != j.OverlapCost {
		warn("decide.overlap_cost is %v, the validation of %s had %v", s.Decide.OverlapCost, j.Date, j.OverlapCost)
	}
	if v := s.Service; v.Nodes != j.Nodes || int64(v.Limit) != j.LimitSeconds {
		warn("the validation of %s was for a service of %s and %v, not for %s and %v", j.Date, plural.Count(j.Nodes, "node"), span(j.LimitSeconds), plural.Count(v.Nodes, "node"), v.Limit)
	}
}
