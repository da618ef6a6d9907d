package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/deft/internal/diagnosis"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
)

// reportFailedStart prints why a command could not be started and returns the exit status that
// a shell would give.
func reportFailedStart(w io.Writer, command string, err error) int {
	status := cli.StartStatus(err)
	if status == 127 {
		err = errors.New("not found")
	} else if cause := errors.Unwrap(err); cause != nil {
		err = cause // without "fork/exec" and the path again
	}
	fmt.Fprintf(w, "deft: exec: %s: %v\n", command, err)
	return status
}

// pollInterval is the time between two looks for the first launch.
const pollInterval = 50 * time.Millisecond

// watchProgram waits for the first launch of a program's processes and prints how it
// reached the driver and how it is throttled. At the end it prints how long the program was
// stopped for others, and what the hook did not see of a hooked one. The caller must call end
// when the program has ended.
func watchProgram(path, name string, say io.Writer) (end func(hooked bool), err error) {
	s, err := session.Open(path)
	if err != nil {
		return nil, err
	}
	w := &programWatch{session: s, name: name, say: say, before: map[int]bool{}}
	for i := range session.Slots {
		c, _ := s.Client(i)
		w.before[supervisor.ID(c)] = true
	}
	began := time.Now()
	stop, done := make(chan struct{}), make(chan struct{})
	crash.Go(func() {
		defer close(done)
		for !w.showFirstLaunch() {
			select {
			case <-stop:
				return
			case <-time.After(pollInterval):
			}
		}
		w.showUnseen()
	})
	return func(hooked bool) {
		close(stop)
		<-done
		launched := w.showFirstLaunch()
		if hooked || launched {
			w.showUnseen()
		}
		w.showWaits(time.Since(began))
		_ = s.Close()
	}, nil
}

// programWatch observes the clients of one program in a session.
type programWatch struct {
	session *session.Session
	name    string
	say     io.Writer
	before  map[int]bool // clients that were there before the program

	launched, warned bool // what was printed
}

// clients returns the program's clients, those that have ended included.
func (w *programWatch) clients() (own []session.Client) {
	for i := range session.Slots {
		if c, _ := w.session.Client(i); c.Name == w.name && c.Epoch > 0 && !w.before[supervisor.ID(c)] {
			own = append(own, c)
		}
	}
	return own
}

// showFirstLaunch prints how the program reached the driver and how it is throttled, once it
// has launched something, and returns whether it has.
func (w *programWatch) showFirstLaunch() bool {
	for _, c := range w.clients() {
		if w.launched || c.Launches == 0 {
			continue
		}
		process := "ended"
		if c.Living() {
			process = strconv.Itoa(c.PID())
		}
		policy := w.session.Policy()
		fmt.Fprintf(w.say, "deft: %s (%s) reached the driver by %s; %s: %s\n", c.Name, process, pathName(c.Paths), policy, directiveText(policy, c.Directive))
		w.launched = true
	}
	return w.launched
}

// showUnseen prints once why the hook saw no launch of the program, or may not see others.
func (w *programWatch) showUnseen() {
	r := diagnosis.Diagnose(diagnosis.Evidence{Clients: w.clients()})
	if r.OK() || w.warned {
		return
	}
	what := " launched nothing on the device"
	if r.Launches > 0 {
		what = ": " + string(r.Verdict)
	}
	fmt.Fprintf(w.say, "deft: %s%s: %s\n", w.name, what, strings.Join(r.Findings, "; "))
	w.warned = true
}

// minShownWait is the smallest share of a program's time at its gate that is printed.
const minShownWait = 0.1

// showWaits prints how long a program that ran for a time was stopped for others, if the
// share is at least minShownWait.
func (w *programWatch) showWaits(ran time.Duration) {
	var waited time.Duration
	for _, c := range w.clients() {
		waited += c.AtGate
	}
	if share := waited.Seconds() / ran.Seconds(); share >= minShownWait {
		fmt.Fprintf(w.say, "deft: %s waited at its gate for %.1f s, %.0f %% of its time, for other programs or deft ctl pause; a larger --slack of the session lets urgent programs give away more\n",
			w.name, waited.Seconds(), 100*min(share, 1))
	}
}

// pathName returns the name of the first way by which a program found the driver's functions.
func pathName(p session.Paths) string {
	for _, one := range []session.Paths{session.PathGetProcV2, session.PathGetProc, session.PathShim, session.PathDlsym, session.PathLinked} {
		if p&one != 0 {
			return one.Names()[0]
		}
	}
	return "an unknown way"
}

// directiveText describes a directive of a policy.
func directiveText(policy string, d session.Directive) string {
	switch {
	case d.Closed:
		return "stopped at its gate now"
	case d.InFlightTime > 0:
		return fmt.Sprintf("at most %v of device time in flight", d.InFlightTime)
	case d.SyncEvery > 0:
		return fmt.Sprintf("waits for its queue every %d kernels", d.SyncEvery)
	}
	if policy == "priority" {
		return "not throttled: no program of higher priority is running"
	}
	return "not throttled"
}
