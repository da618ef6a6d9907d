package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
)

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
	// Begin is the time from now on before which it does not start; 0 is none.
	Begin time.Duration
}

// chose says that the user's own options hold one of these.
func (r *Request) chose(names ...string) bool {
	return slices.ContainsFunc(r.Options, func(o string) bool {
		name, _, _ := strings.Cut(o, "=")
		return slices.Contains(names, name) || len(name) > 2 && name[1] != '-' && slices.Contains(names, name[:2])
	})
}

// own returns the options of the hand-over that the user has not chosen.
func (r *Request) own() (argv []string) {
	if r.Notice > 0 && !r.chose("--signal") {
		argv = append(argv, fmt.Sprintf("--signal=B:TERM@%d", int(r.Notice.Seconds())))
	}
	if r.After > 0 && !r.chose("--dependency", "-d") {
		argv = append(argv, fmt.Sprintf("--dependency=afterany:%d", r.After))
	}
	if r.Begin > 0 {
		argv = append(argv, fmt.Sprintf("--begin=now+%d", int(r.Begin.Seconds())))
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

// findAccounted returns the jobs of a name that the accounting knows, submitted
// since an instant.
func findAccounted(ctx context.Context, c *slurmview.Client, name string, since int64) ([]slurmview.Job, error) {
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

// classifyRefusal returns ErrRefused or ErrLimited for an error of sbatch's after which there is no
// job; nil after others. Slurm has one text for limits that pass and limits that do not
// (ESLURM_ACCOUNTING_POLICY); newer versions name the limit on a line before it.
func classifyRefusal(err error) error {
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

// submitJob submits a job and returns its id. sbatch inherits held. After an
// error that wraps neither ErrRefused nor ErrLimited the job may have been submitted all the
// same.
func submitJob(ctx context.Context, c *slurmview.Client, r Request, held *os.File) (int64, error) {
	b, err := c.Runner.Run(ctx, r.argv(), held)
	if errors.Is(err, slurmview.ErrCommand) {
		if why := classifyRefusal(err); why != nil {
			return 0, fmt.Errorf("%w: %v", why, err) // not an ErrCommand: it says that there is no job
		}
	}
	if err != nil {
		return 0, err
	}
	printed := slurmview.Lines(b)                                                                          // a site may print a greeting first
	first, _, _ := strings.Cut(strings.TrimSpace(slices.Concat([]string{""}, printed)[len(printed)]), ";") // id;cluster
	id, err := strconv.ParseInt(first, 10, 64)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("sbatch: %w: %q is not a job id", slurmview.ErrAnswer, first)
	}
	return id, nil
}

// cancelJob cancels a job, if it is not over.
func cancelJob(ctx context.Context, c *slurmview.Client, id int64) error {
	_, err := c.Runner.Run(ctx, []string{"scancel", strconv.FormatInt(id, 10)}, nil)
	return err
}

// silences are parts of what Slurm's commands say, in lower letters, when the controller does
// not answer, or when a job has started meanwhile.
var silences = []string{"unable to contact", "connect", "timed out", "timeout", "deadline exceeded", "socket", "zero bytes", "no longer pending", "already complet"}

// setBegin lets a job that waits for its begin start from some time on. The error wraps
// ErrRefused if the controller does not allow the change.
func setBegin(ctx context.Context, c *slurmview.Client, id int64, after time.Duration) error {
	begin := fmt.Sprintf("StartTime=now+%d", int(after.Seconds()))
	_, err := c.Runner.Run(ctx, []string{"scontrol", "update", "JobId=" + strconv.FormatInt(id, 10), strings.TrimSuffix(begin, "+0")}, nil)
	if err == nil {
		return nil
	}
	said := strings.ToLower(err.Error())
	if slices.ContainsFunc(silences, func(s string) bool { return strings.Contains(said, s) }) {
		return err
	}
	return fmt.Errorf("job %d cannot begin at another time: %w: %v", id, ErrRefused, err) // not an ErrCommand, to be tried again
}

// describeEnd returns the exit code and the log of a job as far as the controller knows them,
// such as " with exit code 3, log /home/me/slurm-12.out".
func describeEnd(ctx context.Context, c *slurmview.Client, id int64) (text string) {
	b, err := c.Runner.Run(ctx, []string{"scontrol", "--oneliner", "show", "job", strconv.FormatInt(id, 10)}, nil)
	if err != nil {
		return ""
	}
	for _, field := range []struct{ key, text string }{{" ExitCode=", " with exit code "}, {" StdErr=", ", log "}} {
		if _, rest, ok := strings.Cut(string(b), field.key); ok {
			value, _, _ := strings.Cut(rest, " ")
			text += field.text + strings.TrimSuffix(value, ":0")
		}
	}
	return text
}

// accounting are the fields asked of sacct, in order.
const accounting = "JobIDRaw,State,JobName"

// ParseAccounting reads what sacct prints with --parsable2 --noheader and the fields
// JobIDRaw, State, JobName. The error wraps ErrAnswer.
func ParseAccounting(b []byte) ([]slurmview.Job, error) {
	var jobs []slurmview.Job
	for i, line := range slurmview.Lines(b) {
		id, rest, _ := strings.Cut(line, "|")
		said, name, found := strings.Cut(rest, "|")
		word, _, _ := strings.Cut(said, " ") // "CANCELLED by 1000"
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n <= 0 || word == "" || !found {
			return nil, fmt.Errorf("sacct:%d: %w: no id, no state or no name: %q", i+1, slurmview.ErrAnswer, line)
		}
		jobs = append(jobs, slurmview.Job{ID: n, State: trace.State(word), Name: name})
	}
	return jobs, nil
}
