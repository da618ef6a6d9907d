package cli

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/provision"
	"github.com/foretime/foretime/shared/cli"
)

// chainStatus is the JSON output of mirage status.
type chainStatus struct {
	provision.Summary
	Queued  []int64 `json:"queued_jobs"`
	Running []int64 `json:"running_jobs"`
}

func newStatusCommand(env *cli.Env) *cobra.Command {
	var out cli.Output
	c := &cobra.Command{
		Use:     "status DIR",
		Short:   "Show the state of a service chain",
		Long:    "Show the services of a chain from DIR, the --state-dir directory of provision.",
		Example: "  mirage status chain",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := provision.ReadLedger(filepath.Join(args[0], "journal.jsonl"))
			if err != nil {
				return err
			}
			return out.Print(env, statusOf(l), func(p *cli.Page) { showStatus(p, l) })
		},
	}
	out.Flags(c, chainStatus{})
	return c
}

func statusOf(l *provision.Ledger) chainStatus {
	s := chainStatus{Summary: l.Summary(), Queued: []int64{}, Running: []int64{}}
	for _, k := range l.Links {
		switch {
		case k.Job == 0 || k.Ended:
		case k.Started:
			s.Running = append(s.Running, k.Job)
		default:
			s.Queued = append(s.Queued, k.Job)
		}
	}
	return s
}

func showStatus(p *cli.Page, l *provision.Ledger) {
	at := func(unix int64) string {
		if unix == 0 {
			return "-"
		}
		return time.Unix(unix, 0).UTC().Format(time.DateTime)
	}
	t := p.Table("service", "job", "state", "started (UTC)", "ended (UTC)")
	for _, k := range l.Links {
		state := "queued"
		switch {
		case k.Open:
			state = "unclear"
		case k.Ended:
			state = "ended"
		case k.Started:
			state = "running"
		case k.Gone != 0:
			state = "requeued"
		}
		t.Add(k.Number, k.Job, state, at(k.Start), at(k.End))
	}
	for _, k := range l.Extra() {
		p.Line("job %d was requeued after its successor had started: two services run at once unless you end it by scancel %d", k.Job, k.Job)
	}
	for _, job := range statusOf(l).Queued {
		p.Line("job %d is queued; scancel %d removes it", job, job)
	}
}
