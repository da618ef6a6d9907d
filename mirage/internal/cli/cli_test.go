package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

const day = 86400

func log(submits ...int64) *trace.Trace {
	t := &trace.Trace{Zone: time.UTC}
	for _, at := range submits {
		t.Jobs = append(t.Jobs, trace.Job{User: "u", Nodes: 2, Submit: at, Start: at, End: at + 60, Limit: 60, Priority: float64(at / day)})
	}
	return t
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]span{"90s": 90, "4h": 4 * 3600, "14d": 14 * day, "1d12h": day + 12*3600, "0h": 0, "1h30m": 5400, "12:00:00": 12 * 3600, "2-00:00:00": 2 * day, "90": 5400, "1-0": day, "1-12": 36 * 3600, "90:30": 5430} {
		var got, again span
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s: %v is read as %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"soon", "1-", "-4h", "d", "0d", "1.5d", "-1d", "99999999999d"} {
		var got span
		if err := got.Set(text); err == nil {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func usage(err error) bool {
	var wrong *cli.UsageError
	return errors.As(err, &wrong)
}

func TestDates(t *testing.T) {
	l := log(10*day, 12*day, 20*day)
	for _, tt := range []struct {
		from, to string
		lo, hi   int64
	}{{"", "", 10 * day, 20*day + 1}, {"1970-01-13", "", 12 * day, 20*day + 1}, {"", "1970-01-13", 10 * day, 12 * day}} {
		if lo, hi, err := (dates{tt.from, tt.to}).parse(l); err != nil || lo != tt.lo || hi != tt.hi {
			t.Errorf("%q %q: %d %d, %v", tt.from, tt.to, lo, hi, err)
		}
	}
	for _, d := range []dates{{"1970-02-01", "1970-01-13"}, {"x", ""}, {"", "x"}} {
		if _, _, err := d.parse(l); !usage(err) {
			t.Errorf("%v: %v", d, err)
		}
	}
	if jobs, _, _, err := (dates{"1970-01-13", "1970-01-14"}).jobs(l, 3*day); err != nil || len(jobs) != 2 {
		t.Errorf("with a history of three days %d jobs, %v", len(jobs), err)
	}
	if _, _, _, err := (dates{"1970-01-14", "1970-01-15"}).jobs(l, 3*day); !errors.Is(err, trace.ErrNoJobs) {
		t.Errorf("nobody that day: %v", err)
	}
}

// with is settings as a command line gives them.
func with(t *testing.T, args ...string) *settings {
	t.Helper()
	s := newSettings()
	c := &cobra.Command{}
	s.machineFlags(c)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return s
}

func set(pairs ...string) (args []string) {
	for _, p := range pairs {
		args = append(args, "--set", p)
	}
	return args
}

// TestMachine: --set overrides the file, which overrides the defaults.
func TestMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	rules := cluster.Defaults(cluster.Slurm)
	rules.UserLimit, rules.Weights.Size = 5, 300
	saved := &simulator.File{Config: simulator.Config{Machine: cluster.Machine{Nodes: 70}, Rules: rules}}
	if err := file.WriteJSON(path, saved); err != nil {
		t.Fatal(err)
	}
	config := func(args ...string) (simulator.Config, error) {
		s := with(t, args...)
		if err := s.load(); err != nil {
			return simulator.Config{}, err
		}
		return s.config(log(0, 1, 2))
	}
	if c, err := config(); err != nil || c.Nodes != 6 || c.Discipline != cluster.Slurm || c.Weights.Age != 7000 {
		t.Errorf("nothing given: %+v, %v", c, err)
	}
	if c, err := config("--config", path); err != nil || cmp.Diff(saved.Config, c) != "" {
		t.Errorf("a file that calibrate wrote: %s, %v", cmp.Diff(saved.Config, c), err)
	}
	if c, err := config(append(set("user_limit=0", "weights.size=1"), "--config", path, "--nodes", "60")...); err != nil || c.Nodes != 60 || c.UserLimit != 0 || c.Weights.Size != 1 {
		t.Errorf("a file and flags: %+v, %v", c, err)
	}
	if c, err := config(set("scheduler=easy")...); err != nil || c.Discipline != cluster.EASY || c.Weights.Size != 0 || c.Backfill.IntervalSeconds != 0 {
		t.Errorf("another scheduler: %+v, %v", c, err)
	}
	for _, args := range [][]string{set("scheduler=lottery"), {"--nodes", "-1"}, set("colour=red"), set("policy.lead=2")} {
		if _, err := config(args...); !usage(err) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// TestReference: the settings that the reference shows are all read, and taken.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := with(t, "--config", file)
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	c, err := s.config(log(0, 1, 2))
	if err != nil || c.Nodes != 75 || c.UserLimit != 8 {
		t.Errorf("%+v, %v", c, err)
	}
	if s.Log.Before != "2023-03-01" || s.Service.Notice != 300 || s.Decide.Poll != 120 || s.Policy["wait_quantile"] != .5 || s.Workers != 2 {
		t.Errorf("%+v", s)
	}
}

// TestServicePriority is the median of what was known before the first episode,
// unless it is given.
func TestServicePriority(t *testing.T) {
	l := log(1*day, 2*day, 3*day, 50*day, 60*day, 70*day, 80*day)
	plan := func(args ...string) samples.Plan {
		var e episodes
		c := &cobra.Command{}
		e.flags(c, 4, day)
		if err := c.ParseFlags(append(args, "--start", "1970-02-01")); err != nil {
			t.Fatal(err)
		}
		if err := e.load(); err != nil {
			t.Fatal(err)
		}
		p, err := e.plan(l, 2)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := plan(); p.Service.Priority != 2 || p.Interval != day || p.Start != 31*day {
		t.Errorf("%+v", p)
	}
	if p := plan("--set", "service.priority=9"); p.Service.Priority != 9 {
		t.Errorf("%+v", p)
	}
}

// TestKnobs: every baseline can be set, and a setting out of range is wrong usage.
func TestKnobs(t *testing.T) {
	s := with(t, set("policy.lead_hours=3", "policy.quantile=1.5")...)
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	for _, b := range policy.Baselines() {
		if b.New.Knob == nil {
			continue
		}
		d, err := s.decider(b.Name, 3)
		setting := d.settings[b.New.Knob.Name]
		switch b.Name {
		case "fixed":
			if setting != 3. || err != nil {
				t.Errorf("lead %v, %v", setting, err)
			}
		case "quantile":
			if !usage(err) || !errors.Is(err, policy.ErrKnob) {
				t.Errorf("quantile 1.5: %v", err)
			}
		case "futures":
			if setting != .25 || err != nil {
				t.Errorf("an hour of overlap costs three: %v, %v", setting, err)
			}
		default:
			if err != nil || setting != b.New.Knob.Default {
				t.Errorf("%s: %v, %v", b.Name, setting, err)
			}
		}
	}
	for cost, want := range map[string]float64{"": .5, "decide.overlap_cost=3": .25} {
		p := &chainCommand{in: newSettings(), env: cli.NewEnv(nil, io.Discard, io.Discard)}
		if cost != "" {
			p.in = with(t, set(cost)...)
		}
		if err := p.in.load(); err != nil {
			t.Fatal(err)
		}
		if got, err := p.policy(); err != nil || got != (policy.Futures{Quantile: want}) {
			t.Errorf("%s: %+v, %v", cost, got, err)
		}
	}
	if want := []string{"avg", "quantile", "forecast", "futures"}; !slices.Equal(rivals(), want) {
		t.Errorf("comparisons play %v, want %v", rivals(), want)
	}
}

func TestOpenModel(t *testing.T) {
	if _, err := newSettings().decider("crystal-ball", 1, oracle); !usage(err) || !strings.Contains(err.Error(), "never-late, oracle") {
		t.Errorf("%v", err)
	}
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newSettings().decider(path, 1); err == nil || usage(err) {
		t.Errorf("an empty object: %v", err)
	}
}

// TestForecasts: a file that describes nodes of kinds does not change how a log is
// forecast.
func TestForecasts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	machine := cluster.Machine{Nodes: 4, Kinds: []cluster.Kind{{Name: "fat", Nodes: 4, CPUs: 8}}}
	if err := file.WriteJSON(path, &simulator.File{Config: simulator.Config{Machine: machine, Rules: cluster.Defaults(cluster.Slurm)}}); err != nil {
		t.Fatal(err)
	}
	s, without := with(t, "--config", path), with(t)
	for _, s := range []*settings{s, without} {
		if err := s.load(); err != nil {
			t.Fatal(err)
		}
	}
	c := log(0, 60, 120)
	c.Unit, c.Size = trace.Processors, 32
	if a, b := s.clusterSize(c), without.clusterSize(c); a != b || a != 32 {
		t.Errorf("forecasts for %d processors with a file, %d without", a, b)
	}
}

// TestFlagCount: no command has more than fifteen flags of its own, besides --help.
func TestFlagCount(t *testing.T) {
	const most = 15
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		var names []string
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				names = append(names, f.Name)
			}
		})
		if seen += len(names); len(names) > most {
			t.Errorf("%s has %d flags, want at most %d: %v", c.CommandPath(), len(names), most, names)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(New(cli.NewEnv(nil, io.Discard, io.Discard)))
	if seen < 100 {
		t.Errorf("%d flags in all: some commands were not visited", seen)
	}
}
