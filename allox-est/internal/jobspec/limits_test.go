package jobspec

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Each entry is accepted at its limit and refused a step beyond.
func TestSpecLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Spec)
		good   bool
	}{
		"one epoch":                  {func(s *Spec) { s.Epochs = 1 }, true},
		"no epoch":                   {func(s *Spec) { s.Epochs = 0 }, false},
		"no epoch, whole":            {func(s *Spec) { s.Epochs, s.Whole, s.Command = 0, true, []string{"a"} }, true},
		"no epoch, whole, but used":  {func(s *Spec) { s.Epochs, s.Whole = 0, true }, false},
		"one epoch, whole, and used": {func(s *Spec) { s.Epochs, s.Whole = 1, true }, true},
		"negative, whole":            {func(s *Spec) { s.Epochs, s.Whole, s.Command = -1, true, []string{"a"} }, false},
		"not used":                   {func(s *Spec) { s.Command = []string{"a"} }, false},
		"stages to the end":          {func(s *Spec) { s.Stages = Stages{{"", 0, 9}, {"", 9, 10}} }, true},
		"one stage":                  {func(s *Spec) { s.Stages = Stages{{"", 0, 9}} }, false},
		"stages beyond the end":      {func(s *Spec) { s.Stages = Stages{{"", 0, 9}, {"", 9, 12}} }, true},
		"equal fractions of all":     {func(s *Spec) { s.Sample.Fractions = []float64{1, 1} }, true},
		"fractions of more":          {func(s *Spec) { s.Sample.Fractions = []float64{1, 1.01} }, false},
		"a fraction of nothing":      {func(s *Spec) { s.Sample.Fractions = []float64{0, 1} }, false},
		"a small fraction":           {func(s *Spec) { s.Sample.Fractions = []float64{1e-9, .5} }, true},
		"falling fractions":          {func(s *Spec) { s.Sample.Fractions = []float64{.5, .49} }, false},
		"equal counts of one":        {func(s *Spec) { s.Sample.MinEpochs = []int{1, 1} }, true},
		"a count of none":            {func(s *Spec) { s.Sample.MinEpochs = []int{0, 1} }, false},
		"falling counts":             {func(s *Spec) { s.Sample.MinEpochs = []int{2, 1} }, false},
		"one count":                  {func(s *Spec) { s.Sample.MinEpochs = []int{2} }, false},
		"budget of all":              {func(s *Spec) { s.Sample.Budget, s.Sample.Target = 1, 1 }, true},
		"budget of more":             {func(s *Spec) { s.Sample.Budget = 1.01 }, false},
		"negative budget":            {func(s *Spec) { s.Sample.Budget = -.01 }, false},
		"target of more":             {func(s *Spec) { s.Sample.Target = 1.01 }, false},
		"negative target":            {func(s *Spec) { s.Sample.Target = -.01 }, false},
		"target not a number":        {func(s *Spec) { s.Sample.Target = math.NaN() }, false},
		"one repeat":                 {func(s *Spec) { s.Sample.Repeats, s.Sample.Timeout = 1, 1 }, true},
		"negative repeats":           {func(s *Spec) { s.Sample.Repeats = -1 }, false},
		"negative timeout":           {func(s *Spec) { s.Sample.Timeout = -1 }, false},
		"no threads":                 {func(s *Spec) { s.Devices = map[string]Device{CPU: {}} }, true},
		"negative threads":           {func(s *Spec) { s.Devices = map[string]Device{CPU: {Threads: -1}} }, false},
		"negative count":             {func(s *Spec) { s.Devices = map[string]Device{GPU: {Count: -1}} }, false},
		"a shell's variable":         {func(s *Spec) { s.Command = append(s.Command, "${x}") }, true},
		"text in braces":             {func(s *Spec) { s.Command = append(s.Command, "{{x}}") }, true},
		"two parameters in a word":   {func(s *Spec) { s.Command = append(s.Command, "{x}{y}"); s.Params = map[string]Scalar{"x": "1"} }, false},
		"both of them": {func(s *Spec) {
			s.Command = append(s.Command, "{x}{y}")
			s.Params = map[string]Scalar{"x": "1", "y": "2"}
		}, true},
	} {
		s := &Spec{Command: []string{"a", "{epochs}"}, Epochs: 10}
		tt.change(s)
		if err := s.Check(); (err == nil) != tt.good || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := (&Spec{}).Check()
	if strings.Contains(err.Error(), "line") {
		t.Errorf("no file has the line: %v", err)
	}
}

// A budget of at least two epochs, and fewer than the long sample's, becomes the length of the
// long sample; the short one gets two fifths of it.
func TestBudgetedLengths(t *testing.T) {
	for _, tt := range []struct {
		epochs      int
		budget      float64
		least       []int
		short, long int
	}{
		{100, .01, nil, 2, 5}, {100, .02, nil, 1, 2}, {100, .03, nil, 1, 3}, {100, .04, nil, 1, 4}, {100, .05, nil, 2, 5}, {100, .1, nil, 2, 5},
		{1000, .019, nil, 7, 19}, {1000, .02, nil, 10, 20}, {1000, .015, nil, 6, 15}, {1000, .015, []int{2, 5}, 10, 20}, {100, .03, []int{2, 5}, 2, 5},
		{100, .029, nil, 1, 2}, // a part of an epoch is none
	} {
		s := Spec{Epochs: tt.epochs, Sample: Sample{Budget: tt.budget, MinEpochs: tt.least}}
		if short, long := s.Lengths(); short != tt.short || long != tt.long {
			t.Errorf("%v of %d: %d and %d, want %d and %d", tt.budget, tt.epochs, short, long, tt.short, tt.long)
		}
	}
}

// Samples begin with the stages if the command takes one.
func TestStarts(t *testing.T) {
	stages, err := ParseStages("0-6 6-9.5 9.5-12")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		words  []string
		stages Stages
		want   []int
	}{
		{[]string{"a", "--from={stage}"}, stages, []int{0, 6, 9}}, {[]string{"a", "{stage}{x}"}, stages, []int{0, 6, 9}}, {[]string{"a", "{x}{stage}"}, stages, []int{0, 6, 9}},
		{[]string{"a"}, stages, []int{0}}, {[]string{"a", "{stage}"}, nil, []int{0}}, {[]string{"a", "${stage}", "{{stage}}"}, stages, []int{0}},
	} {
		s := &Spec{Command: tt.words, Stages: tt.stages}
		if got := s.Starts(); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.words, got, tt.want)
		}
	}
	for text, good := range map[string]bool{"": true, "0-1": true, "0-1 1-2": true, "1-2": false, "0-0": false, "0-1 2-3": false, "0": false, "0-x": false, "x-1": false, "0-1 1-.5": false} {
		if _, err := ParseStages(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestArgsByHand checks words of the command with their parameters.
func TestArgsByHand(t *testing.T) {
	s := &Spec{Command: []string{"a", "{{x}}", "{{}}", "${x}", "{x}-{epochs}", "{hw}", "{stage}"}, Params: map[string]Scalar{"x": "7"}, Devices: map[string]Device{CPU: {Threads: 3}}}
	got, err := s.Args(CPU, 5, Own{Stage: 9})
	if want := []string{"a", "{x}", "{}", "${x}", "7-5", "--cpu", "--numThreads", "3", "9"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
	for command, want := range map[string]string{"python3 -m pkg": "pkg", "python3 -u -m pkg x": "pkg", "python3 -m torch.run x.py": "x"} {
		if got := nameOf(strings.Fields(command)); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	if got := nameOf([]string{"python3", "-m"}); !strings.HasPrefix(got, "python3-") || len(got) != len("python3-")+6 {
		t.Errorf("a module without a name: %s", got)
	}
	short := &Spec{}
	if err := short.Set("devices.cpu=4"); err == nil {
		t.Error("a device is no number")
	}
	if err := short.Set("sample.target.x=4"); err == nil {
		t.Error("a target has no entries")
	}
}
