package diagnosis

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/session"
)

// Verdict says whether the hook sees what a program does on the GPU, and if not, the kind
// of reason.
type Verdict string

// The verdicts. All but Seen are failures.
const (
	Seen       Verdict = "launches seen"
	Partial    Verdict = "launches seen, but others may be unseen" // of libraries that no preload reaches
	NotLoaded  Verdict = "hook not loaded"                         // in no process
	Driverless Verdict = "no driver used"                          // the program did not load libcuda.so.1
	Bypassed   Verdict = "hook bypassed"                           // the driver was loaded, and not through the hook
	Unreached  Verdict = "driver not reached through the hook"
	NoLaunch   Verdict = "nothing was launched" // the driver was reached through the hook
)

// Diagnosis is a verdict with its reasons.
type Diagnosis struct {
	Verdict   Verdict   `json:"verdict"`
	Launches  uint64    `json:"launches"`
	Findings  []string  `json:"findings"` // what was seen, and how to fix it
	Processes []Process `json:"processes"`
}

// Process holds the hook's record of one process that reached the driver.
type Process struct {
	Name          string   `json:"name"`
	PID           int      `json:"pid"`
	Launches      uint64   `json:"launches"`
	GraphLaunches uint64   `json:"graph_launches"`
	Captured      uint64   `json:"captured"`
	Copies        uint64   `json:"copies"`
	Waits         uint64   `json:"waits"` // the program's own synchronizations
	MemoryPeak    uint64   `json:"memory_peak_bytes"`
	Refused       uint64   `json:"memory_refused"` // allocations refused by its quota
	Paths         []string `json:"paths"`          // how it reached the driver
}

// Evidence holds the traces of an ended program in its session.
type Evidence struct {
	Path        string // of the program's file; "" unknown
	JoinsAtLoad bool   // its processes joined when they loaded the hook, not when they reached the driver
	Clients     []session.Client
}

// OK says that all launches were seen, as far as is known.
func (r Diagnosis) OK() bool { return r.Verdict == Seen }

// reached are the ways in which a program gets a wrapped entry point.
const reached = session.PathDlsym | session.PathGetProc | session.PathGetProcV2 | session.PathLinked | session.PathShim

// unseen are the ways by which a library gets at the driver past any preloaded library.
const unseen = session.PathDeepbind | session.PathNamespace

// Diagnose says whether the hook saw the program's launches, and if not, why and how to
// fix it. A program without launches is a failure, whatever the reason.
func Diagnose(e Evidence) Diagnosis {
	r := Diagnosis{Processes: []Process{}, Findings: []string{}}
	var paths session.Paths
	for _, c := range e.Clients {
		r.Launches += c.Launches
		paths |= c.Paths
		if c.Paths != 0 || c.Launches != 0 || c.Copies != 0 || c.MemoryRefused != 0 {
			r.Processes = append(r.Processes, Process{
				Name: c.Name, PID: c.PID(),
				Launches: c.Launches, GraphLaunches: c.GraphLaunches, Captured: c.Captured,
				Copies: c.Copies, Waits: c.OwnSyncs, MemoryPeak: c.MemoryPeak, Refused: c.MemoryRefused,
				Paths: c.Paths.Names(),
			})
		}
	}
	if r.Verdict = verdict(e, r.Launches, paths); r.Verdict == Seen {
		return r
	}
	for _, c := range e.Clients {
		if c.Living() && r.Launches == 0 {
			r.Findings = append(r.Findings, fmt.Sprintf("it still runs in the background (process %d)", c.PID()))
			return r
		}
	}
	if why := ReasonUnhooked(e.Path); e.Path != "" && why != "" {
		r.Findings = append(r.Findings, fmt.Sprintf("%s %s, so no library can be preloaded into it", e.Path, why))
	}
	r.explain(paths)
	return r
}

func verdict(e Evidence, launches uint64, paths session.Paths) Verdict {
	switch {
	case len(e.Clients) == 0 && !e.JoinsAtLoad:
		return Unreached
	case len(e.Clients) == 0:
		return NotLoaded
	case launches > 0 && paths&unseen != 0 && paths&session.PathShim == 0: // whom no preload reaches, the shim does
		return Partial
	case launches > 0:
		return Seen
	case paths&reached != 0 && paths&unseen == 0:
		return NoLaunch
	case paths&(session.PathLoaded|session.PathNamespace) != 0:
		return Bypassed
	default:
		return Driverless
	}
}

// useShim tells how to reach a program that no preloaded library reaches.
const useShim = "put the directory of deft build-hook --shim first in LD_LIBRARY_PATH"

// explain adds what a verdict means and what to do.
func (r *Diagnosis) explain(paths session.Paths) {
	var copies, captured, refused uint64
	for _, p := range r.Processes {
		copies += p.Copies
		captured += p.Captured
		refused += p.Refused
	}
	deepbind, namespace := paths&session.PathDeepbind != 0, paths&session.PathNamespace != 0
	opened, none := paths&session.PathDlopen != 0, r.Verdict == NoLaunch
	for _, f := range []struct {
		applies bool
		finding string
	}{
		{r.Verdict == NotLoaded, "no process loaded libdeft.so: the program is static or of another libc (musl), changes its user or group, or clears LD_PRELOAD"},
		{r.Verdict == Unreached, "it did not come to the driver through the hook, as a program that uses no GPU, changes its user or group, clears LD_PRELOAD or leaves a process in the background; deft doctor -- COMMAND tells more"},
		{r.Verdict == Driverless && opened, "the program could not open libcuda.so.1, or was killed at once: check that a driver is installed"},
		{r.Verdict == Driverless && !opened, "the hook was loaded, but not libcuda.so.1: the program does not use CUDA, found no GPU, or starts another program without LD_PRELOAD or as another user"},
		{none, "the program got the driver's functions through the hook but launched nothing"},
		{none && refused > 0, fmt.Sprintf("%d allocations were refused by its memory quota (--memory-quota)", refused)},
		{none && copies > 0, fmt.Sprintf("it only copied memory, %d times", copies)},
		{none && captured > 0, fmt.Sprintf("it captured %d launches into graphs and launched none of them", captured)},
		{deepbind, "a library was opened with RTLD_DEEPBIND: no preloaded library sees its launches; set DEFT_DEEPBIND=strip, or " + useShim},
		{namespace, "a library was opened in a namespace of its own (dlmopen): no preloaded library sees its launches; " + useShim},
		{r.Verdict == Bypassed && !deepbind && !namespace, "libcuda.so.1 was loaded, but no launch went through the hook: " + useShim},
		// Every program of the CUDA runtime asks for a private table.
		{paths&session.PathExportTable != 0, "the program uses a private table of the driver, as profilers and the CUDA runtime do: calls through it are not seen"},
	} {
		if f.applies {
			r.Findings = append(r.Findings, f.finding)
		}
	}
}
