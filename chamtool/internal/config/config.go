package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrValue is matched by the warnings about values that could not be used.
var ErrValue = errors.New("unusable value")

// Calibrate says what happens to the models that are kept between runs.
type Calibrate int

// What happens to the kept models.
const (
	CalibrateUse     Calibrate = iota // read, never written
	CalibrateAdd                      // read, and merged with this run at its end
	CalibrateRestart                  // ignored, and replaced at the end
)

// Config is the tool's configuration.
type Config struct {
	Verbose        bool
	LogDir         string
	LogFormats     []string // of csv, tab; empty is none
	LogMegabytes   int      // of each log; 0 is no limit
	RingSlots      int
	FirstFitRounds int    // iterations
	Home           string // "" keeps no models
	Calibrate      Calibrate
	Balance        bool      // the tool moves tasks, from the offload table
	MovesAtOnce    int       // tasks that the library sends to one rank at a time
	Iterations     int       // patched library: EST_NUM_ITERS
	TasksPerRank   []int     // patched library: TASKS_PER_RANK
	Effective      []Setting // every variable with the value in force, in the order of [Variables]
}

// Setting is one variable as it came out.
type Setting struct {
	Variable
	Value string
	Given bool // the environment has it, and it was usable
}

// Variable is one variable of the environment.
type Variable struct {
	Name    string
	Default string
	Help    string
	set     func(string) error
}

// StorePath returns the path of this host's kept models, "" if none are kept.
func (c *Config) StorePath() string {
	if c.Home == "" {
		return ""
	}
	host, _ := os.Hostname()
	return filepath.Join(c.Home, "models", cmp.Or(host, "unknown")+".runs")
}

// Read reads the configuration. The warnings match [ErrValue]; each leaves its
// variable's default in force.
func Read(lookup func(name string) (string, bool)) (*Config, []error) {
	c := &Config{}
	if user, ok := lookup("HOME"); ok && user != "" {
		c.Home = filepath.Join(user, ".chamtool")
	}
	var warnings []error
	for _, v := range c.variables() {
		value, given := lookup(v.Name)
		if given = given && strings.TrimSpace(value) != ""; given {
			if err := v.set(strings.TrimSpace(value)); err != nil {
				warnings = append(warnings, fmt.Errorf("%s=%.60q: %w: %w; using %q", v.Name, value, ErrValue, err, v.Default))
				given = false
			}
		}
		if !given {
			value = v.Default
			if err := v.set(value); err != nil {
				panic(fmt.Sprintf("config: default of %s: %v", v.Name, err))
			}
		}
		c.Effective = append(c.Effective, Setting{v, value, given})
	}
	inForce := map[string]string{"CHAMTOOL_HOME": c.Home, "CHAMTOOL_LOG_DIR": c.LogDir}
	for i := range c.Effective {
		s := &c.Effective[i]
		s.Value = cmp.Or(s.Value, inForce[s.Name])
	}
	return c, warnings
}

// Unknown returns warnings about variables of the environment, as "NAME=VALUE", that
// have the tool's name and no meaning: words mistyped.
func Unknown(environment []string) []error {
	known := map[string]bool{}
	for _, v := range Variables() {
		known[v.Name] = true
	}
	var warnings []error
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "CHAMTOOL_") && !known[name] {
			warnings = append(warnings, fmt.Errorf("%.60s: %w: unknown variable", name, ErrValue))
		}
	}
	slices.SortFunc(warnings, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return warnings
}

// Variables lists what the tool reads from the environment. A variable of the
// original tool stands before ours where ours falls back to it.
func Variables() []Variable { return new(Config).variables() }

func (c *Config) variables() []Variable {
	return []Variable{
		{"CHAMTOOL_VERBOSE", "0", "1 prints this list and a final summary to stderr", flag(&c.Verbose)},
		{"LOG_DIR", "logs", "directory for logs, created if missing (the original tool's name)", text(&c.LogDir)},
		{"CHAMTOOL_LOG_DIR", "", "the same, with priority over LOG_DIR", overridden(text(&c.LogDir))},
		{"CHAMTOOL_LOG_FORMAT", "csv", "csv, tab (the original tool's layout), or both separated by a comma; none writes no log", c.formats},
		{"CHAMTOOL_LOG_MEGABYTES", "256", "size of a rank's log in MB beyond which tasks are only counted by function; 0 is no limit", number(&c.LogMegabytes, 0, 1<<30)},
		{"CHAMTOOL_RING_SLOTS", "16384", "slots of 32 bytes in each thread's ring, rounded up to a power of two", number(&c.RingSlots, 64, 1<<24)},
		{"TIME2TRAIN", "0", "iterations before the first prediction (the original tool's name)", number(&c.FirstFitRounds, 0, 1<<20)},
		{"CHAMTOOL_HOME", "", "directory of models kept between runs; default $HOME/.chamtool", overridden(text(&c.Home))},
		{"CHAMTOOL_CALIBRATE", "1", "0 uses kept models unchanged, 1 adds to them, 2 discards them", number(&c.Calibrate, 0, 2)},
		{"CHAMTOOL_BALANCE", "off", "off, or proactive: the tool moves tasks between ranks", c.balance},
		{"MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE", "1", "Chameleon's variable: the tool moves at most this many tasks to a rank at once", number(&c.MovesAtOnce, 0, math.MaxInt32)},
		{"EST_NUM_ITERS", "100", "patched library: number of iterations to forecast at once", number(&c.Iterations, 1, 1<<16)},
		{"TASKS_PER_RANK", "", "patched library: tasks of each rank, separated by commas; default is the tool's count", c.counts},
	}
}

func flag(at *bool) func(string) error {
	return func(s string) (err error) {
		if *at, err = strconv.ParseBool(s); err != nil {
			return errors.New("want 0 or 1")
		}
		return nil
	}
}

func text(at *string) func(string) error {
	return func(s string) error {
		if strings.ContainsRune(s, 0) {
			return errors.New("contains a zero byte")
		}
		*at = s
		return nil
	}
}

// overridden returns a setter whose empty value leaves what another variable set.
func overridden(set func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return set(s)
	}
}

func number[N ~int](at *N, low, high N) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || N(n) < low || N(n) > high {
			return fmt.Errorf("want a whole number from %d to %d", low, high)
		}
		*at = N(n)
		return nil
	}
}

func (c *Config) formats(s string) error {
	var found []string
	for _, f := range strings.Split(s, ",") {
		switch f = strings.TrimSpace(f); {
		case f == "none" && len(found) == 0 && s == "none":
		case slices.Contains([]string{"csv", "tab"}, f):
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		default:
			return errors.New("want csv, tab or none")
		}
	}
	c.LogFormats = found
	return nil
}

func (c *Config) balance(s string) error {
	if c.Balance = s == "proactive"; !c.Balance && s != "off" {
		return errors.New("want off or proactive")
	}
	return nil
}

func (c *Config) counts(s string) error {
	c.TasksPerRank = nil
	if s == "" {
		return nil
	}
	for _, word := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 0 {
			c.TasksPerRank = nil
			return errors.New("want whole numbers separated by commas")
		}
		c.TasksPerRank = append(c.TasksPerRank, n)
	}
	return nil
}
