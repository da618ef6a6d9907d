package layers

import (
	"fmt"
	"slices"
	"strings"
)

const prefix = "github.com/foretime/foretime/"

// Rule is a ban with its reason.
type Rule struct {
	Name   string
	Reason string
	find   func(File) []Use
}

// Violation is a place that breaks a rule.
type Violation struct {
	File string
	Line int
	What string
	Rule Rule
}

func (v Violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s (%s)", v.File, v.Line, v.What, v.Rule.Name, v.Rule.Reason)
}

// Check returns every violation of Rules in files.
func Check(files []File) []Violation {
	var found []Violation
	for _, f := range files {
		for _, r := range Rules() {
			for _, use := range r.find(f) {
				found = append(found, Violation{f.Name, use.Line, use.What, r})
			}
		}
	}
	return found
}

// Rules returns the project's bans.
func Rules() []Rule {
	return []Rule{
		{
			"a module imports itself, shared and third parties",
			"the five tools are independent: each can be built, read and distributed alone",
			func(f File) []Use {
				return imports(f, func(path string) bool {
					rest, ours := strings.CutPrefix(path, prefix)
					module, _, _ := strings.Cut(rest, "/")
					return ours && module != f.Module && module != "shared"
				})
			},
		},
		{
			"gomlx only in shared/regression/neural and allox-est/internal/jobs",
			"its API breaks at every minor version; few packages should need fixing",
			outside([]string{"shared/regression/neural", "allox-est/internal/jobs"}, "github.com/gomlx/"),
		},
		{
			"cgo only in chamtool/cmd/libchamtool and edgeprof/cmd/edgeprof-ort",
			"every other command stays static and cross-compiles",
			outside([]string{"chamtool/cmd/libchamtool", "edgeprof/cmd/edgeprof-ort"}, "C"),
		},
		{
			"the native ONNX Runtime only in edgeprof/cmd/edgeprof-ort",
			"a crash of native code must end a worker process, not the service",
			outside([]string{"edgeprof/cmd/edgeprof-ort"}, "github.com/yalue/onnxruntime_go", "github.com/ebitengine/purego"),
		},
		{
			"only commands log, parse flags and draw progress",
			"domain packages return values, errors and warnings, so any program can use them",
			func(f File) []Use {
				if command(f) || f.Test {
					return nil
				}
				return imports(f, under("github.com/sirupsen/logrus", "github.com/spf13/", "github.com/schollz/progressbar", "flag", "log", "log/slog", prefix+"shared/cli"))
			},
		},
		{
			"domain packages never exit, print, or read arguments and environment",
			"the inputs of a run are arguments, so it can be repeated and tested",
			func(f File) []Use {
				if command(f) || f.Test {
					return nil
				}
				return calls(f, "os.Exit", "os.Getenv", "os.LookupEnv", "os.Environ", "os.Args", "os.Stdout", "os.Stderr", "os.Stdin", "fmt.Print", "fmt.Printf", "fmt.Println", "math/rand.Seed")
			},
		},
		{
			"only adapters read the clock and start programs",
			"a decision that waits or reads the clock cannot be repeated, and its test needs sleep; tools/layers/adapters_test.go lists the adapters",
			func(f File) []Use {
				if command(f) || f.Test || adapter(f) {
					return nil
				}
				return append(imports(f, under("os/exec")), calls(f, clock()...)...)
			},
		},
		{
			"goroutines start in shared/crash",
			"a panic in any other goroutine ends the program with a stack instead of one line, and leaves its child processes running",
			func(f File) []Use {
				if f.Test || f.Dir == "shared/crash" {
					return nil
				}
				return append(slices.Clone(f.Starts), calls(f, "sync.WaitGroup")...)
			},
		},
		{
			"imports inside a module follow its flow",
			"a package that imports a later one cannot be read, tested or replaced before it; tools/layers/flow_test.go has the order",
			backwards,
		},
		{
			"arrows go from commands to domain packages",
			"a package that needs a command is in the wrong place",
			func(f File) []Use {
				if command(f) || f.Test {
					return nil
				}
				return imports(f, func(path string) bool {
					rest, ours := strings.CutPrefix(path, prefix)
					return ours && inCommand(rest)
				})
			},
		},
		{
			"a package's comment is in doc.go",
			"a reader finds it there",
			func(f File) []Use {
				if f.Test || !f.Doc || f.Package == "main" || strings.HasSuffix(f.Name, "/doc.go") {
					return nil
				}
				return []Use{{"package " + f.Package, 1}}
			},
		},
		{
			"a command shows an example",
			"help is the first screen that a user sees",
			func(f File) []Use {
				if f.Test || f.Module == "tools" {
					return nil
				}
				return f.Mute
			},
		},
	}
}

// command reports whether f belongs to a command: a directory cmd or cli, or the
// project's own tools.
func command(f File) bool { return f.Module == "tools" || inCommand(f.Dir) }

func inCommand(path string) bool {
	parts := strings.Split(path, "/")
	return slices.Contains(parts, "cmd") || slices.Contains(parts, "cli")
}

// outside bans imports of the given paths except below the directories.
func outside(folders []string, paths ...string) func(File) []Use {
	return func(f File) []Use {
		for _, folder := range folders {
			if f.Dir == folder || strings.HasPrefix(f.Dir, folder+"/") {
				return nil
			}
		}
		return imports(f, under(paths...))
	}
}

// under matches the given import paths and all below them.
func under(paths ...string) func(string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			return path == p || strings.HasPrefix(path, strings.TrimSuffix(p, "/")+"/")
		})
	}
}

// calls returns the uses of the given names, such as "os.Exit".
func calls(f File, banned ...string) []Use {
	return slices.DeleteFunc(slices.Clone(f.Calls), func(u Use) bool { return !slices.Contains(banned, u.What) })
}

func imports(f File, banned func(path string) bool) []Use {
	var found []Use
	for _, use := range f.Imports {
		if banned(use.What) {
			found = append(found, Use{"import " + use.What, use.Line})
		}
	}
	return found
}
