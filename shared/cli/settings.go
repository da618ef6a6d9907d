package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/shared/file"
)

// Settings are the fields of a struct that describes a machine, a log, rules or a
// service. Each has the name of its json tag and a help tag. A YAML file (or JSON,
// which is YAML) gives them in sections, which are nested structs; --set
// section.name=value overrides one. A setting that neither gives keeps the struct's
// value.
type Settings struct {
	into  any // pointer to the struct
	file  string
	set   []string
	given map[string]bool
}

// NewSettings returns the settings of into, a pointer to a struct.
func NewSettings(into any) *Settings { return &Settings{into: into, given: map[string]bool{}} }

// Flags adds --config and --set to c, and the settings to its help.
func (s *Settings) Flags(c *cobra.Command) {
	c.Flags().StringVar(&s.file, "config", "", "settings file, YAML or JSON")
	c.Flags().StringArrayVar(&s.set, "set", nil, "one setting, `KEY=VALUE`; may be repeated")
	must(c.MarkFlagFilename("config", "yaml", "yml", "json"))
	must(c.RegisterFlagCompletionFunc("set", s.complete))
	annotate(c, map[string]string{ownUsage: "settings"})
	c.SetUsageFunc(func(c *cobra.Command) error { return showUsage(c, s.help()) })
}

// File returns the name of the settings file, or "".
func (s *Settings) File() string { return s.file }

// Given reports whether the file or a --set gives the setting or section at a path.
func (s *Settings) Given(path string) bool { return s.given[path] }

// Load reads the file, then each --set. An unknown name is an error that gives its
// place and the closest known name; so is a value of another type.
func (s *Settings) Load() error {
	if s.file != "" {
		text, err := file.ReadAll(s.file)
		if err != nil {
			return err
		}
		if err := s.read(s.file, text); err != nil {
			return err
		}
	}
	for _, one := range s.set {
		path, text, ok := strings.Cut(one, "=")
		if !ok {
			return Usagef("--set %s: want KEY=VALUE", one)
		}
		value := yaml.Node{Kind: yaml.ScalarNode, Value: text}
		if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
				return Usagef("--set %s: %w", one, err)
			}
			value = *doc.Content[0]
		}
		for _, key := range slices.Backward(strings.Split(path, ".")) {
			value = yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: key}, new(value)}}
		}
		if err := s.setFields(reflect.ValueOf(s.into).Elem(), &value, "", func(int) string { return "--set " + one }); err != nil {
			return &UsageError{err}
		}
	}
	return nil
}

func (s *Settings) read(name string, text []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("%s: not a settings file: %w", name, err)
	}
	if len(doc.Content) == 0 { // empty
		return nil
	}
	return s.setFields(reflect.ValueOf(s.into).Elem(), doc.Content[0], "", func(line int) string { return fmt.Sprintf("%s:%d", name, line) })
}

// setFields sets the fields of a struct by the keys of a mapping.
func (s *Settings) setFields(to reflect.Value, node *yaml.Node, under string, place func(line int) string) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("%s: %q: want a section of names and values", place(node.Line), strings.TrimSuffix(under, "."))
	}
	fields := map[string]reflect.Value{}
	eachField(to, func(name, _ string, f reflect.Value) { fields[name] = f })
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field, ok := fields[key.Value]
		if !ok {
			return fmt.Errorf("%s: unknown setting %q%s", place(key.Line), under+key.Value, suggestion(key.Value, slices.Collect(maps.Keys(fields))))
		}
		s.given[under+key.Value] = true
		if section(field) && value.Tag != "!!null" {
			if err := s.setFields(field, value, under+key.Value+".", place); err != nil {
				return err
			}
		} else if err := decode(field, value); err != nil {
			return fmt.Errorf("%s: %s: %w", place(value.Line), under+key.Value, err)
		}
	}
	return nil
}

// decode sets a field by JSON's rules. A text is also parsed as a number or a
// boolean; an unknown field of the type is an error.
func decode(field reflect.Value, node *yaml.Node) error {
	var plain any
	if node.Kind == yaml.ScalarNode && field.Kind() == reflect.String {
		plain = node.Value
	} else if err := node.Decode(&plain); err != nil {
		return err
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(field.Addr().Interface()); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("%s: want %s", strings.TrimSpace(string(text)), describeType(field.Type()))
		}
		return err
	}
	return nil
}

// describeType says what a setting of a type may be.
func describeType(t reflect.Type) string {
	kinds := map[string]string{"boolean": "true or false", "integer": "a whole number", "number": "a number", "text": "a text", "list": "a list"}
	return cmp.Or(kinds[jsonType(t, nil).Kind], t.String())
}

// section reports whether a field is a section: a struct without an unmarshaller.
func section(f reflect.Value) bool {
	_, own := f.Addr().Interface().(json.Unmarshaler)
	return f.Kind() == reflect.Struct && !own
}

// eachField yields the fields that have a json name, including those of embedded
// structs.
func eachField(to reflect.Value, yield func(name, help string, f reflect.Value)) {
	for i := range to.NumField() {
		field := to.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			eachField(to.Field(i), yield)
		case name != "" && name != "-":
			yield(name, field.Tag.Get("help"), to.Field(i))
		}
	}
}

// eachSetting yields every setting that has a help text, with its path.
func (s *Settings) eachSetting(yield func(path, help string, f reflect.Value)) {
	var walk func(under string, v reflect.Value)
	walk = func(under string, v reflect.Value) {
		eachField(v, func(name, help string, f reflect.Value) {
			if section(f) {
				walk(under+name+".", f)
			} else if help != "" {
				yield(under+name, help, f)
			}
		})
	}
	walk("", reflect.ValueOf(s.into).Elem())
}

// complete returns the settings' paths with their help for shell completion.
func (s *Settings) complete(*cobra.Command, []string, string) (paths []cobra.Completion, _ cobra.ShellCompDirective) {
	s.eachSetting(func(path, help string, _ reflect.Value) {
		paths = append(paths, cobra.CompletionWithDesc(path+"=", help))
	})
	return paths, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// help returns one line per setting: its path, help and default. A setting without
// a help tag is not shown.
func (s *Settings) help() string {
	var t Table
	s.eachSetting(func(path, help string, f reflect.Value) {
		value := ""
		if !f.IsZero() {
			value = fmt.Sprintf(" (default %v)", f.Interface())
		}
		t.Add("  "+path, help+value)
	})
	var b strings.Builder
	_, err := t.WriteTo(&b)
	must(err) // a strings.Builder returns none
	return b.String()
}
