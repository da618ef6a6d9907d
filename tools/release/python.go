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
			module.addFunction(c, flag)
		}
	}
	var out bytes.Buffer
	err = template.Must(template.New("").Funcs(pythonWords).Parse(commandsTemplate)).Execute(&out, module)
	return out.Bytes(), err
}

// pythonModule holds the functions and classes of a tool.
type pythonModule struct {
	Tool      string
	Functions []pythonFunction
	Classes   []pythonClass
}

// pythonClass is an object in the answer of a function.
type pythonClass struct {
	cli.Type
	Function string
}

// pythonFunction is a command as a function.
type pythonFunction struct {
	cli.Command
	Name, Given string // the flag that is always given, which decides the type of the answer
	Answer      cli.Type
	Positional  []pythonParameter
	Arguments   []cli.Flag
}

// pythonParameter is a parameter before the named ones.
type pythonParameter struct {
	Name, Hint     string
	Optional, Many bool // Many: it takes what is left
	Values         []string
}

// addFunction adds the function of a command, with a given flag if that changes the type of the answer.
func (m *pythonModule) addFunction(c cli.Command, given string) {
	f := pythonFunction{Command: c, Answer: c.Answers[given], Name: strings.TrimSuffix(pythonName(strings.Join(c.Path, "_")+"_"+given), "_")}
	f.addPositional(given)
	for _, flag := range c.Flags {
		_, selects := c.Answers[flag.Name]
		switch {
		case flag.Name == given && flag.Type == "bool":
			f.Given = given
		case flag.Name == given:
			flag.Required = true
			f.Arguments = append(f.Arguments, flag)
		case !selects && flag.Name != "json" && flag.Name != "csv" && flag.Name != "keep": // keep answers again and again
			f.Arguments = append(f.Arguments, flag)
		}
	}
	m.addClasses(&f.Answer, f.Name)
	m.Functions = append(m.Functions, f)
}

// addClasses adds a class for each object in the answer of a function, whose name tells
// classes of one name apart.
func (m *pythonModule) addClasses(t *cli.Type, function string) {
	if t.Item != nil {
		m.addClasses(t.Item, function)
	}
	for i := range t.Fields {
		m.addClasses(&t.Fields[i].Type, function)
	}
	if t.Kind != "object" {
		return
	}
	t.Object = camelCase(t.Object)
	same := func(c pythonClass) bool { return c.Object == t.Object }
	known := slices.IndexFunc(m.Classes, same)
	if slices.Contains([]string{"Answer", "Estimate", "Rows"}, t.Object) || known >= 0 && len(t.Fields) > 0 && !reflect.DeepEqual(m.Classes[known].Fields, t.Fields) {
		t.Object = camelCase(function) + t.Object
	}
	if len(t.Fields) > 0 && !slices.ContainsFunc(m.Classes, same) {
		m.Classes = append(m.Classes, pythonClass{*t, function})
	}
}

// place matches the name of an argument in a usage line, and flagOfUsage a flag with its value.
var (
	place       = regexp.MustCompile(`(\[?)\b([A-Z][A-Z_]*)\b([|.A-Za-z]*)`)
	flagOfUsage = regexp.MustCompile(`--?[a-z-]+ [A-Z]\S*`)
)

// addPositional adds the parameters of the usage line, or of the one of several that names
// the given flag: words in capitals, in brackets if they may be left out.
func (f *pythonFunction) addPositional(given string) {
	if f.Dashes() {
		f.Positional = []pythonParameter{{Name: "command", Hint: "Text"}, {Name: "word", Hint: "Text", Many: true}}
		return
	}
	usages := strings.Split(f.Use, " | ")
	named := slices.IndexFunc(usages, func(u string) bool { return given != "" && strings.Contains(u, "--"+given) })
	usage := flagOfUsage.ReplaceAllString(usages[max(0, named)], "")
	for _, m := range place.FindAllStringSubmatch(usage, -1) {
		p := pythonParameter{Name: strings.ToLower(m[2]), Hint: cmp.Or(pythonTypes[m[2]], "Text"), Optional: m[1] != ""}
		if len(f.Positional) == 0 {
			p.Values = f.Values
		}
		many := strings.HasSuffix(m[3], "...") || strings.Contains(usage, m[0]+" ...")
		if !many || !p.Optional {
			f.Positional = append(f.Positional, p)
		}
		if many {
			f.Positional = append(f.Positional, pythonParameter{Name: p.Name, Hint: p.Hint, Many: true})
		}
	}
}

// Dashes reports whether the arguments are a command line.
func (f pythonFunction) Dashes() bool { return strings.Contains(f.Use, "-- ") }

// TakesMany reports whether the last positional parameter takes any number of arguments.
func (f pythonFunction) TakesMany() bool {
	return len(f.Positional) > 0 && f.Positional[len(f.Positional)-1].Many
}

// pythonTypes maps types of flags and names of arguments to types; others are Text.
var pythonTypes = map[string]string{
	"bool": "bool", "int": "Integer", "int32": "Integer", "uint": "Integer", "ints": "Integer", "float": "Number",
	"duration": "Duration", "date": "Date", "file": "Source", "files": "Source", "KEY=VALUE": "Settings", "NAME=VALUE": "Settings",
	"N": "Integer", "FILE": "Source", "LOG": "Source", "MODEL": "Source",
}

// answerTypes maps kinds in JSON to types.
var answerTypes = map[string]string{
	"text": "str", "time": "datetime.datetime", "number": "float", "integer": "int", "boolean": "bool", "any": "object", "estimate": "Estimate",
}

// pythonWords are the functions of the template.
var pythonWords = template.FuncMap{
	"name":     pythonName,
	"typeOf":   func(kind string) string { return cmp.Or(pythonTypes[kind], "Text") },
	"answerOf": func(kind string) string { return answerTypes[kind] },
	"contains": strings.Contains,
	"upper":    strings.ToUpper,
	// doc returns a text for a docstring, with indented lines.
	"doc": func(text string) string {
		return strings.NewReplacer(`\`, `\\`, `"""`, `'''`, "\n\n", "\n\n    ", "\n", "\n    ").Replace(strings.TrimSpace(text))
	},
}

// camelCase returns the name of a class.
func camelCase(name string) string {
	return regexp.MustCompile("(^|_)[a-z]").ReplaceAllStringFunc(name, func(begin string) string {
		return strings.ToUpper(strings.TrimPrefix(begin, "_"))
	})
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
