package release

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/foretime/foretime/shared/cli"
)

//go:embed python/commands.py.tmpl
var commandsTemplate string

// Commands returns the Python module _commands of a tool, from the program's own description:
// a function with named, typed arguments for each command that answers in JSON, and a class
// for each type of its answers.
func Commands(ctx context.Context, tool, program string) ([]byte, error) {
	described, err := command{name: program}.run(ctx, "describe")
	if err != nil {
		return nil, err
	}
	var commands []cli.Command
	if err := json.Unmarshal(described, &commands); err != nil {
		return nil, fmt.Errorf("%s describe: %w", program, err)
	}
	module := &pythonModule{Tool: tool}
	for _, c := range commands {
		for _, flag := range slices.Sorted(maps.Keys(c.Answers)) {
			if err := module.add(c, flag); err != nil {
				return nil, fmt.Errorf("%s %s: %w", tool, strings.Join(c.Path, " "), err)
			}
		}
	}
	var out bytes.Buffer
	err = template.Must(template.New("").Parse(commandsTemplate)).Execute(&out, module)
	return out.Bytes(), err
}

// pythonModule holds the functions and classes of a tool.
type pythonModule struct {
	Tool      string
	Functions []pythonFunction
	Classes   []*pythonClass
}

// pythonClass is a type of an object.
type pythonClass struct {
	cli.Type
	Name, Doc string
	Fields    []pythonField
}

// pythonField is a field of a class; JSON is its name there if Python forbids that.
type pythonField struct{ Name, Hint, JSON string }

// add adds the function of a command, with a given flag if that changes the type of the answer.
func (m *pythonModule) add(c cli.Command, given string) error {
	f := pythonFunction{Command: c, Tool: m.Tool, Name: pythonName(strings.Join(append(slices.Clone(c.Path), given), "_"))}
	f.Name = strings.TrimSuffix(f.Name, "_")
	f.addPositional(given)
	for _, flag := range c.Flags {
		_, selects := c.Answers[flag.Name]
		switch {
		case flag.Name == given && flag.Type != "bool":
			flag.Required = true
		case flag.Name == given:
			f.Given = fmt.Sprintf("\n            %q: True,", given)
			continue
		case selects || flag.Name == "json" || flag.Name == "csv" || flag.Name == "keep": // keep answers again and again
			continue
		}
		f.Arguments = append(f.Arguments, pythonArgument{flag})
	}
	var err error
	f.Result, err = m.hint(c.Answers[given], f.Name)
	m.Functions = append(m.Functions, f)
	return err
}

// hint returns the Python type of a JSON type, of which it adds the classes. The function's
// name tells classes of one name apart.
func (m *pythonModule) hint(t cli.Type, function string) (hint string, err error) {
	switch t.Kind {
	case "object":
		hint, err = m.class(t, function)
	case "list", "map":
		if hint, err = m.hint(*t.Item, function); err != nil {
			return "", err
		}
		switch {
		case t.Kind == "map":
			hint = "typing.Dict[str, " + hint + "]"
		case t.Item.Kind == "object" && hint != "Estimate":
			hint = "Rows[" + hint + "]"
		default:
			hint = "typing.List[" + hint + "]"
		}
		return hint, nil // empty for null
	default:
		hint = map[string]string{"text": "str", "time": "datetime.datetime", "number": "float", "integer": "int", "boolean": "bool", "any": "object"}[t.Kind]
	}
	if t.Null {
		hint = "typing.Optional[" + hint + "]"
	}
	return hint, err
}

// class returns the name of the class of an object, which it adds.
func (m *pythonModule) class(t cli.Type, function string) (string, error) {
	if t.Object == "Prediction" {
		return "Estimate", nil
	}
	name := camelCase(cmp.Or(t.Object, function+"_answer"))
	if slices.Contains([]string{"Answer", "Estimate", "Rows"}, name) {
		name = camelCase(function) + name
	}
	t.Null = false
	for _, c := range m.Classes {
		switch {
		case c.Name != name:
		case len(t.Fields) == 0: // it is part of itself
			return `"` + name + `"`, nil
		case reflect.DeepEqual(c.Type.Fields, t.Fields):
			return name, nil
		default:
			name = camelCase(function) + name
		}
	}
	c := &pythonClass{Type: t, Name: name, Doc: "In the answer of " + function + "."}
	begin := len(m.Classes)
	m.Classes = append(m.Classes, c)
	for _, field := range t.Fields {
		if !lowerCase.MatchString(field.Name) {
			return "", fmt.Errorf("the field %s of %s has no name in JSON", field.Name, t.Object)
		}
		hint, err := m.hint(field.Type, function)
		if err != nil {
			return "", err
		}
		f := pythonField{Name: pythonName(field.Name), Hint: hint}
		if f.Name != field.Name {
			f.JSON = field.Name
		}
		c.Fields = append(c.Fields, f)
	}
	// After the classes of its fields.
	m.Classes = append(slices.Delete(m.Classes, begin, begin+1), c)
	return name, nil
}

// lowerCase matches the names of fields.
var lowerCase = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// camelCase returns the name of a class.
func camelCase(name string) string {
	var b strings.Builder
	for _, word := range strings.Split(name, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// pythonFunction is a command as a function.
type pythonFunction struct {
	cli.Command
	Tool, Name, Result string
	Positional         []string // its parameters before the named ones
	Words              string   // the list of their values
	Many               bool     // the last one takes any number
	Given              string   // the entry of a flag that is always given
	Arguments          []pythonArgument
	Dashes             string // whether its arguments are a command line
}

// place matches the name of an argument in a usage line.
var place = regexp.MustCompile(`(\[?)\b([A-Z][A-Z_]*)\b([|.A-Za-z]*)`)

// addPositional adds the parameters of the usage line, or of the one of several that names
// the given flag: words in capitals, in brackets if they may be left out.
func (f *pythonFunction) addPositional(given string) {
	usages := strings.Split(f.Use, " | ")
	usage := usages[max(0, slices.IndexFunc(usages, func(u string) bool { return given != "" && strings.Contains(u, "--"+given) }))]
	if strings.Contains(f.Use, "-- ") {
		f.Positional = []string{"command: Text", "/", "*words: Text"}
		f.Words, f.Many = "command, *words", true
		f.Dashes = "True"
		for _, u := range usages {
			if flag := regexp.MustCompile(`^[a-z]+ --([a-z]+) [A-Z]`).FindStringSubmatch(u); flag != nil && !strings.Contains(u, "-- ") {
				f.Dashes = "not " + flag[1]
			}
		}
		return
	}
	usage = regexp.MustCompile(`--?[a-z-]+ [A-Z]\S*`).ReplaceAllString(usage, "") // a flag with its value
	var words []string
	for i, m := range place.FindAllStringSubmatch(usage, -1) {
		name, hint := strings.ToLower(m[2]), "Text"
		switch {
		case m[2] == "N":
			hint = "Integer"
		case i == 0 && len(f.Values) > 0:
			hint = literal(f.Values)
		case slices.Contains([]string{"FILE", "LOG", "MODEL", "QUEUE"}, m[2]):
			hint = "Source"
		}
		f.Many = strings.HasSuffix(m[3], "...") || strings.Contains(usage, m[0]+" ...")
		switch {
		case f.Many && m[1] != "":
			f.Positional, words = append(f.Positional, "/", "*"+name+"s: "+hint), append(words, "*"+name+"s")
		case f.Many:
			f.Positional, words = append(f.Positional, name+": "+hint, "/", "*more: "+hint), append(words, name, "*more")
		case m[1] != "":
			f.Positional = append(f.Positional, name+": typing.Optional["+hint+"] = None")
			words = append(words, fmt.Sprintf("*([] if %[1]s is None else [%[1]s])", name))
		default:
			f.Positional, words = append(f.Positional, name+": "+hint), append(words, name)
		}
	}
	if len(words) > 0 && !f.Many {
		f.Positional = append(f.Positional, "/")
	}
	f.Words = strings.Join(words, ", ")
}

// literal returns the type of a choice.
func literal(values []string) string {
	return "typing.Literal[\"" + strings.Join(values, `", "`) + "\"]"
}

// Text returns the description for a docstring, indented.
func (f pythonFunction) Text() string {
	about := f.Long
	if about == "" {
		about = strings.ToUpper(f.Short[:1]) + f.Short[1:] + "."
	}
	lines := []string{strings.TrimSpace(about)}
	lines = append(lines, "", "Command: "+f.Tool+" "+strings.Join(f.Path, " ")+strings.TrimPrefix(f.Use, f.Path[len(f.Path)-1]), "Example: "+strings.TrimSpace(f.Example))
	for _, a := range f.Arguments {
		text := strings.Join(strings.Fields(a.Usage), " ")
		if a.Default != "" && a.Default != "[]" && a.Default != "false" && a.Default != "0" && a.Default != "0s" && !strings.Contains(text, "(default") {
			text += " (default " + a.Default + ")"
		}
		lines = append(lines, a.Python()+": "+text)
	}
	text := strings.ReplaceAll(strings.Join(lines, "\n"), `\`, `\\`)
	text = strings.ReplaceAll(text, `"""`, `'''`)
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n    "), "\n    \n", "\n\n")
}

// pythonArgument is a flag as an argument.
type pythonArgument struct{ cli.Flag }

// Python returns the argument's name.
func (a pythonArgument) Python() string { return pythonName(a.Name) }

// Hint returns the argument's type.
func (a pythonArgument) Hint() string {
	kind := map[string]string{
		"bool": "bool", "int": "Integer", "int32": "Integer", "uint": "Integer", "float": "Number", "duration": "Duration", "time": "Duration",
		"date": "Date", "ints": "typing.Sequence[Integer]", "file": "Source", "files": "Source",
	}[a.Type]
	switch {
	case a.List && strings.Contains(a.Type, "="):
		kind = "Settings"
	case len(a.Values) > 0 && !strings.Contains(strings.Join(a.Values, ""), ":"):
		kind = literal(a.Values)
	case kind == "":
		kind = "Text"
	}
	if a.List && a.Type != "ints" && kind != "Settings" {
		kind = "typing.Union[" + kind + ", typing.Sequence[" + kind + "]]"
	}
	if a.Bare {
		kind = "typing.Union[bool, " + kind + "]"
	}
	if !a.Required {
		kind = "typing.Optional[" + kind + "] = None"
	}
	return kind
}

// Value returns the expression that is passed on.
func (a pythonArgument) Value() string {
	if a.Type == "duration" || a.Type == "time" {
		return fmt.Sprintf("as_duration(%q, %s)", a.Python(), a.Python())
	}
	return a.Python()
}

// keywords lists the words of Python that commands or flags could be called.
var keywords = []string{"from", "import", "class", "global", "lambda", "pass", "with", "as", "in", "is", "not", "or", "and", "for", "if", "while", "try", "return"}

// pythonName returns a name that Python accepts.
func pythonName(name string) string {
	name = strings.ReplaceAll(strings.ReplaceAll(name, "-", "_"), " ", "_")
	if slices.Contains(keywords, name) {
		name += "_"
	}
	return name
}
