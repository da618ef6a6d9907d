package slurmview

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Client talks to a Slurm by its commands.
type Client struct {
	Runner Runner
}

// Controller holds the settings of slurmctld that the loop needs.
type Controller struct {
	MessageTimeout time.Duration // how long a request may be under way
	MinJobAge      time.Duration // how long a finished job is remembered; 0 is for ever
	Accounting     bool          // sacct can be asked
	Private        bool          // users see only their own jobs
	Linear         bool          // jobs have whole nodes
	Memory         bool          // memory is given out like CPUs
	Parameters     string        // of the scheduler
	Limits         bool          // limits of accounts and QOS are enforced
	Associations   bool          // a job's user, account and QOS must be known to the accounting
	Cluster        string        // its name
	Preemption     string        // PreemptType, if jobs take the place of others
	Boot           time.Duration // the longest time that a powered-down node takes to resume
	priorities     priorities
}

// DependentsAge reports whether a job gains as much priority while it waits for another job's
// end as it would without a dependency.
func (k *Controller) DependentsAge() bool {
	return !(k.priorities.agePoints > 0) || k.priorities.accrues
}

// Queue returns the jobs of all partitions that the controller knows, those
// that ended lately included. The error wraps ErrCommand or ErrAnswer.
func (c *Client) Queue(ctx context.Context) ([]Job, error) {
	b, err := c.Runner.Run(ctx, []string{"squeue", "--json", "--states=all", "--all"}, nil)
	if err != nil {
		return nil, err
	}
	return ParseQueue(b)
}

// Controller asks for the controller's settings.
func (c *Client) Controller(ctx context.Context) (Controller, error) {
	b, err := c.Runner.Run(ctx, []string{"scontrol", "show", "config"}, nil)
	if err != nil {
		return Controller{}, err
	}
	return ParseController(b)
}

// ParseController reads what scontrol show config prints. The error wraps
// ErrAnswer.
func ParseController(b []byte) (k Controller, err error) {
	said := configuration(b)
	for key, span := range map[string]*time.Duration{"MessageTimeout": &k.MessageTimeout, "MinJobAge": &k.MinJobAge} {
		n, err := strconv.Atoi(strings.TrimSuffix(said[key], " sec"))
		if err != nil || n < 0 {
			return k, fmt.Errorf("scontrol: %w: %s is %q", ErrAnswer, key, said[key])
		}
		*span = time.Duration(n) * time.Second
	}
	storage, told := said["AccountingStorageType"]
	if !told {
		return k, fmt.Errorf("scontrol: %w: AccountingStorageType is missing", ErrAnswer)
	}
	k.Accounting = !slices.Contains([]string{"accounting_storage/none", "(null)", ""}, storage)
	k.Associations = k.Accounting && !slices.Contains([]string{"", "none", "(null)", "nojobs", "nosteps"}, strings.ToLower(said["AccountingStorageEnforce"]))
	k.Limits = slices.ContainsFunc(strings.Split(said["AccountingStorageEnforce"], ","), func(word string) bool { return word == "limits" || word == "safe" || word == "all" })
	k.Cluster = said["ClusterName"]
	if kind := said["PreemptType"]; kind == byTier || kind == byQuality {
		k.Preemption = kind
	}
	if seconds, err := strconv.Atoi(strings.TrimSuffix(said["ResumeTimeout"], " sec")); err == nil {
		k.Boot = time.Duration(seconds) * time.Second
	}
	k.Private = slices.Contains(strings.Split(said["PrivateData"], ","), "jobs")
	k.Linear = said["SelectType"] == "select/linear"
	k.Memory = strings.Contains(said["SelectTypeParameters"], "MEMORY")
	k.Parameters = said["SchedulerParameters"]
	k.priorities = parsePriorities(said)
	return k, nil
}

// configuration returns the settings that scontrol show config prints.
func configuration(b []byte) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, "="); ok {
			settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return settings
}
