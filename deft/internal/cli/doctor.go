package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/diagnosis"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// newDoctorCommand returns doctor, which runs a program under the hook and reports the
// launches that the hook saw.
func newDoctorCommand(env *cli.Env) *cobra.Command {
	var answer cli.Output
	c := &cobra.Command{
		Use:     "doctor -- COMMAND...",
		Short:   "Run a program under the hook and report whether its launches are seen",
		Example: "  deft doctor -- python3 serve.py",
		Long: "Run a program under libdeft.so and report whether its launches are seen and how\n" +
			"it reaches the driver. The program's output goes to stderr. The exit code is 1\n" +
			"if the hook saw no launch or the program failed.",
		Args: wantCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, _, err := library(cmd.Context())
			if err != nil {
				return err
			}
			scratch, err := file.NewScratch(sharedMemoryDir(), "deft-doctor-")
			if err != nil {
				return err
			}
			defer file.RemoveScratch(scratch)
			s, err := session.Create(filepath.Join(scratch, "session"), session.Options{})
			if err != nil {
				return err
			}
			defer s.Close()
			program := exec.CommandContext(cmd.Context(), args[0], args[1:]...)
			program.Cancel = func() error { return program.Process.Signal(syscall.SIGTERM) }
			program.WaitDelay = 5 * time.Second
			program.Env = append(hook.Preload(os.Environ(), lib), diagnosis.JoinAtLoad, "DEFT_SESSION="+s.Path())
			program.Stdin = env.Stdin
			program.Stdout, program.Stderr = env.Stderr, env.Stderr
			clients, failure := diagnosis.Watch(s, program)
			if exit := (*exec.ExitError)(nil); failure != nil && !errors.As(failure, &exit) {
				return failure
			}
			r := diagnosis.Diagnose(diagnosis.Evidence{Path: program.Path, JoinsAtLoad: true, Clients: clients})
			switch err := answer.Print(env, r, func(p *cli.Page) { showDiagnosis(p, r) }); {
			case err != nil:
				return err
			case failure != nil:
				return fmt.Errorf("%s: %w", args[0], failure)
			case !r.OK():
				return fmt.Errorf("%s: %s", args[0], r.Verdict)
			}
			return nil
		},
	}
	answer.Flags(c, diagnosis.Diagnosis{})
	return c
}

// showDiagnosis prints the verdict, the findings and the processes.
func showDiagnosis(p *cli.Page, r diagnosis.Diagnosis) {
	mark := "OK"
	if !r.OK() {
		mark = "NOT OK"
	}
	p.Line("%s: %s (%d)", mark, r.Verdict, r.Launches)
	for _, f := range r.Findings {
		p.Line("- %s", f)
	}
	if len(r.Processes) == 0 {
		return
	}
	t := p.Table("process", "pid", "launches", "graphs", "captured", "copies", "waits", "reached by")
	for _, c := range r.Processes {
		t.Add(c.Name, c.PID, c.Launches, c.GraphLaunches, c.Captured, c.Copies, c.Waits, strings.Join(c.Paths, ", "))
	}
}
