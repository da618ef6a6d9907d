package cli

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/launch"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// finding is one check's result.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
}

// newDoctorCommand returns doctor, which checks the environment of a program.
func newDoctorCommand(env *cli.Env) *cobra.Command {
	var tool string
	var out cli.Output
	c := &cobra.Command{
		Use:     "doctor [--tool libchamtool.so]",
		Short:   "Check this environment: the library, its interface, the configuration",
		Example: "  chamtool doctor",
		Long: `Check this environment: whether the library that OpenMP's or Chameleon's runtime
would load exists, exports the entry symbols and supports the patched runtime; whether
programs built by gcc can be observed; the effective configuration; whether logs and
models can be written.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := examine(env.Root, tool)
			err := out.Print(env, found, func(p *cli.Page) {
				t := p.Table("check", "status", "detail")
				for _, f := range found {
					t.Add(f.Check, f.Status, f.Detail)
				}
			})
			if err != nil {
				return err
			}
			failed := 0
			for _, f := range found {
				if f.Status == "fail" {
					failed++
				}
			}
			if failed > 0 {
				return fmt.Errorf("%d of %d checks failed", failed, len(found))
			}
			return nil
		},
	}
	c.Flags().StringVar(&tool, "tool", "", "library to check (default: the one in CHAMELEON_TOOL_LIBRARIES or OMP_TOOL_LIBRARIES, else the one that chamtool run loads)")
	out.Flags(c, []finding{})
	return c
}

// examine runs all checks.
func examine(root fs.FS, tool string) []finding {
	found := []finding{checkEnabled(), openMPEnabled()}
	found = append(found, library(tool)...)
	found = append(found, forGNU(root))
	cfg, warnings := config.Read(os.LookupEnv)
	for _, w := range append(warnings, config.Unknown(os.Environ())...) {
		found = append(found, finding{"configuration", "warn", w.Error()})
	}
	for _, s := range cfg.Effective {
		if s.Given {
			found = append(found, finding{"configuration", "ok", s.Name + "=" + s.Value})
		}
	}
	return append(found, writable("log directory", cfg.LogDir), models(cfg))
}

func checkEnabled() finding {
	switch v := os.Getenv(event.EnableVariable); v {
	case "0", "disabled":
		return finding{"tools enabled", "fail", event.EnableVariable + "=" + v + " disables all tools"}
	}
	return finding{"tools enabled", "ok", event.EnableVariable + " does not disable tools"}
}

func openMPEnabled() finding {
	if os.Getenv(event.OpenMPEnable) == "disabled" {
		return finding{"OpenMP tools", "warn", event.OpenMPEnable + "=disabled disables all tools of OpenMP; chamtool run sets it to enabled"}
	}
	return finding{"OpenMP tools", "ok", event.OpenMPEnable + " does not disable tools"}
}

// forGNU checks whether programs of gcc can be observed.
func forGNU(root fs.FS) finding {
	path, err := launch.LLVMRuntime(root, runtimeDirectories())
	if err != nil {
		return finding{"gcc programs", "warn", err.Error() + ": programs of gcc -fopenmp cannot be observed; install it, for example with apt-get install libomp-dev"}
	}
	return finding{"gcc programs", "ok", "chamtool run preloads " + path + "; by hand: LD_PRELOAD=" + path}
}

// library checks the libraries that would be loaded: the given one, or those in the
// environment, or the one that chamtool run loads.
func library(tool string) []finding {
	paths := []string{tool}
	if tool == "" {
		for _, variable := range []string{event.OpenMPLibraries, event.LibrariesVariable} {
			paths = append(paths, strings.Split(os.Getenv(variable), ":")...)
		}
		slices.Sort(paths)
	}
	if paths = slices.DeleteFunc(slices.Compact(paths), func(p string) bool { return p == "" }); len(paths) == 0 {
		return checkInstalled()
	}
	var found []finding
	for _, path := range paths {
		found = append(found, inspect(path)...)
	}
	return found
}

// checkInstalled checks the library that chamtool run loads.
func checkInstalled() []finding {
	self, err := os.Executable()
	if err != nil {
		return []finding{{"library", "fail", err.Error()}}
	}
	path, err := launch.Tool("", self, ".")
	if err == nil {
		return append(inspect(path), finding{"loaded by", "ok", "chamtool run; without it set " + event.OpenMPLibraries + ", or for Chameleon " + event.LibrariesVariable + ", to the library"})
	}
	detail := err.Error() + ", or set " + event.OpenMPLibraries + ", or for Chameleon " + event.LibrariesVariable + ", to the library"
	if os.Getenv(event.OlderLibraryVariable) != "" {
		detail += "; only older runtimes read " + event.OlderLibraryVariable
	}
	return []finding{{"library", "fail", detail}}
}

func inspect(path string) []finding {
	f, err := elf.Open(path)
	if err != nil {
		return []finding{{"library", "fail", elfError(path, err)}}
	}
	defer f.Close()
	if f.Type != elf.ET_DYN {
		return []finding{{"library", "fail", path + ": not a shared library"}}
	}
	found := []finding{{"library", "ok", path}}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return append(found, finding{"entry symbol", "fail", err.Error()})
	}
	defined := func(name string) bool {
		return slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == name && s.Section != elf.SHN_UNDEF })
	}
	if !defined(event.EntrySymbol) {
		return append(found, finding{"entry symbol", "fail", path + " does not export " + event.EntrySymbol})
	}
	found = append(found, finding{"entry symbol", "ok", event.EntrySymbol})
	if defined(event.OpenMPEntry) {
		found = append(found, finding{"OpenMP", "ok", "for any program with LLVM's OpenMP runtime set " + event.OpenMPLibraries + "=" + path})
	}
	return append(found, finding{"interface", "ok", "upstream and patched Chameleon"})
}

// elfError returns the text of an error, with the path of the file.
func elfError(path string, err error) string {
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		return err.Error()
	}
	return path + ": " + err.Error()
}

func writable(what, dir string) finding {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return finding{what, "fail", err.Error()}
	}
	at := abs
	info, err := os.Stat(at)
	for errors.Is(err, os.ErrNotExist) {
		at = filepath.Dir(at)
		info, err = os.Stat(at)
	}
	if err != nil {
		return finding{what, "fail", err.Error()}
	}
	if !info.IsDir() {
		return finding{what, "fail", at + " is not a directory"}
	}
	probe, err := os.CreateTemp(at, ".chamtool-doctor-")
	if err != nil {
		return finding{what, "fail", err.Error()}
	}
	probe.Close()
	os.Remove(probe.Name())
	if at != abs {
		return finding{what, "ok", abs + " will be created"}
	}
	return finding{what, "ok", abs}
}

func models(cfg *config.Config) finding {
	path := cfg.StorePath()
	if path == "" {
		return finding{"kept models", "warn", "models are not kept: set CHAMTOOL_HOME or HOME"}
	}
	s, err := perfmodel.ReadStore(path)
	switch {
	case err == nil:
		return finding{"kept models", "ok", fmt.Sprintf("%s: %s", path, plural.Count(s.Len(), "function"))}
	case errors.Is(err, os.ErrNotExist):
		f := writable("kept models", filepath.Dir(path))
		if f.Status == "ok" {
			f.Detail = path + ": no models yet"
		}
		return f
	}
	return finding{"kept models", "warn", err.Error()}
}
