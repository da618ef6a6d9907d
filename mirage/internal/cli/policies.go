package cli

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/shared/cli"
)

// knobs are the flags that set the baselines.
type knobs struct {
	values  map[string]*float64
	changed func(string) bool
}

// flags adds a flag for each baseline that has a setting; otherwise says what
// happens without it, where that is not the default.
func (k *knobs) flags(f *pflag.FlagSet, otherwise string) {
	k.values, k.changed = map[string]*float64{}, f.Changed
	for _, b := range policy.Baselines() {
		if b.New.Knob == nil {
			continue
		}
		help, value := "for "+b.Name+": "+b.New.Knob.Help, b.New.Knob.Default
		if otherwise != "" {
			help, value = help+", "+otherwise, 0
		}
		k.values[b.New.Knob.Flag] = f.Float64(b.New.Knob.Flag, value, help)
	}
}

// setting is what a flag says, or its default with given false.
func (k *knobs) setting(knob *policy.Knob) (setting float64, given bool, err error) {
	setting, given = *k.values[knob.Flag], k.changed(knob.Flag)
	if err := knob.Check(setting); err != nil {
		return 0, given, cli.Usagef("%w", err)
	}
	return setting, given, nil
}

// openModel reads the model that --model names, which is none of the baselines
// and of the others that are named.
func openModel(name string, others ...string) (*model.Model, error) {
	if _, err := os.Stat(name); err != nil {
		names := append(policy.Baselines().Names(), others...)
		return nil, cli.Usagef("--model %s: neither a baseline (%s) nor a model file: %w", name, strings.Join(names, ", "), err)
	}
	return model.Load(name)
}
