package sampling

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/crash"
)

// patience bounds the time in which another machine must end a run that is not needed any more.
const patience = 20 * time.Second

// ErrRemote is returned when another machine gives no answer that can be used.
var ErrRemote = errors.New("remote")

// Request is a request to another machine: for one run or, with no epochs, for its identity.
type Request struct {
	Job    string `json:"job"`    // description, in YAML
	Folder string `json:"folder"` // of the description
	Step
}

// Reply is the answer.
type Reply struct {
	Identity journal.Identity `json:"identity"`
	Run      *journal.Run     `json:"run,omitempty"`
	Error    string           `json:"error,omitempty"`
}

// Spec is the job of a request, on its device alone, which is here, without
// logs.
func (r *Request) Spec() (*jobspec.Spec, error) {
	spec, err := jobspec.Parse(strings.NewReader(r.Job))
	if err != nil {
		return nil, err
	}
	spec.Folder, spec.Run.Logs = r.Folder, ""
	d := spec.Devices[r.Device]
	d.Machine = jobspec.Machine{}
	spec.Devices = map[string]jobspec.Device{r.Device: d}
	return spec, nil
}

// Answer reads a request, executes it and writes the reply. Do is stopped when the client goes
// away, which the end of in shows.
func Answer(ctx context.Context, in io.Reader, out io.Writer, do func(context.Context, *Request) (*Reply, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%w: no request: %w", ErrRemote, err)
	}
	var request Request
	if err := json.Unmarshal(line, &request); err != nil {
		return fmt.Errorf("%w: request: %w", ErrRemote, err)
	}
	crash.Go(func() {
		_, _ = io.Copy(io.Discard, lines)
		stop()
	})
	reply, err := do(ctx, &request)
	if err != nil {
		reply = &Reply{Error: err.Error()}
	}
	return json.NewEncoder(out).Encode(reply)
}

// Remote is a device on another machine. The allox-est there measures as it does
// here and returns the run as a line of the journal; the program and the job's files
// must be found there at the same paths.
type Remote struct {
	spec *jobspec.Spec
	name string
	argv []string
	pool string // of interchangeable machines; empty for a single one
}

// NewRemote returns a device of a job that names a machine; nil if it is here.
func NewRemote(spec *jobspec.Spec, name string) *Remote {
	d := &Remote{spec: spec, name: name}
	m := spec.Devices[name].Machine
	switch program := m.ProgramName(); {
	case m.SSH != "":
		d.argv = []string{"ssh", "-o", "BatchMode=yes", m.SSH, program + " remote"}
	case m.Slurm != "":
		d.pool = "slurm " + m.Slurm
		d.argv = append(append([]string{"srun", "--quiet", "--ntasks=1"}, strings.Fields(m.Slurm)...), program, "remote")
	default:
		return nil
	}
	return d
}

// Identity returns the identity of the runs that the device makes: of the machine, or of the
// nodes that Slurm may choose.
func (d *Remote) Identity(ctx context.Context, here journal.Identity) (journal.Identity, error) {
	if d.pool != "" {
		return journal.Identity{Host: d.pool, Inputs: here.Inputs}, nil
	}
	reply, err := d.request(ctx, Step{Device: d.name})
	if err != nil {
		return journal.Identity{}, err
	}
	return reply.Identity, nil
}

// Run makes a run.
func (d *Remote) Run(ctx context.Context, step Step, here journal.Identity) (*journal.Run, error) {
	reply, err := d.request(ctx, step)
	if err != nil {
		return nil, err
	}
	if reply.Run == nil {
		return nil, fmt.Errorf("%w: %s: no run in the reply", ErrRemote, d)
	}
	if d.pool != "" {
		reply.Run.Identity = journal.Identity{Host: d.pool, Inputs: here.Inputs}
	}
	return reply.Run, nil
}

// String names the machine for messages.
func (d *Remote) String() string { return strings.Join(d.argv, " ") }

func (d *Remote) request(ctx context.Context, step Step) (*Reply, error) {
	job, err := yaml.Marshal(d.spec)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(d.spec.Folder)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(Request{string(job), folder, step})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, d.argv[0], d.argv[1:]...)
	in, err := cmd.StdinPipe() // it ends with ctx
	if err != nil {
		return nil, err
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, patience
	crash.Go(func() { _, _ = in.Write(append(request, '\n')) }) // where the machine has gone there is nobody to ask
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		said := ""
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			said = strings.Join(strings.Fields(string(exit.Stderr)), " ")
		}
		return nil, fmt.Errorf("%w: %s: %w: %s", ErrRemote, d, err, said)
	}
	var reply Reply
	last := out[bytes.LastIndexByte(bytes.TrimRight(out, "\n"), '\n')+1:] // after what a login prints
	if err := json.Unmarshal(last, &reply); err != nil {
		return nil, fmt.Errorf("%w: %s: %w in %.80q", ErrRemote, d, err, last)
	}
	if reply.Error != "" {
		return nil, fmt.Errorf("%w: %s: %s", ErrRemote, d, reply.Error)
	}
	return &reply, nil
}
