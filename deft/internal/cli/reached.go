package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
	"github.com/foretime/foretime/shared/crash"
)

// reportFailedStart prints why a command could not be started and returns the exit status that
// a shell would give.
func reportFailedStart(w io.Writer, command string, err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(w, "deft: exec: %s: not found\n", command)
		return 127
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // without "fork/exec" and the path again
	}
	fmt.Fprintf(w, "deft: exec: %s: %v\n", command, err)
	return 126
}

// pollInterval is the time between two looks for the first launch.
const pollInterval = 50 * time.Millisecond

// watchProgram waits for the first launch of a program's processes and prints how it
// reached the driver and how it is throttled. At the end it prints how long the program was
// stopped for others, or why a hooked program launched nothing. The caller must call end when
// the program has ended.
func watchProgram(path, name string, say io.Writer) (end func(hooked bool), err error) {
	s, err := session.Open(path)
	if err != nil {
		return nil, err
	}
	before := map[int]bool{}
	for i := range session.Slots {
		c, _ := s.Client(i)
		before[supervisor.ID(c)] = true
	}
	own := func(c session.Client) bool { return c.Name == name && c.Epoch > 0 && !before[supervisor.ID(c)] }
	began := time.Now()
	stop, done := make(chan bool), make(chan struct{})
	crash.Go(func() {
		defer close(done)
		for ended, hooked := false, false; ; {
			for i := range session.Slots { // the counters of an ended client remain
				if c, running := s.Client(i); own(c) && c.Launches > 0 {
					process := "ended"
					if running {
						process = strconv.Itoa(c.PID())
					}
					fmt.Fprintf(say, "deft: %s (%s) reached the driver by %s; %s: %s\n", c.Name, process, pathName(c.Paths), s.Policy(), directiveText(s.Policy(), c.Directive))
					return
				}
			}
			if hooked {
				fmt.Fprintf(say, "deft: %s launched nothing on the device: %s\n", name, noLaunchReason(s, own))
			}
			if ended {
				return
			}
			select {
			case hooked = <-stop:
				ended = true
			case <-time.After(pollInterval):
			}
		}
	})
	return func(hooked bool) {
		select {
		case stop <- hooked:
		case <-done: // the line is printed
		}
		<-done
		showWaits(say, name, s, own, time.Since(began))
		_ = s.Close()
	}, nil
}

// noLaunchReason says why a program launched nothing, as deft doctor does.
func noLaunchReason(s *session.Session, own func(session.Client) bool) string {
	var clients []session.Client
	for i := range session.Slots { // also of ended clients
		if c, _ := s.Client(i); own(c) {
			clients = append(clients, c)
		}
	}
	return strings.Join(hook.Diagnose(hook.Evidence{Clients: clients}).Findings, "; ")
}

// minShownWait is the smallest share of a program's time at its gate that is printed.
const minShownWait = 0.1

// showWaits prints how long a program was stopped for others, if the share is at least
// minShownWait.
func showWaits(say io.Writer, name string, s *session.Session, own func(session.Client) bool, ran time.Duration) {
	var waited time.Duration
	for i := range session.Slots {
		if c, _ := s.Client(i); own(c) {
			waited += c.AtGate
		}
	}
	if share := waited.Seconds() / ran.Seconds(); share >= minShownWait {
		fmt.Fprintf(say, "deft: %s waited at its gate for %.1f s, %.0f %% of its time, for other programs or deft ctl pause; a larger --slack of the session lets urgent programs give away more\n",
			name, waited.Seconds(), 100*min(share, 1))
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
