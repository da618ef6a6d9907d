package jobspec

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Stage is a part of a job whose units take a time of their own: those after From,
// up to To.
type Stage struct {
	Name     string
	From, To float64
}

// Stages follow each other from the job's beginning.
type Stages []Stage

// ParseStages reads stages as "0-600 600-1200 1200-1800". A stage's name is its
// text.
func ParseStages(text string) (Stages, error) {
	var stages Stages
	at := 0.0
	for _, field := range strings.Fields(text) {
		a, b, ok := strings.Cut(field, "-")
		from, err := strconv.ParseFloat(a, 64)
		to, err2 := strconv.ParseFloat(b, 64)
		if !ok || err != nil || err2 != nil || from != at || to <= from {
			return nil, fmt.Errorf("%q: want FROM-TO from %v on, as 0-600 600-1200", field, at)
		}
		stages, at = append(stages, Stage{field, from, to}), to
	}
	return stages, nil
}

// UnmarshalYAML reads the text of stages.
func (s *Stages) UnmarshalYAML(n *yaml.Node) error {
	var text string
	if err := n.Decode(&text); err != nil {
		return err
	}
	stages, err := ParseStages(text)
	if err != nil {
		return fmt.Errorf("line %d: stages: %w", n.Line, err)
	}
	*s = stages
	return nil
}
