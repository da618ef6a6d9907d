package jobspec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Set sets one thing of a description, as "NAME=VALUE": a parameter by its name,
// or anything else by its path in the file, as "run.cpu_weight=5000". The error
// wraps ErrInvalid.
func (s *Spec) Set(text string) error {
	path, value, ok := strings.Cut(text, "=")
	names := strings.Split(path, ".")
	if !ok || strings.TrimSpace(path) == "" {
		return fmt.Errorf("%w: %q, want NAME=VALUE", ErrInvalid, text)
	}
	if len(names) == 1 && (s.takes(path) || !slices.Contains([]string{"unit", "time_writer", "parse", "stages"}, path)) {
		if s.Params == nil {
			s.Params = map[string]Scalar{}
		}
		s.Params[path] = Scalar(value)
		return nil
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	for _, name := range slices.Backward(names) {
		node = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, node}}
	}
	file, err := yaml.Marshal(node)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, text, err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(file))
	dec.KnownFields(true)
	switch err := dec.Decode(s); {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "not found in type"):
		return fmt.Errorf("%w: %s: no such entry in a job file", ErrInvalid, path)
	}
	return fmt.Errorf("%w: %s: the value has the wrong type", ErrInvalid, text)
}

// takes says that the command has a place for a parameter.
func (s *Spec) takes(name string) bool {
	return slices.ContainsFunc(s.Command, func(word string) bool {
		return slices.Contains(parameter.FindAllString(word, -1), "{"+name+"}")
	})
}

// Run holds the way in which runs of the job are made. It does not belong to the command.
type Run struct {
	// CPUWeight is the weight of the job's cgroup on the processor, 1 to 10000, to
	// shield it from other work; 0 is as any other.
	CPUWeight int `yaml:"cpu_weight,omitempty"`
	// Cgroup holds each run in a cgroup where one can be made, which is the default.
	Cgroup *bool `yaml:"cgroup,omitempty"`
	// KeyEnv are variables that change how long the job takes: runs made with other
	// values do not count.
	KeyEnv Names `yaml:"key_env,omitempty"`
	// Logs is a folder for what each run prints, a file a run; empty keeps none.
	Logs string `yaml:"logs,omitempty"`
}

// InCgroup says that runs are to be held in a cgroup.
func (r Run) InCgroup() bool { return r.Cgroup == nil || *r.Cgroup }

func (r Run) check() error {
	if r.CPUWeight < 0 || r.CPUWeight > 10000 {
		return fmt.Errorf("%w: run: cpu_weight: %d, want 1 to 10000", ErrInvalid, r.CPUWeight)
	}
	return nil
}

// Names is a list, or one text with commas.
type Names []string

// UnmarshalYAML reads either.
func (n *Names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = strings.Split(node.Value, ",")
		return nil
	}
	return node.Decode((*[]string)(n))
}
