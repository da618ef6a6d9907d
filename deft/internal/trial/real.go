package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/observer"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
	"github.com/foretime/foretime/shared/crash"
)

// Machine describes the machine on which processes run.
type Machine struct {
	Device  string       // name in results: sim or cuda
	Hook    string       // libdeft.so
	Environ []string     // of every process
	Place   daemon.Place // of the run's session
	// Program returns the command of a model; the session and the hook are added to its
	// environment.
	Program func(m *experiment.Model, x *experiment.Experiment) (Program, error)
	// KnownKernels says that the kernels take the time of the model's profile, as
	// on a simulated device: device time is then exact, else an estimate.
	KnownKernels bool
	Load         time.Duration // for a model to load; 0 is 120 s
}

// defaultPatience is the default of Machine.Load.
const defaultPatience = 120 * time.Second

// Real runs an experiment with processes on a machine, in a session at machine.Place. When
// ctx is done it ends them and returns ctx's error. If a process dies after the barrier,
// the others run to their end, and the error names it. In both cases it also returns the
// outcome of the models that finished a job, if there are any.
func Real(ctx context.Context, x *experiment.Experiment, machine Machine) (*Outcome, error) {
	r := &realRun{x: x, machine: machine, names: sessionNames(x)}
	known := r.known()
	var err error
	if r.owner, err = daemon.Start(machine.Place, daemon.Settings{Policy: x.PolicyName(), Rules: x.Rules(), Experiment: &known}); err != nil {
		return nil, err
	}
	r.supervisor = r.owner.Supervisor()
	return r.playRun(ctx)
}

// realRun is a running experiment.
type realRun struct {
	x          *experiment.Experiment
	machine    Machine
	owner      *daemon.Daemon // of the session
	supervisor *supervisor.Supervisor
	names      []string // of the models in the session
	processes  []*process
	released   bool // the barrier has fallen
}

// sessionNames returns the models' names in the session: a number for one that is too long.
func sessionNames(x *experiment.Experiment) []string {
	var all []string
	for i := range x.Models {
		name := x.Models[i].OutputName
		if len(name) > session.MaxName || slices.Contains(all, name) {
			name = "model " + strconv.Itoa(i)
		}
		all = append(all, name)
	}
	return all
}

// known answers the supervisor by a client's name.
func (r *realRun) known() supervisor.Settings {
	at := func(name string) int { return slices.Index(r.names, name) }
	return supervisor.Settings{
		Terms: func(name string) (policy.Terms, bool) {
			if i := at(name); i >= 0 {
				return r.x.Terms(i), true
			}
			return policy.Terms{}, false
		},
		Device: func(name string) func(kernels uint64) time.Duration {
			if i := at(name); i >= 0 && r.machine.KnownKernels {
				if p, err := r.x.Models[i].Profile(); err == nil {
					return p.DeviceTimeOf
				}
			}
			return nil
		},
	}
}

// playRun starts the processes, lets them go together and waits for their end. No
// process is left when it returns.
func (r *realRun) playRun(ctx context.Context) (*Outcome, error) {
	supervised, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	crash.Go(func() { ended <- r.owner.Run(supervised) })
	alive, kill := context.WithCancel(ctx)
	begin, err := r.processesPlay(alive)
	kill()
	for _, q := range r.processes {
		<-q.done
	}
	seconds := float64(session.Now()-begin) / 1e9
	totals := r.supervisor.Totals() // while the session is open
	stop()
	err = errors.Join(err, <-ended)
	if ctx.Err() != nil {
		err = ctx.Err() // that the processes ended is no news then
	}
	if err != nil && !r.released {
		return nil, err
	}
	o, failure := r.outcome(seconds, totals)
	return o, errors.Join(err, failure)
}

// processesPlay returns when all processes have ended, or at the first fault
// before the barrier fell, and when that was.
func (r *realRun) processesPlay(ctx context.Context) (begin int64, err error) {
	begin = session.Now()
	for i := range r.x.Models {
		if err := r.start(ctx, i); err != nil {
			return begin, err
		}
	}
	if err := r.barrier(ctx); err != nil {
		return begin, err
	}
	r.supervisor.Begin()
	r.released = true
	begin = session.Now()
	for i, q := range r.processes {
		if err := r.release(ctx, q, r.x.Models[i].Start); err != nil && !hasEnded(q) {
			return begin, err
		}
	}
	return begin, r.finish(ctx)
}

// start starts the process of a model in the session.
func (r *realRun) start(ctx context.Context, i int) error {
	m := &r.x.Models[i]
	if err := os.MkdirAll(outputDir(*m), 0o755); err != nil {
		return err
	}
	p, err := r.machine.Program(m, r.x)
	if err != nil {
		return fmt.Errorf("%s: %w", m.OutputName, err)
	}
	member := session.Membership{Session: r.machine.Place.Session(), Name: r.names[i], Priority: m.Priority, Weight: max(1, int(m.Weight))}
	p.Env = append(hook.Preload(slices.Concat(r.machine.Environ, p.Env), r.machine.Hook), member.Environ()...)
	q, err := startProcess(ctx, m.OutputName, m.Log(), p)
	if err != nil {
		return err
	}
	r.processes = append(r.processes, q)
	return nil
}

// barrier waits until every model is loaded.
func (r *realRun) barrier(ctx context.Context) error {
	limit := cmp.Or(r.machine.Load, defaultPatience)
	late := time.NewTimer(limit)
	defer late.Stop()
	for _, q := range r.processes {
		select {
		case <-q.loaded:
		case <-q.done:
			if q.err != nil {
				return q.err
			}
			return fmt.Errorf("%s: %w before its model was loaded%s", q.name, ErrDied, q.lastLines())
		case <-late.C:
			return fmt.Errorf("%s: %w: %v%s", q.name, ErrLoad, limit, q.lastLines())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// release lets a process go, after a while.
func (r *realRun) release(ctx context.Context, q *process, after time.Duration) error {
	if after == 0 {
		return q.release()
	}
	crash.Go(func() {
		select {
		case <-time.After(after):
			_ = q.release() // a process that has died says so itself
		case <-ctx.Done():
		}
	})
	return nil
}

// finish waits for the end of every process.
func (r *realRun) finish(ctx context.Context) error {
	var faults error
	for _, q := range r.processes {
		select {
		case <-q.done:
			faults = errors.Join(faults, q.err)
		case <-ctx.Done():
			return errors.Join(faults, ctx.Err())
		}
	}
	return faults
}

// outcome collects the logs that the processes wrote and what the supervisor saw.
func (r *realRun) outcome(seconds float64, totals map[string]observer.Totals) (*Outcome, error) {
	o := &Outcome{
		Run:    &report.Run{Policy: r.x.PolicyName(), Device: r.machine.Device, Clock: "real", Seconds: seconds, Warnings: warnings(r.x, r.machine.Device)},
		models: r.x.Models,
	}
	var faults error
	for i := range r.x.Models {
		m := describe(&r.x.Models[i])
		log, err := report.LoadLog(m.CSV)
		if err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		for _, d := range log.Diagnostics {
			o.Run.Warnings = append(o.Run.Warnings, d.Error())
		}
		if err := m.Measure(log.Times(), log.Span()); err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		t := totals[r.names[i]]
		m.Launches, m.Syncs = t.Launches, t.Syncs
		m.StallMS, m.GateMS = milliseconds(t.Stall), milliseconds(t.Gate)
		m.GPUMS = milliseconds(t.GPU)
		o.Run.Models = append(o.Run.Models, m)
		o.PIDs = append(o.PIDs, r.processes[i].cmd.Process.Pid)
	}
	o.Run.Decisions = r.supervisor.Decisions()
	for _, m := range o.Run.Models {
		if m.Launches == 0 {
			o.Run.Warnings = append(o.Run.Warnings, m.Output+": the hook saw no launch, so the policy had no effect; run deft doctor")
		}
	}
	if len(o.Run.Models) == 0 {
		return nil, faults
	}
	return o, faults
}

func hasEnded(q *process) bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}
