package job

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/summary"
)

// Times tells what the threads of an OpenMP program did, and how efficient it was in the terms of
// POP (Performance Optimisation and Productivity, "Standard metrics for parallel performance
// analysis"): the share of its threads' time that they computed is the parallel efficiency, a
// product of the load balance (mean over most of the threads' computing) and of the communication
// efficiency (most of the threads' computing over the wall time). Times are in seconds.
type Times struct {
	Wall float64 `json:"wall_seconds"` // of the rank with the most, without what MPI took before the first use of OpenMP
	*Efficiency
	Ranks     []ThreadTime `json:"ranks"`                 // sums of their threads
	Threads   []ThreadTime `json:"threads"`               // by rank and number
	Losses    []Loss       `json:"losses"`                // largest first
	Callbacks float64      `json:"callback_seconds"`      // of the tool, on the program's threads
	Tool      float64      `json:"tool_seconds"`          // of CPU, on threads of its own
	Start     float64      `json:"start_and_end_seconds"` // in which the program waited for the tool, of the rank with the most
	Slowdown  [2]float64   `json:"slowdown"`              // by all, at least and at most, as a factor of the slowest rank; 0 if unknown
}

// Efficiency holds the figures of all ranks together. It is nil, unknown, if a rank has no log.
type Efficiency struct {
	Parallel      float64 `json:"parallel_efficiency"`
	LoadBalance   float64 `json:"load_balance"`
	RankBalance   float64 `json:"rank_balance"`   // the same of the ranks' mean threads, each for all threads of its rank
	ThreadBalance float64 `json:"thread_balance"` // LoadBalance over RankBalance
	Communication float64 `json:"communication_efficiency"`
}

// ThreadTime divides the time of a thread, or of all threads of a rank.
type ThreadTime struct {
	Rank       int     `json:"rank"`
	Thread     int     `json:"thread"`     // number of threads for a rank
	Processors int     `json:"processors"` // that the rank may use; 0 if unknown
	Useful     float64 `json:"useful_seconds"`
	Computing  float64 `json:"computing_seconds"` // in parallel regions, on a processor
	Stopped    float64 `json:"stopped_seconds"`   // in parallel regions, without a processor: asleep, waiting, or in the system
	Waiting    float64 `json:"waiting_seconds"`   // in barriers and for tasks, with nothing to run, and for locks
	MPI        float64 `json:"mpi_seconds"`
	Outside    float64 `json:"outside_seconds"` // of parallel regions
	Unknown    float64 `json:"unknown_seconds"` // computing or stopped
	ended      float64 // after the thread's end
}

// add adds a time to a thread.
func (t *ThreadTime) add(p *summary.PlaceTime) {
	switch p.Kind {
	case event.Computing.String():
		t.Computing += p.Seconds - p.Stopped
		t.Stopped += p.Stopped
		t.Useful += p.Seconds - p.Stopped
	case event.Waiting.String(), event.Locked.String():
		t.Waiting += p.Seconds
	case event.InMPI.String(), event.InMPIAlone.String():
		t.MPI += p.Seconds
	case event.Serial.String():
		t.Useful += p.Seconds - p.Stopped
	case event.Unknown.String():
		t.Unknown += p.Seconds
	case event.Ended.String():
		t.ended += p.Seconds
	}
}

// plus adds up what two threads did.
func (t ThreadTime) plus(o ThreadTime) ThreadTime {
	t.Useful += o.Useful
	t.Computing += o.Computing
	t.Stopped += o.Stopped
	t.Waiting += o.Waiting
	t.MPI += o.MPI
	t.Outside += o.Outside
	t.Unknown += o.Unknown
	return t
}

// threadTimes returns the times of a rank's threads that took part in a parallel region, or of
// all where there was none, in a job that took a wall time. A rank whose end was not seen may have
// run as long as the others.
func threadTimes(rank int, s *summary.Summary, wall float64) []ThreadTime {
	unseen := 0.0
	if !s.Complete && !s.Signal {
		unseen = wall - runSeconds(s)
	}
	lanes := map[int]*ThreadTime{}
	computes := func(p summary.PlaceTime) bool { return p.Kind == event.Computing.String() }
	hasRegion := slices.ContainsFunc(s.Times, computes)
	for _, p := range s.Times {
		if computes(p) || !hasRegion {
			lanes[p.Lane] = &ThreadTime{Rank: rank, Thread: p.Lane, Processors: s.Processors}
		}
	}
	for i := range s.Times {
		if t := lanes[s.Times[i].Lane]; t != nil {
			t.add(&s.Times[i])
		}
	}
	var out []ThreadTime
	for _, lane := range slices.Sorted(maps.Keys(lanes)) {
		t := lanes[lane]
		t.Outside = max(0, runSeconds(s)-t.Computing-t.Stopped-t.Waiting-t.MPI-t.Unknown-t.ended)
		t.Unknown += unseen
		out = append(out, *t)
	}
	return out
}

// runSeconds returns the time of a rank without what MPI took before the first use of OpenMP.
func runSeconds(s *summary.Summary) float64 { return s.RunSeconds + s.Early.Seconds }

// unknownTimes returns why the times of a job are not known, or "".
func (j *Job) unknownTimes() string {
	for _, r := range j.Ranks {
		if r.Summary == nil || len(r.Summary.Times) == 0 {
			if r.Summary != nil && !r.Summary.Complete {
				return fmt.Sprintf("the tool did not see the end of rank %d", r.Rank)
			}
			return "the runtime does not report regions and barriers"
		}
		inMPI := func(p summary.PlaceTime) bool {
			return p.Kind == event.InMPI.String() || p.Kind == event.InMPIAlone.String()
		}
		if (len(j.Ranks) > 1 || len(j.Missing) > 0) && !slices.ContainsFunc(r.Summary.Times, inMPI) {
			if !r.Summary.Complete {
				return fmt.Sprintf("the tool did not see the end of rank %d, nor calls of MPI before", r.Rank)
			}
			return "calls of MPI were not seen: start the program by chamtool run, or with LD_PRELOAD=libchamtool.so"
		}
	}
	return ""
}

// missing returns which ranks have no log, or "".
func (j *Job) missing() string {
	if len(j.Missing) == 0 {
		return ""
	}
	ranks := strings.Trim(fmt.Sprint(j.Missing), "[]")
	return fmt.Sprintf("no log of rank %s of %d can be read: it used no OpenMP, or ended before the tool wrote one", ranks, len(j.Ranks)+len(j.Missing))
}

// times returns what the threads of all ranks did; nil if it is not known.
func (j *Job) times() *Times {
	if j.unknownTimes() != "" {
		return nil
	}
	t := &Times{}
	var mostThread, mostRank, useful float64
	for _, r := range j.Ranks {
		t.Wall = max(t.Wall, runSeconds(r.Summary))
	}
	for _, r := range j.Ranks {
		threads := threadTimes(r.Rank, r.Summary, t.Wall)
		if len(threads) == 0 {
			continue
		}
		all := ThreadTime{Rank: r.Rank, Thread: len(threads), Processors: r.Summary.Processors}
		for _, one := range threads {
			all = all.plus(one)
			mostThread = max(mostThread, one.Useful)
		}
		t.addTool(r.Summary, len(threads))
		t.Ranks = append(t.Ranks, all)
		t.Threads = append(t.Threads, threads...)
		useful += all.Useful
		mostRank = max(mostRank, all.Useful/float64(len(threads)))
	}
	if !(mostThread > 0) {
		return nil
	}
	if len(j.Missing) > 0 {
		return t
	}
	n := float64(len(t.Threads))
	t.Efficiency = &Efficiency{}
	t.Parallel = useful / n / t.Wall
	t.LoadBalance = useful / n / mostThread
	t.RankBalance = useful / n / mostRank
	t.ThreadBalance = mostRank / mostThread
	t.Communication = mostThread / t.Wall
	return t
}

// addTool adds the time of the tool on a rank with a number of threads. The slowdown is at most the
// CPU time of the process over what is left without the tool: other programs on the machine do not
// change it. It is at least the same of the time that its threads had, which they may have slept.
// The tool's own threads slow the program's if these use all processors. The program waits while
// the tool starts and ends, which counts by the wall time.
func (t *Times) addTool(s *summary.Summary, threads int) {
	if s.Callbacks == nil || !(s.CPUSeconds > 0) {
		return
	}
	t.Callbacks += *s.Callbacks
	t.Tool += s.ToolCPUSeconds
	tool := *s.Callbacks
	if s.Processors > 0 && s.Processors <= threads {
		tool += s.ToolCPUSeconds
	}
	t.Start = max(t.Start, s.StartAndEnd)
	run := runSeconds(s)
	if !(run > 0) {
		return
	}
	for i, had := range []float64{max(s.CPUSeconds, run*float64(threads)), s.CPUSeconds} {
		share := min(tool/had, mostToolShare)
		t.Slowdown[i] = max(t.Slowdown[i], (1+s.StartAndEnd/run)/(1-share))
	}
}

// mostToolShare bounds the share of the CPU time that is the tool's.
const mostToolShare = 0.9

// Loss is thread time at a place in which nothing was computed.
type Loss struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // of all threads together
	Share   float64 `json:"share"`   // of the time of all threads
	Advice  string  `json:"advice"`
}

// minLossShare is the least share of the threads' time that is a loss.
const minLossShare = 0.01

// lostPlace sums up the time of one kind at a place over all threads.
type lostPlace struct {
	kind    string
	place   string
	seconds float64         // of thread time that computed nothing
	ranks   map[int]float64 // of them, each rank's
}

// findLosses fills in the losses, largest first.
func (f *Figures) findLosses(j *Job) {
	t := f.Times
	found := map[[2]string]*lostPlace{}
	lose := func(rank int, kind event.TimeKind, place string, seconds float64) {
		key := [2]string{kind.String(), place}
		if found[key] == nil {
			found[key] = &lostPlace{kind: kind.String(), place: place, ranks: map[int]float64{}}
		}
		found[key].seconds += seconds
		found[key].ranks[rank] += seconds
	}
	for _, rank := range t.Ranks {
		for _, p := range j.rankSummary(rank.Rank).Times {
			threads := float64(rank.Thread)
			switch p.Kind {
			case event.Computing.String():
				lose(rank.Rank, event.Computing, p.Place, p.Stopped)
			case event.Serial.String():
				lose(rank.Rank, event.Serial, p.Place, (threads-1)*p.Seconds)
				lose(rank.Rank, event.Computing, p.Place, p.Stopped)
			case event.InMPIAlone.String():
				lose(rank.Rank, event.InMPI, p.Place, threads*p.Seconds)
			case event.InMPI.String():
				lose(rank.Rank, event.InMPI, p.Place, p.Seconds)
			case event.Locked.String():
				lose(rank.Rank, event.Locked, p.Place, p.Seconds)
			case event.Waiting.String():
				lose(rank.Rank, event.Waiting, p.Place, p.Seconds)
			}
		}
	}
	all := t.Wall * float64(len(t.Threads))
	for _, p := range found {
		if p.seconds < minLossShare*all {
			continue
		}
		l := Loss{Seconds: p.seconds, Share: p.seconds / all}
		l.Name, l.Advice = f.advise(j, p)
		t.Losses = append(t.Losses, l)
	}
	slices.SortFunc(t.Losses, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name))
	})
}

// rankSummary returns the summary of a rank that has one.
func (j *Job) rankSummary(rank int) *summary.Summary {
	i := slices.IndexFunc(j.Ranks, func(r Rank) bool { return r.Rank == rank })
	return j.Ranks[i].Summary
}
