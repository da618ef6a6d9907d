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

// unhooked says why a preloaded library does not reach a program; empty where it
// does, as far as its file tells. A script is as its interpreter.
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
		return "has AddressSanitizer, which wants to be loaded first"
	}
	return ""
}

// notStarted is the exit status of a command that could not be started, as a shell
// gives it, and the line about it.
func notStarted(w io.Writer, command string, err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(w, "deft: exec: %s: not found\n", command)
		return 127
	}
	fmt.Fprintf(w, "deft: exec: %s: %v\n", command, errors.Unwrap(err))
	return 126
}

// watchFirst looks for the first launch of a program's processes, and says then how it
// reached the driver and what is asked of it, or, where it was hooked, at the end that
// it did not.
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
			for i := range session.Slots { // one that ended between two looks has left his counters
				if c, there := s.Client(i); c.Name == name && c.Launches > 0 && !before[supervisor.ID(c)] {
					who := map[bool]string{true: fmt.Sprint(c.PID()), false: "ended"}[there]
					fmt.Fprintf(say, "deft: %s (%s) reached the driver by %s; %s: %s\n", c.Name, who, way(c.Paths), s.Policy(), asked(c.Directive))
					return
				}
			}
			if hooked {
				fmt.Fprintf(say, "deft: %s launched nothing: it did not come to the driver\n", name)
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
		case <-done: // it has said so
		}
		<-done
		_ = s.Close()
	}, nil
}

// way is how a program reached the driver: the first of the ways that gave it
// functions.
func way(p session.Paths) string {
	for _, one := range []session.Paths{session.PathGetProcV2, session.PathGetProc, session.PathShim, session.PathDlsym, session.PathLinked} {
		if p&one != 0 {
			return one.Names()[0]
		}
	}
	return "a way that is not known"
}

// asked is what a directive asks, in words.
func asked(d session.Directive) string {
	switch {
	case d.Closed:
		return "held at its gate now"
	case d.InFlightTime > 0:
		return fmt.Sprintf("at most %v of device time in flight", d.InFlightTime)
	case d.SyncEvery > 0:
		return fmt.Sprintf("waits for its queue every %d kernels", d.SyncEvery)
	case d.InFlight > 0:
		return fmt.Sprintf("at most %d kernels in flight", d.InFlight)
	}
	return "nothing is asked of it while no more urgent program is there"
}
