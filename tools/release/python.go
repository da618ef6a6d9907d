package release

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/foretime/foretime/shared/cli"
)

// streaming lists commands whose answer has no end, or is that of a program that they run.
var streaming = []string{"allox-est follow", "chamtool run"}

// results maps commands to the Python class of their answer, in the module _answers of
// their package; the answer of any other command is an Answer of _program.
var results = map[string]string{
	"allox-est run": "Jobs", "allox-est estimate": "Jobs",
	"chamtool report": "Report",
	"edgeprof rank":   "Candidates", "edgeprof time": "Timing",
	"mirage when": "Start",
}

//go:embed python/commands.py.tmpl
var commandsTemplate string

// Commands returns the Python module _commands of a tool: a function with named, typed
// arguments for each command that answers in JSON, from the program's own description.
func Commands(ctx context.Context, tool, program string) ([]byte, error) {
	described, err := command{name: program}.run(ctx, "describe")
	if err != nil {
		return nil, err
	}
	var commands []cli.Command
	if err := json.Unmarshal(described, &commands); err != nil {
		return nil, fmt.Errorf("%s describe: %w", program, err)
	}
	module := pythonModule{Tool: tool}
	for _, c := range commands {
		path := strings.Join(c.Path, " ")
		if !slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Name == "json" }) || slices.Contains(streaming, tool+" "+path) {
			continue
		}
		f := pythonFunction{Command: c, Tool: tool, Name: pythonName(strings.Join(c.Path, "_")), Result: "Answer", Dashes: strings.Contains(c.Use, "-- ")}
		if own := results[tool+" "+path]; own != "" {
			f.Result, f.Own = own, true
			module.Results = append(module.Results, own)
		} else if path == "record" {
			f.Result = "Table" // one row for each question
		}
		c.Flags = slices.DeleteFunc(slices.Clone(c.Flags), func(f cli.Flag) bool {
			return f.Name == "json" || f.Name == "csv" || f.Name == "keep" // which answers again and again
		})
		slices.SortStableFunc(c.Flags, func(a, b cli.Flag) int { // required ones first
			switch {
			case a.Required == b.Required:
				return 0
			case a.Required:
				return -1
			}
			return 1
		})
		for _, flag := range c.Flags {
			f.Arguments = append(f.Arguments, pythonArgument{flag})
		}
		module.Functions = append(module.Functions, f)
	}
	slices.Sort(module.Results)
	module.Results = slices.Compact(module.Results)
	var out bytes.Buffer
	err = template.Must(template.New("").Parse(commandsTemplate)).Execute(&out, module)
	return out.Bytes(), err
}

type pythonModule struct {
	Tool      string
	Functions []pythonFunction
	Results   []string
}

// Imports returns the names of _program that the functions use.
func (m pythonModule) Imports() string {
	used := []string{"ask"}
	add := func(name string) {
		if !slices.Contains(used, name) {
			used = append(used, name)
		}
	}
	add("Text")
	for _, f := range m.Functions {
		if f.Own {
			add("Answer")
		} else {
			add(f.Result)
		}
		for _, a := range f.Arguments {
			for _, name := range []string{"Date", "Duration", "Settings", "Texts"} {
				if regexp.MustCompile(`\b` + name + `\b`).MatchString(a.Hint()) {
					add(name)
				}
			}
			if strings.HasPrefix(a.Value(), "as_duration(") {
				add("as_duration")
			}
		}
	}
	slices.Sort(used)
	return strings.Join(used, ", ")
}

// Names returns the functions' names, in the form of a Python list.
func (m pythonModule) Names() string {
	var names []string
	for _, f := range m.Functions {
		names = append(names, fmt.Sprintf("%q", f.Name))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// pythonFunction is a command as a function.
type pythonFunction struct {
	cli.Command
	Tool, Name, Result string
	Arguments          []pythonArgument
	Own                bool // Result is a class of the package
	Dashes             bool // its arguments are a command line
}

// Text returns the description for a docstring, indented, with the command's first
// example as a call.
func (f pythonFunction) Text() string {
	about := f.Long
	if about == "" {
		about = strings.ToUpper(f.Short[:1]) + f.Short[1:] + "."
	}
	lines := []string{strings.TrimSpace(about)}
	if example := f.example(); example != "" {
		lines = append(lines, "", "Example: "+example)
	}
	lines = append(lines, "", "Command: "+f.Tool+" "+strings.Join(f.Path[:len(f.Path)-1], " ")+strings.TrimPrefix(" "+f.Use, " "))
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

// example returns the command's first example as a Python call, or nothing if it uses
// more of a shell than words.
func (f pythonFunction) example() string {
	line, _, _ := strings.Cut(strings.TrimSpace(f.Example), "\n")
	if line == "" || strings.ContainsAny(line, "|<>$&;*`'\"") {
		return ""
	}
	words := strings.Fields(line)[1+len(f.Path):]
	var positional, named []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			for _, w := range words[i+1:] {
				positional = append(positional, fmt.Sprintf("%q", w))
			}
			break
		}
		name, isFlag := strings.CutPrefix(word, "--")
		if !isFlag {
			positional = append(positional, fmt.Sprintf("%q", word))
			continue
		}
		name, value, given := strings.Cut(name, "=")
		at := slices.IndexFunc(f.Arguments, func(a pythonArgument) bool { return a.Flag.Name == name })
		if at < 0 {
			return ""
		}
		a := f.Arguments[at]
		if !given && a.Type != "bool" && !a.Bare {
			i++
			if i == len(words) {
				return ""
			}
			value = words[i]
		}
		named = append(named, a.Python()+"="+a.literal(value))
	}
	module := strings.ReplaceAll(f.Tool, "-", "_")
	return module + "." + f.Name + "(" + strings.Join(append(positional, named...), ", ") + ")"
}

// pythonArgument is a flag as an argument.
type pythonArgument struct{ cli.Flag }

// Python returns the argument's name.
func (a pythonArgument) Python() string { return pythonName(a.Name) }

// Hint returns the argument's type.
func (a pythonArgument) Hint() string {
	kind := map[string]string{
		"bool": "bool", "int": "int", "uint": "int", "float": "float", "duration": "Duration", "time": "Duration",
		"date": "Date", "ints": "typing.Sequence[int]", "float64Slice": "typing.Sequence[float]",
	}[a.Type]
	switch {
	case kind != "":
	case a.List && strings.Contains(a.Type, "="):
		kind = "Settings"
	case a.List:
		kind = "Texts"
	default:
		kind = "Text"
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

// literal returns a value of the argument in Python.
func (a pythonArgument) literal(value string) string {
	switch {
	case a.Type == "bool" || a.Bare && value == "":
		return "True"
	case a.Type == "int" || a.Type == "float" || a.Type == "uint":
		return value
	case strings.Contains(a.Type, "=") && a.List:
		k, v, _ := strings.Cut(value, "=")
		return fmt.Sprintf("{%q: %q}", k, v)
	}
	return fmt.Sprintf("%q", value)
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
