package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
)

func newLogCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{Use: "log", Short: "Describe and generate accounting logs"}
	c.AddCommand(newStatsCommand(env), newSynthCommand(env))
	return c
}

// badRow is a row that cannot be used.
type badRow struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// traceStats is the JSON output of mirage log stats.
type traceStats struct {
	trace.Stats
	Bad            []badRow       `json:"bad"`
	Layout         trace.Layout   `json:"layout"`
	Zone           string         `json:"zone"`
	MedianPriority float64        `json:"median_priority"`
	FirstSubmit    trace.Instant  `json:"first_submit"`
	LastSubmit     trace.Instant  `json:"last_submit"`
	Skipped        map[string]int `json:"skipped"`
	Unit           trace.Unit     `json:"unit"`
	MachineSize    int            `json:"machine_size,omitempty"`
}

func newTraceStats(t *trace.Trace) traceStats {
	out := traceStats{
		Stats: t.Stats(), Bad: []badRow{}, Layout: t.Layout, Zone: t.Zone.String(), MedianPriority: trace.MedianPriority(t.Jobs),
		FirstSubmit: t.Clock(t.Jobs[0].Submit), LastSubmit: t.Clock(t.Jobs[len(t.Jobs)-1].Submit),
		Skipped: t.Skipped, Unit: cmp.Or(t.Unit, trace.Nodes), MachineSize: t.Size,
	}
	for _, b := range t.Bad {
		out.Bad = append(out.Bad, badRow{b.Line, b.Msg})
	}
	return out
}

func newStatsCommand(env *cli.Env) *cobra.Command {
	s := newSettings()
	var out cli.Output
	c := &cobra.Command{
		Use:     "stats FILE",
		Short:   "Print statistics of a log and its unusable rows",
		Example: "  mirage log stats sacct.log --set log.zone=UTC",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := s.open(env, args[0])
			if err != nil {
				return err
			}
			stats := newTraceStats(t)
			return out.Print(env, stats, stats.show)
		},
	}
	s.flags(c)
	out.Flags(c, traceStats{})
	return c
}

func (s traceStats) show(p *cli.Page) {
	t := p.Table("figure", "value")
	t.Add("layout", s.Layout)
	t.Add("time zone", s.Zone)
	t.Add("usable rows", s.Rows)
	t.Add("bad rows", len(s.Bad))
	t.Add("users", s.Users)
	t.Add("first submission", s.FirstSubmit)
	t.Add("last submission", s.LastSubmit)
	if s.MachineSize > 0 {
		t.Add(string(s.Unit)+" of the cluster", s.MachineSize)
	}
	t.Add(string(s.Unit)+" in use at once, at most", s.PeakNodes)
	t.Add(string(s.Unit)+" of one job, at most", s.MaxNodes)
	t.Add("jobs of zero duration", s.ZeroDuration)
	t.Add("jobs over their limit by more than 60 s", s.OverLimit60)
	t.Add("node-hours by wall-clock times", s.NaiveNodeHours)
	t.Add("node-hours, zone-aware", s.NodeHours)
	t.Add("mean wait (h)", s.MeanWaitHours)
	if s.UnknownWaits > 0 {
		t.Add("jobs with unknown wait", s.UnknownWaits)
	}
	if s.Held > 0 {
		t.Add("jobs held before they could start", s.Held)
		t.Add("hours held, all jobs", s.HeldHours)
	}
	if s.Pending+s.Running > 0 {
		t.Add("jobs pending at the log's end", s.Pending)
		t.Add("jobs running at the log's end", s.Running)
	}
	t.Add("median logged priority", s.MedianPriority)
}
