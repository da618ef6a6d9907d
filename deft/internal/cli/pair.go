package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/pair"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/uncertainty"
)

// pairFlags are the flags of pair.
type pairFlags struct {
	device, outDir, urgent string
	recorded               bool
	duration, deadline     time.Duration
	slack                  float64
	answer                 cli.Output
}

// newPairCommand returns pair, which predicts the speed of two programs that share a
// device.
func newPairCommand(env *cli.Env) *cobra.Command {
	var p pairFlags
	c := &cobra.Command{
		Use:   "pair -- COMMAND_A -- COMMAND_B | pair --recordings A.json B.json",
		Short: "Predict what two programs pay when they share a device",
		Long: `Predict the speed of two programs that share a device, relative to their speed alone.

With two commands, each runs alone for --duration under a hook that records its kernels,
their times, the host's pace and where it waits for the device. The pair is then
simulated in every way to share: time slices (a GPU without MPS), policy priority with
either program urgent, MPS, MPS with client priorities, and MPS with half of the
processors for each. --out-dir keeps them; --recordings predicts from two recordings,
without a device.
`,
		Example: `  deft pair -- python3 serve.py -- python3 train.py
  deft pair --urgent A --out-dir out -- python3 serve.py -- python3 train.py
  deft pair --recordings out/a.json out/b.json
  deft pair --deadline 20ms --recordings out/a.json out/b.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSlack(p.slack, cmd.Flags().Changed); err != nil {
				return err
			}
			return p.run(cmd.Context(), env, args, cmd.ArgsLenAtDash() == 0)
		},
	}
	f := c.Flags()
	f.BoolVar(&p.recorded, "recordings", false, "predict from two recordings, JSON files of --out-dir")
	f.StringVar(&p.device, "device", "cuda", "with commands: cuda or sim")
	cli.Values(c, "device", "cuda", "sim")
	f.DurationVar(&p.duration, "duration", 8*time.Second, "with commands: duration of each recording, from the first launch on")
	f.StringVar(&p.outDir, "out-dir", "", "with commands: `directory` for the recordings a.json and b.json")
	f.StringVar(&p.urgent, "urgent", "", "A or B: the program that must not become slower than --slack")
	cli.Values(c, "urgent", "A", "B")
	f.Float64Var(&p.slack, "slack", 0, slackHelp)
	f.DurationVar(&p.deadline, "deadline", 0, "deadline of each job of A, or of the --urgent program; prints the best way to keep it (0: none)")
	p.answer.Flags(c, outlook{})
	cli.First(c, "urgent", "out-dir", "recordings", "device")
	return c
}

// run predicts in the way that the flags name.
func (p *pairFlags) run(ctx context.Context, env *cli.Env, args []string, commands bool) error {
	if err := checkDeadline(p.deadline); err != nil {
		return err
	}
	if p.urgent != "" && p.urgent != "A" && p.urgent != "B" {
		return cli.Usagef("--urgent: %q, want A or B", p.urgent)
	}
	switch {
	case commands && p.recorded:
		return cli.Usagef("--recordings goes without commands")
	case commands:
		return p.record(ctx, env, args)
	case !p.recorded:
		return cli.Usagef("want --recordings, or two commands: deft pair -- COMMAND_A -- COMMAND_B")
	case p.outDir != "":
		return cli.Usagef("--out-dir stores the recordings of commands: with --recordings there are none")
	case len(args) != 2:
		return cli.Usagef("--recordings: want two recordings, have %d", len(args))
	}
	var both [2]*pair.Trace
	for i, path := range args {
		var err error
		if both[i], err = pair.LoadTrace(path); err != nil {
			return err
		}
	}
	return p.outlook(ctx, env, both)
}

// recordings are the files in --out-dir, of A and of B.
var recordings = [2]string{"a.json", "b.json"}

// record runs both programs alone and predicts from what they launched.
func (p *pairFlags) record(ctx context.Context, env *cli.Env, args []string) error {
	if p.device != "cuda" && p.device != "sim" {
		return cli.Usagef("--device: %q, want cuda or sim", p.device)
	}
	if p.duration <= 0 {
		return cli.Usagef("--duration %v: want a duration above 0", p.duration)
	}
	a, b, err := twoCommands(args)
	if err != nil {
		return err
	}
	if p.outDir != "" {
		for _, name := range recordings {
			if _, err := os.Lstat(filepath.Join(p.outDir, name)); err == nil { // also a link to nothing
				return cli.Usagef("--out-dir %s: %s is there already", p.outDir, name)
			}
		}
		if err := os.MkdirAll(p.outDir, 0o755); err != nil {
			return err
		}
	}
	r := recorder{device: p.device, seconds: p.duration}
	var both [2]*pair.Trace
	for i, command := range [][]string{a, b} {
		if both[i], err = r.record(ctx, env, command); err != nil {
			return err
		}
		cli.Warn(env, both[i].Warnings)
		if p.outDir != "" {
			if err := file.WriteJSON(filepath.Join(p.outDir, recordings[i]), both[i]); err != nil {
				return err
			}
		}
	}
	return p.outlook(ctx, env, both)
}

// sharing is one way to share and what each program pays.
type sharing struct {
	Way string `json:"way"`
	// Measured says that such forecasts were compared with a device.
	Measured bool                      `json:"measured"`
	Speed    [2]uncertainty.Prediction `json:"speed"` // of A and B, relative to alone
	Within   *uncertainty.Prediction   `json:"within_deadline,omitempty"`
}

// recording describes a trace.
type recording struct {
	Program  string  `json:"program"`
	Launches int     `json:"launches"`
	Busy     float64 `json:"device_busy"` // share of its time alone
	Overhead float64 `json:"overhead"`    // of recording, share of the time
}

// outlook is the answer of pair.
type outlook struct {
	Level    float64      `json:"level"`
	Programs [2]recording `json:"programs"`
	Ways     []sharing    `json:"ways"`
	Best     string       `json:"best,omitempty"`
}

// outlook predicts and prints.
func (p *pairFlags) outlook(ctx context.Context, env *cli.Env, both [2]*pair.Trace) error {
	urgent := int(cmp.Or(p.urgent, "A")[0] - 'A')
	deadline := p.deadline
	if deadline > 0 && !trial.HasJobs(both[urgent]) {
		return fmt.Errorf("%c: %s: the recording contains no whole job, from one wait for the device to the next: record for a longer --duration", 'A'+urgent, both[urgent].Program)
	}
	outlooks, err := trial.Traces(ctx, both[0], both[1], trial.Sharings(), p.slack)
	if err != nil {
		return err
	}
	result := outlook{Level: trial.Level}
	for i, t := range both {
		result.Programs[i] = recording{t.Program, len(t.Launches), t.Busy(), t.Overhead}
	}
	var unmeasured []string
	for _, o := range outlooks {
		if !o.Sharing.Measured {
			unmeasured = append(unmeasured, o.Sharing.Name)
		}
		s := sharing{Way: o.Sharing.Name, Measured: o.Sharing.Measured, Speed: o.Speeds}
		if deadline > 0 {
			within := o.Within(urgent, deadline)
			s.Within = &within
		}
		result.Ways = append(result.Ways, s)
	}
	var best trial.Outlook
	var kept bool
	switch {
	case deadline > 0:
		best, kept = trial.BestWithin(outlooks, urgent, deadline)
	case p.urgent != "":
		best, kept = trial.Best(outlooks, urgent, p.slack)
	}
	result.Best = best.Sharing.Name
	within := best.Within(urgent, deadline)
	if deadline > 0 && within.Value == 0 {
		result.Best = ""
	}
	return p.answer.Print(env, result, func(page *cli.Page) {
		for i, r := range result.Programs {
			page.Line("%c: %s: %d launches, device busy %.0f %% of its time; recording took %.0f %%", 'A'+i, r.Program, r.Launches, 100*r.Busy, 100*r.Overhead)
		}
		columns := []string{"way to share", "speed of A", "low", "high", "speed of B", "low", "high"}
		if deadline > 0 {
			columns = append(columns, "in time", "low", "high")
		}
		t := page.Table(columns...)
		for _, w := range result.Ways {
			row := []any{w.Way, w.Speed[0].Value, w.Speed[0].Low, w.Speed[0].High, w.Speed[1].Value, w.Speed[1].Low, w.Speed[1].High}
			if w.Within != nil {
				row = append(row, cli.Share(w.Within.Value), cli.Share(w.Within.Low), cli.Share(w.Within.High))
			}
			t.Add(row...)
		}
		page.Line("%.0f %% intervals of the speed relative to alone; interference on the host (CPU) and in memory is not included", 100*trial.Level)
		if deadline > 0 {
			page.Line("in time: jobs of %c within %v, from a first launch to the program's own wait for the device", 'A'+urgent, deadline)
		}
		page.Line("not yet compared with a device, so not recommended: %s", strings.Join(unmeasured, "; "))
		const percent = 100 * trial.Punctual
		switch {
		case deadline > 0 && result.Best == "":
			page.Line("no way keeps the deadline for any job; alone a job takes %v or more", outlooks[0].Alone[urgent][0].Round(time.Microsecond))
		case deadline > 0 && !kept:
			page.Line("no way keeps the deadline for %v %% of the jobs; most are in time with: %s", percent, result.Best)
		case deadline > 0 && within.Low < trial.Punctual:
			page.Line("best for this deadline: %s; its interval, as that of every way, allows for less than %v %% in time", result.Best, percent)
		case deadline > 0:
			page.Line("best for this deadline: %s", result.Best)
		case result.Best != "" && !kept:
			page.Line("no way keeps %s within %v of its time alone; it is fastest with: %s", p.urgent, cmp.Or(p.slack, policy.DefaultSlack), result.Best)
		case result.Best != "":
			page.Line("best for an urgent %s: %s", p.urgent, result.Best)
		}
	})
}
