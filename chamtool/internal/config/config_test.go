package config

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func with(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

func TestDefaults(t *testing.T) {
	c, warnings := Read(with(map[string]string{"HOME": "/home/u"}))
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	if c.LogDir != "logs" || c.RingSlots != 16384 || c.Balance || c.Calibrate != CalibrateAdd || !slices.Equal(c.LogFormats, []string{"csv"}) {
		t.Errorf("defaults: %+v", c)
	}
	for _, s := range c.Effective {
		want := cmp.Or(s.Default, map[string]string{"CHAMTOOL_HOME": "/home/u/.chamtool", "CHAMTOOL_LOG_DIR": "logs"}[s.Name])
		if s.Given || s.Value != want || s.Help == "" {
			t.Errorf("%+v", s)
		}
	}
}

func TestRead(t *testing.T) {
	host, _ := os.Hostname()
	tests := []struct {
		name, value string
		warns       bool
		check       func(*Config) bool
	}{
		{"CHAMTOOL_VERBOSE", "1", false, func(c *Config) bool { return c.Verbose }},
		{"CHAMTOOL_VERBOSE", "loud", true, func(c *Config) bool { return !c.Verbose }},
		{"LOG_DIR", "a/b", false, func(c *Config) bool { return c.LogDir == "a/b" }},
		{"CHAMTOOL_LOG_DIR", "c", false, func(c *Config) bool { return c.LogDir == "c" }},
		{"CHAMTOOL_LOG_DIR", "a\x00b", true, func(c *Config) bool { return c.LogDir == "logs" }},
		{"CHAMTOOL_LOG_FORMAT", "tab, csv,tab", false, func(c *Config) bool { return slices.Equal(c.LogFormats, []string{"tab", "csv"}) }},
		{"CHAMTOOL_LOG_FORMAT", "none", false, func(c *Config) bool { return len(c.LogFormats) == 0 }},
		{"CHAMTOOL_LOG_FORMAT", "none,csv", true, func(c *Config) bool { return slices.Equal(c.LogFormats, []string{"csv"}) }},
		{"CHAMTOOL_LOG_FORMAT", "xml", true, func(c *Config) bool { return slices.Equal(c.LogFormats, []string{"csv"}) }},
		{"CHAMTOOL_RING_SLOTS", "-1", true, func(c *Config) bool { return c.RingSlots == 16384 }},
		{"CHAMTOOL_RING_SLOTS", "99999999999999999999", true, func(c *Config) bool { return c.RingSlots == 16384 }},
		{"CHAMTOOL_RING_SLOTS", " 128 ", false, func(c *Config) bool { return c.RingSlots == 128 }},
		{"CHAMTOOL_CALIBRATE", "3", true, func(c *Config) bool { return c.Calibrate == CalibrateAdd }},
		{"CHAMTOOL_CALIBRATE", "2", false, func(c *Config) bool { return c.Calibrate == CalibrateRestart }},
		{"CHAMTOOL_BALANCE", "yes", true, func(c *Config) bool { return !c.Balance }},
		{"CHAMTOOL_BALANCE", "proactive", false, func(c *Config) bool { return c.Balance }},
		{"CHAMTOOL_BALANCE", "", false, func(c *Config) bool { return !c.Balance }},
		{"TASKS_PER_RANK", "10, 20", false, func(c *Config) bool { return slices.Equal(c.TasksPerRank, []int{10, 20}) }},
		{"TASKS_PER_RANK", "10,x", true, func(c *Config) bool { return c.TasksPerRank == nil }},
		{"HOME", "/home/u", false, func(c *Config) bool { return c.StorePath() == "/home/u/.chamtool/models/"+host+".runs" }},
		{"CHAMTOOL_HOME", "/data", false, func(c *Config) bool { return c.StorePath() == "/data/models/"+host+".runs" }},
		{"LOG_DIR", "no home", false, func(c *Config) bool { return c.StorePath() == "" }},
	}
	for _, tt := range tests {
		t.Run(tt.name+"="+strings.ReplaceAll(tt.value, "\x00", "0"), func(t *testing.T) {
			c, warnings := Read(with(map[string]string{tt.name: tt.value}))
			if (len(warnings) > 0) != tt.warns {
				t.Errorf("warnings %v", warnings)
			}
			for _, w := range warnings {
				if !errors.Is(w, ErrValue) || !strings.Contains(w.Error(), tt.name) {
					t.Errorf("warning %q does not name the variable", w)
				}
			}
			if !tt.check(c) {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestOurLogFolderWins(t *testing.T) {
	c, _ := Read(with(map[string]string{"LOG_DIR": "theirs", "CHAMTOOL_LOG_DIR": "ours"}))
	if c.LogDir != "ours" {
		t.Error(c.LogDir)
	}
}

// Whatever the environment holds, a configuration comes out that is in range.
func TestAnyEnvironment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]string{}
		for _, v := range Variables() {
			if rapid.Bool().Draw(t, "set") {
				values[v.Name] = rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]*)?(e[0-9]{1,3})?`)).Draw(t, v.Name)
			}
		}
		c, _ := Read(with(values))
		if c.RingSlots < 64 || c.RingSlots > 1<<24 || c.LogDir == "" {
			t.Fatalf("%+v", c)
		}
	})
}

// The reference names every variable.
func TestReferenceNamesEveryVariable(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Variables() {
		if !strings.Contains(string(text), "`"+v.Name+"`") && v.Name != "CHAMTOOL_VERBOSE" {
			t.Errorf("docs/reference.md does not name %s", v.Name)
		}
	}
}
