package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	Cluster        string        // its name
	priorities     priorities
}

// Request is a job to submit.
type Request struct {
	Script  string
	Args    []string // of the script
	Nodes   int
	Limit   time.Duration // rounded up to minutes, as Slurm counts
	Options []string      // more options of sbatch, such as --partition=gpu
	Name    string
	Comment string
	// Notice is the time before its limit at which a job gets SIGTERM, to hand over; 0 is
	// never. Slurm may send it up to a minute earlier.
	Notice time.Duration
	// After is a job that has to end before this one starts; 0 is none.
	After int64
}

// chose says that the user's own options hold one of these.
func (r *Request) chose(names ...string) bool {
	return slices.ContainsFunc(r.Options, func(o string) bool {
		name, _, _ := strings.Cut(o, "=")
		return slices.Contains(names, name) || len(name) > 2 && name[1] != '-' && slices.Contains(names, name[:2])
	})
}

// own are the options of the hand-over that the user has not chosen.
func (r *Request) own() (argv []string) {
	if r.Notice > 0 && !r.chose("--signal") {
		argv = append(argv, fmt.Sprintf("--signal=B:TERM@%d", int(r.Notice.Seconds())))
	}
	if r.After > 0 && !r.chose("--dependency", "-d") {
		argv = append(argv, fmt.Sprintf("--dependency=afterany:%d", r.After))
	}
	return argv
}

func (r *Request) argv() []string {
	minutes := (r.Limit + time.Minute - 1) / time.Minute
	argv := []string{"sbatch", "--parsable"}
	argv = append(append(argv, r.Options...), r.own()...)
	argv = append(argv,
		"--job-name="+r.Name, "--comment="+r.Comment, "--nodes="+strconv.Itoa(r.Nodes),
		"--time="+strconv.Itoa(int(minutes)), "--no-requeue", "--", r.Script)
	return append(argv, r.Args...)
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

// Accounted returns the jobs of a name that the accounting knows, submitted
// since an instant.
func (c *Client) Accounted(ctx context.Context, name string, since int64) ([]Job, error) {
	b, err := c.Runner.Run(ctx, []string{
		"sacct", "--allocations", "--parsable2", "--noheader", "--duplicates",
		"--format=" + accounting, "--name=" + name,
		"--starttime=" + time.Unix(since, 0).Format("2006-01-02T15:04:05"),
	}, nil)
	if err != nil {
		return nil, err
	}
	return ParseAccounting(b)
}

// ErrRefused is returned when Slurm will not have a job as it is: there is none,
// and to ask again would not help.
var ErrRefused = errors.New("job rejected")

// refusals are parts of what sbatch says, in lower letters, when it will not have
// a job at whatever repetition.
var refusals = []string{
	"invalid partition", "invalid qos", "invalid account", "invalid user", "invalid feature", "invalid license",
	"invalid generic resource", "node configuration is not available", "partition configuration not available",
	"time limit is invalid", "node count specification", "more processors requested than permitted",
	"unrecognized option", "invalid option", "unable to open file", "permission denied", "dos line breaks",
	"does not look like a batch script", "memory specification can not be satisfied",
}

// ErrLimited is returned when Slurm does not have a job now, for a limit on submitted
// jobs: there is none, and the same request may be accepted later.
var ErrLimited = errors.New("job rejected for now")

// refused returns ErrRefused or ErrLimited for an error of sbatch's after which there is no
// job; nil after others. Slurm has one text for limits that pass and limits that do not
// (ESLURM_ACCOUNTING_POLICY); newer versions name the limit on a line before it.
func refused(err error) error {
	said := strings.ToLower(err.Error())
	switch {
	case slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(said, r) }):
		return ErrRefused
	case strings.Contains(said, "job violates"):
		if strings.Contains(said, "perjob") || strings.Contains(said, "notsatisfied") || strings.Contains(said, "notallowed") {
			return ErrRefused
		}
		return ErrLimited
	}
	return nil
}

// Submit submits a job and returns its id. sbatch inherits held. After an
// error that wraps neither ErrRefused nor ErrLimited the job may have been submitted all the
// same.
func (c *Client) Submit(ctx context.Context, r Request, held *os.File) (int64, error) {
	b, err := c.Runner.Run(ctx, r.argv(), held)
	if errors.Is(err, ErrCommand) {
		if why := refused(err); why != nil {
			return 0, fmt.Errorf("%w: %v", why, err) // not an ErrCommand: it says that there is no job
		}
	}
	if err != nil {
		return 0, err
	}
	printed := lines(b)                                                                                    // a site may print a greeting first
	first, _, _ := strings.Cut(strings.TrimSpace(slices.Concat([]string{""}, printed)[len(printed)]), ";") // id;cluster
	id, err := strconv.ParseInt(first, 10, 64)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("sbatch: %w: %q is not a job id", ErrAnswer, first)
	}
	return id, nil
}

// Cancel cancels a job, if it is not over.
func (c *Client) Cancel(ctx context.Context, id int64) error {
	_, err := c.Runner.Run(ctx, []string{"scancel", strconv.FormatInt(id, 10)}, nil)
	return err
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
	k.Limits = slices.ContainsFunc(strings.Split(said["AccountingStorageEnforce"], ","), func(word string) bool { return word == "limits" || word == "safe" || word == "all" })
	k.Cluster = said["ClusterName"]
	k.Private = slices.Contains(strings.Split(said["PrivateData"], ","), "jobs")
	k.Linear = said["SelectType"] == "select/linear"
	k.Memory = strings.Contains(said["SelectTypeParameters"], "MEMORY")
	k.Parameters = said["SchedulerParameters"]
	k.priorities = parsePriorities(said)
	return k, nil
}
