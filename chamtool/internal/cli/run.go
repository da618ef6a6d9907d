package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/launch"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/plural"
)

// running holds the flags of run.
type running struct {
	tool, logs string
	out        cli.Output
}

// newRunCommand returns run, which runs a program under the tool and reports.
func newRunCommand(env *cli.Env) *cobra.Command {
	var r running
	c := &cobra.Command{
		Use:   "run -- COMMAND...",
		Short: "Run your OpenMP program under the tool and show where its time goes",
		Long: `Run a program under libchamtool.so and print the first page of its report: wall time,
threads, the time of its tasks, the largest losses with suggestions, the functions. The
program needs no change. For programs built by gcc LLVM's OpenMP runtime is preloaded
(libomp, from the package libomp-dev). The command may begin with a launcher such as
mpirun. The page goes to standard error; with --json or --csv - the answer goes to standard output,
and the program's output to standard error. The exit status is the program's.`,
		Example: `  chamtool run -- ./program
  chamtool run -- mpirun -n 2 ./program`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			status, err := r.run(cmd.Context(), env, args)
			if err == nil && status != 0 {
				os.Exit(status) // the program's own
			}
			return err
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&r.tool, "tool", "", "the tool library (default: libchamtool.so next to this command or in the working directory)")
	c.Flags().StringVar(&r.logs, "log-dir", "", "`directory` of the logs (default: a new one, PROGRAM-TIME in CHAMTOOL_LOG_DIR, else in logs)")
	r.out.Flags(c, job.Figures{})
	return c
}

// run runs the program to its end, reports, and returns the program's exit status. Signals are
// the program's; after its end a second one ends the report.
func (r *running) run(ctx context.Context, env *cli.Env, args []string) (int, error) {
	if _, err := exec.LookPath(args[0]); err != nil {
		return reportUnstarted(env, err), nil
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	tool, err := launch.Tool(r.tool, self, ".")
	if err != nil {
		return 0, err
	}
	for _, f := range inspect(tool) {
		if f.Status == "fail" {
			return 0, fmt.Errorf("--tool: %s", f.Detail)
		}
	}
	p := launch.FindProgram(args, exec.LookPath, linkedLibraries)
	preload := ""
	if p.Runtime == launch.GNU {
		if preload, err = launch.LLVMRuntime(env.Root, runtimeDirectories()); err != nil {
			return 0, fmt.Errorf("%s uses %v, which loads no tools: %w; install it, for example with apt-get install libomp-dev", args[0], p.Runtime, err)
		}
		if err := launch.Replaceable(p.Path, preload); err != nil {
			return 0, fmt.Errorf("%w; build the program with clang", err)
		}
		env.Log.Infof("%s uses %v: %s is preloaded instead", args[0], p.Runtime, preload)
		preload = launch.Preloads(p.Path, tool+":"+preload)
		if doubt := launch.Doubt(p.Path); doubt != "" {
			env.Log.Warnf("%s: %s", args[0], doubt)
		}
	}
	if p.Runtime == launch.LLVM || p.MPI && p.Runtime != launch.Chameleon && p.Runtime != launch.GNU { // it stands before functions that no event reports
		preload = tool
	}
	logs, err := r.directory(args[0])
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = env.Stdin
	cmd.Stdout = env.Stdout
	cmd.Stderr = env.Stderr
	if r.out.OnStdout() { // the answer stays alone on standard output, else the program's
		cmd.Stdout = env.Stderr
	} else {
		env.Stdout = env.Stderr
	}
	cmd.Env = launch.Environ(os.Environ(), tool, logs, preload)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a reader of the page that is gone does not end this command
	signals := cli.Signals(env, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return reportUnstarted(env, err), nil
	}
	crash.Go(func() {
		for number := 0; ; number++ {
			passed := cmd.Process.Signal(<-signals)
			if passed != nil && number > 0 { // the program has ended: this one is for the report
				os.Exit(cli.ExitFailed)
			}
		}
	})
	ended := cmd.Wait()
	if exit := (*exec.ExitError)(nil); ended != nil && !errors.As(ended, &exit) {
		return 0, ended
	}
	err = r.report(context.WithoutCancel(ctx), env, p.Runtime, args[0], logs, time.Since(begin))
	if err != nil { // the program has run, and its status counts
		env.Log.Warnf("no report: %v", err)
	}
	return status(cmd.ProcessState), nil
}

// reportUnstarted prints why a program could not be started and returns a shell's exit status.
func reportUnstarted(env *cli.Env, err error) int {
	fmt.Fprintf(env.Stderr, "chamtool: %v\n", err)
	return cli.StartStatus(err)
}

// linkedLibraries returns the names of the libraries that a program is linked with, also through
// others, as its loader finds them.
func linkedLibraries(program string) (names []string) {
	if !launch.HasGNULoader(program) {
		return nil
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1")
	out, _ := cmd.Output() // an error leaves the lines before it
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			names = append(names, filepath.Base(fields[0]))
		}
	}
	return names
}

// runtimeDirectories returns the directories in which the user has libraries.
func runtimeDirectories() []string {
	dirs := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	if conda := os.Getenv("CONDA_PREFIX"); conda != "" {
		dirs = append(dirs, filepath.Join(conda, "lib"))
	}
	return dirs
}

// status returns an exit status as a shell does.
func status(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// directory makes the directory of the logs and returns its absolute path. One that has the
// logs of another run is an error: the report would be of that run.
func (r *running) directory(program string) (string, error) {
	dir := r.logs
	if taken, _ := filepath.Glob(filepath.Join(dir, "*chamtool_*")); dir != "" && len(taken) > 0 {
		return "", fmt.Errorf("--log-dir %s: it has the logs of an earlier run", dir)
	}
	if dir == "" {
		cfg, _ := config.Read(os.LookupEnv)
		dir = filepath.Join(cfg.LogDir, fmt.Sprintf("%s-%s", filepath.Base(program), time.Now().Format("20060102-150405")))
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", fmt.Errorf("--log-dir %s: it is a file, not a directory", dir)
	}
	for n := 2; ; n++ { // two programs of one second
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return "", err
		}
		if err := os.Mkdir(dir, 0o755); err == nil || r.logs != "" && errors.Is(err, os.ErrExist) {
			return filepath.Abs(dir)
		} else if !errors.Is(err, os.ErrExist) {
			return "", err
		}
		dir = fmt.Sprintf("%s-%d", strings.TrimSuffix(dir, fmt.Sprintf("-%d", n-1)), n)
	}
}

// report prints the first page of the report of a run.
func (r *running) report(ctx context.Context, env *cli.Env, runtime launch.Runtime, program, logs string, wall time.Duration) error {
	j, err := job.Load(ctx, logs, nil)
	if errors.Is(err, job.ErrNoLogs) {
		reason := why(runtime)
		if os.Getenv("CHAMTOOL_LOG_FORMAT") == "none" {
			reason = "CHAMTOOL_LOG_FORMAT=none writes no log"
		} else if found, _ := filepath.Glob(filepath.Join(logs, "*rank_*")); len(found) > 0 {
			reason = unread(logs)
		}
		_, err = fmt.Fprintf(env.Stderr, "%s: no tasks to report: %s\n", program, reason)
		return err
	}
	if err != nil {
		return err
	}
	cli.Warn(env, j.Reasons)
	if runs, err := job.Runs(logs); err == nil && len(runs) > 1 {
		env.Log.Warnf("%d programs ran under the tool; this is the report of the first, %s: chamtool report %s lists all", len(runs), runs[0].Program, logs)
	}
	f := j.Figures()
	return r.out.Print(env, f, func(p *cli.Page) { firstPage(p, f, wall.Seconds(), logs) })
}

// unread returns the reason why a log has no rows.
func unread(logs string) string {
	s, err := summary.Read(filepath.Join(logs, summary.FileName(0)))
	switch {
	case err != nil:
		return err.Error()
	case !s.Complete && !s.Signal:
		return fmt.Sprintf("the tool did not see its end (_exit, exec or a kill); the last count was %s", plural.Count(int(s.Created), "task"))
	case s.Created > 0:
		return fmt.Sprintf("the summary counts %s, but no log here has rows with functions; CHAMTOOL_LOG_FORMAT=csv writes one", plural.Count(int(s.Created), "task"))
	}
	return "it created none, no task construct and no taskloop"
}

// why returns the reason why a program left no log.
func why(r launch.Runtime) string {
	if r == launch.Unknown {
		return "it is linked with " + r.String() + ", or statically. If it starts another program, name that program here, or for a program of gcc run: chamtool run -- env LD_PRELOAD=libomp.so.5 COMMAND"
	}
	return "it uses " + r.String() + ", but ended before it loaded the tool, or uses no OpenMP (chamtool doctor tells more)"
}

// maxLosses and maxFunctions bound the first page.
const maxLosses, maxFunctions = 3, 5

// firstPage prints wall time, threads, work and span, losses and functions of a run.
func firstPage(p *cli.Page, f job.Figures, wall float64, logs string) {
	l, tasks := f.Lost, plural.Count(f.Tasks, "task")
	if low, high := droppedTasks(f); high > 0 {
		tasks += fmt.Sprintf(" and %d to %d that were dropped", low, high)
	}
	if f.Unwritten > 0 {
		tasks += fmt.Sprintf(" and %d that could not be written", f.Unwritten)
	}
	if f.Signal {
		p.Line("a signal or MPI_Abort ended the program")
	}
	if f.Tasks > 0 {
		p.Line("%s s of wall time, %s, %s s of tasks: %s in %s", cli.Text(wall), plural.Count(l.Threads, "thread"), cli.Text(f.Seconds), tasks, plural.Count(f.Iterations, "iteration"))
		p.Line("%s", spanText(f))
	} else {
		p.Line("%s s of wall time, %s on %s, no tasks", cli.Text(wall), plural.Count(l.Threads, "thread"), plural.Count(f.Ranks, "rank"))
	}
	timesTable(p, f)
	losses := f.Losses()
	for _, loss := range losses[:min(maxLosses, len(losses))] {
		p.Line("%s: %s s, %s of the threads' time", loss.Name, cli.Text(loss.Seconds), cli.Text(loss.Share))
		p.Line("  may help: %s", loss.Advice)
	}
	functionTable(p, f.Functions[:min(maxFunctions, len(f.Functions))])
	p.Line("chamtool report %s shows more", logs)
}

// spanText returns work and span, or why they are unknown.
func spanText(f job.Figures) string {
	if g := f.Lost.Graph; g != nil {
		text := fmt.Sprintf("work %s s, span %s", cli.Text(g.Work), spanFigures(g, " s"))
		if len(g.Critical) > 1 {
			text += "; the span is " + criticalText(g)
		}
		return text
	}
	switch {
	case f.Lost.Wall == 0:
		return "work, span: unknown, the tool did not see the program's end"
	case f.Ranks > 1:
		return "work, span: unknown for several ranks"
	}
	return "work, span: unknown, the tool does not see all tasks and their waits"
}
