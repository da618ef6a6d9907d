package cli

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/supervisor"
	"github.com/foretime/foretime/shared/crash"
)

// unhooked returns the reason why a preloaded library does not reach a program; "" if
// its file shows none. A script is treated like its interpreter.
func unhooked(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return "is statically linked"
	}
	libraries, err := f.ImportedLibraries()
	if err == nil && slices.ContainsFunc(libraries, func(l string) bool { return strings.HasPrefix(l, "libasan.") }) {
		return "uses AddressSanitizer, which must be loaded first"
	}
	return ""
}

// notStarted prints why a command could not be started and returns the exit status that
// a shell would give.
func notStarted(w io.Writer, command string, err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(w, "deft: exec: %s: not found\n", command)
		return 127
	}
	fmt.Fprintf(w, "deft: exec: %s: %v\n", command, errors.Unwrap(err))
	return 126
}

// watchFirst waits for the first launch of a program's processes and prints how it
// reached the driver and how it is throttled. If a hooked program launches nothing, it
// prints that at the end.
func watchFirst(path, name string, say io.Writer) (end func(hooked bool), err error) {
	s, err := session.Open(path)
	if err != nil {
		return nil, err
	}
	before := map[int]bool{}
	for i := range session.Slots {
		c, _ := s.Client(i)
		before[supervisor.ID(c)] = true
	}
	stop, done := make(chan bool), make(chan struct{})
	crash.Go(func() {
		defer close(done)
		for ended, hooked := false, false; ; {
			for i := range session.Slots { // the counters of an ended client remain
				if c, there := s.Client(i); c.Name == name && c.Launches > 0 && !before[supervisor.ID(c)] {
					who := map[bool]string{true: fmt.Sprint(c.PID()), false: "ended"}[there]
					fmt.Fprintf(say, "deft: %s (%s) reached the driver by %s; %s: %s\n", c.Name, who, way(c.Paths), s.Policy(), asked(c.Directive))
					return
				}
			}
			if hooked {
				fmt.Fprintf(say, "deft: %s launched nothing on the device\n", name)
			}
			if ended {
				return
			}
			select {
			case hooked = <-stop:
				ended = true
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return func(hooked bool) {
		select {
		case stop <- hooked:
		case <-done: // the line is printed
		}
		<-done
		_ = s.Close()
	}, nil
}

// way returns the first of the ways by which a program got the driver's functions.
func way(p session.Paths) string {
	for _, one := range []session.Paths{session.PathGetProcV2, session.PathGetProc, session.PathShim, session.PathDlsym, session.PathLinked} {
		if p&one != 0 {
			return one.Names()[0]
		}
	}
	return "an unknown way"
}

// asked describes a directive.
func asked(d session.Directive) string {
	switch {
	case d.Closed:
		return "stopped at its gate now"
	case d.InFlightTime > 0:
		return fmt.Sprintf("at most %v of device time in flight", d.InFlightTime)
	case d.SyncEvery > 0:
		return fmt.Sprintf("waits for its queue every %d kernels", d.SyncEvery)
	case d.InFlight > 0:
		return fmt.Sprintf("at most %d kernels in flight", d.InFlight)
	}
	return "not throttled: no program of higher priority is running"
}
