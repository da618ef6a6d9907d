package jobspec

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Set replaces one entry of a description, given as "NAME=VALUE": a parameter by its name,
// or any other entry of one value by its path in the file, as "sample.budget=0.05". The error
// wraps ErrInvalid.
func (s *Spec) Set(text string) error {
	path, value, ok := strings.Cut(text, "=")
	names := strings.Split(path, ".")
	if !ok || strings.TrimSpace(path) == "" {
		return fmt.Errorf("%w: %q, want NAME=VALUE", ErrInvalid, text)
	}
	if len(names) == 1 && path != "epochs" && (s.usesParameter(path) || !slices.Contains([]string{"name", "dir", "command", "unit", "stages"}, path)) {
		if s.Params == nil {
			s.Params = map[string]Scalar{}
		}
		s.Params[path] = Scalar(value)
		return nil
	}
	if err := checkCounts(&yaml.Node{Kind: yaml.ScalarNode, Value: value}, path); err != nil {
		return err
	}
	var typeError *yaml.TypeError
	switch err := s.decode(names, value); {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "not found in type"):
		return fmt.Errorf("%w: %s: no such entry in a job file", ErrInvalid, path)
	case errors.As(err, &typeError):
		return fmt.Errorf("%w: %s: the value has the wrong type", ErrInvalid, text)
	default:
		return fmt.Errorf("%w: %s: %s", ErrInvalid, text, lineNumber.ReplaceAllString(err.Error(), ""))
	}
}

// lineNumber matches the place in a file that an error of an entry begins with.
var lineNumber = regexp.MustCompile(`^line \d+: `)

// decode stores a value at a path of the file. The YAML decoder merges structs but replaces
// the values of maps whole, so an entry of a device is decoded into that device.
func (s *Spec) decode(names []string, value string) error {
	if names[0] != "devices" || len(names) < 3 {
		return decodeEntry(names, value, s)
	}
	d := s.Devices[names[1]]
	if err := decodeEntry(names[2:], value, &d); err != nil {
		return err
	}
	if s.Devices == nil {
		s.Devices = map[string]Device{}
	}
	s.Devices[names[1]] = d
	return nil
}

func decodeEntry(names []string, value string, into any) error {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	for _, name := range slices.Backward(names) {
		node = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, node}}
	}
	file, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(file))
	dec.KnownFields(true)
	return dec.Decode(into)
}

// usesParameter reports whether the command contains a parameter.
func (s *Spec) usesParameter(name string) bool {
	return slices.ContainsFunc(s.Command, func(word string) bool {
		return slices.Contains(parameter.FindAllString(word, -1), "{"+name+"}")
	})
}
