package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/shared/file"
)

// Annotations of flags and commands.
const (
	outputFlag = "foretime_output" // on a flag: it names a file that the command writes
	wordsOnly  = "foretime_words"  // on a command: its arguments are not files
)

// OutputFile declares that flags of c name files that it writes. Before the command
// runs, an output that is one of its inputs is rejected, see [Env.Input]. It panics
// if c does not have a flag.
func OutputFile(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		must(c.Flags().SetAnnotation(name, outputFlag, []string{"true"}))
	}
}

// Words declares that the arguments of c are words, such as the name of a model
// family, and not files.
func Words(c *cobra.Command) { annotate(c, map[string]string{wordsOnly: "true"}) }

// named is a file of the command line, with the argument or flag that names it.
type named struct{ how, path string }

// guardInputs rejects a command line with an output that is also an input, or with
// two outputs that are one file. Every existing file that an argument or flag names
// is an input, together with its [Env.Companions]. It also rejects an output whose
// directory takes no file, and a default output that exists: the user did not name it.
func (e *Env) guardInputs(c *cobra.Command, args []string) error {
	e.inputs, e.outputs = nil, nil
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case f.Annotations[outputFlag] == nil:
			e.inputs = append(e.inputs, filesIn("--"+f.Name, f)...)
		case value == "" || value == "-":
		case !f.Changed && regular(value):
			err = Usagef("%s exists: --%s %s replaces it, another name keeps it", value, f.Name, value)
		default:
			e.outputs = append(e.outputs, named{"--" + f.Name, value})
			if f.Changed && !exists(value) {
				err = cmp.Or(err, file.TryWrite(value))
			}
		}
	})
	if err != nil {
		return err
	}
	if c.Annotations[wordsOnly] == "" {
		for _, arg := range args {
			if exists(arg) {
				e.inputs = append(e.inputs, named{"", arg})
			}
		}
	}
	if e.Companions != nil && slices.ContainsFunc(e.outputs, func(o named) bool { return regular(o.path) }) {
		for _, in := range append(slices.Clone(e.inputs), named{}) {
			for _, path := range e.Companions(in.path) {
				e.inputs = append(e.inputs, named{"", path})
			}
		}
	}
	for i, out := range e.outputs {
		if err := out.repeats(e.outputs[:i]); err != nil {
			return err
		}
	}
	return e.checkOutputs()
}

// Input declares files that the command reads although its command line does not
// name them, such as those of a directory. The error is a *UsageError if one of
// them is an output. Call it before work begins.
func (e *Env) Input(paths ...string) error {
	for _, path := range paths {
		e.inputs = append(e.inputs, named{"", path})
	}
	return e.checkOutputs()
}

// Output declares files that the command writes although its command line does not
// name them, such as those of a directory. The error is a *UsageError if one of
// them is an input, or an output that a flag names. Call it before work begins.
func (e *Env) Output(paths ...string) error {
	flags := slices.DeleteFunc(slices.Clone(e.outputs), func(o named) bool { return !strings.HasPrefix(o.how, "--") })
	for _, path := range paths {
		out := named{"output", path}
		if err := out.repeats(flags); err != nil {
			return err
		}
		e.outputs = append(e.outputs, out)
	}
	return e.checkOutputs()
}

// checkOutputs returns a *UsageError if an output is one of the inputs.
func (e *Env) checkOutputs() error {
	for _, out := range e.outputs {
		if err := out.collides(e.inputs); err != nil {
			return err
		}
	}
	return nil
}

// collides returns a *UsageError if an output is one of the inputs.
func (o named) collides(inputs []named) error {
	for _, in := range inputs {
		if sameFile(o.path, in.path) {
			return Usagef("%s %s: it would replace an input of this command, %s", o.how, o.path, strings.TrimSpace(in.how+" "+in.path))
		}
	}
	return nil
}

// repeats returns a *UsageError if an output is one of the others.
func (o named) repeats(others []named) error {
	for _, other := range others {
		if sameFile(o.path, other.path) {
			return Usagef("%s %s: %s names the same file", o.how, o.path, other.how)
		}
	}
	return nil
}

// filesIn returns the files and directories that a flag names: its value, the items
// of a list, or the part after NAME= or KIND:.
func filesIn(how string, f *pflag.Flag) []named {
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	var found []named
	for _, v := range values {
		candidates := append([]string{v}, strings.Split(v, ",")...)
		for _, c := range slices.Clone(candidates) {
			for _, mark := range []string{"=", ":"} {
				if _, path, ok := strings.Cut(strings.Trim(c, "[]"), mark); ok {
					candidates = append(candidates, path)
				}
			}
		}
		for _, path := range candidates {
			if exists(path) {
				found = append(found, named{how, path})
			}
		}
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// sameFile reports whether two names refer to one regular file, links followed, or
// will once it is written.
func sameFile(a, b string) bool {
	left, err1 := os.Stat(a)
	right, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return left.Mode().IsRegular() && os.SameFile(left, right)
	}
	return err1 != nil && err2 != nil && absolute(a) == absolute(b)
}

// absolute returns the absolute path, with the links of its directory resolved.
func absolute(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
