package task

import (
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// Task is a task of this rank between its creation, or its arrival, and its end.
type Task[M any] struct {
	Token          uint64
	Flag           event.Flag
	Entry          uint64  // address of its function, or OpenMP: of its construct
	Body           uint64  // OpenMP: address of the function that a compiler made of the construct
	Iteration      int     // of its creation, or of its start where it was not created here
	State          M       // the observer's own
	Created        uint64  // when, in ticks; 0 where it was not created here
	Core           int     // that runs it; -1 before it is known
	Lane           int     // of the thread that runs it; -1 before it is known
	startReported  bool    // its observer knows that it started
	sizesUnknown   bool    // its sizes come when it begins, and did not come yet
	ofRuntime      bool    // it belongs to the runtime, and no observer hears of it
	iterationKnown bool    // Iteration is also that of its runs
	parts          float64 // seconds of its runs that went on later
}

// Run is one execution of a task, complete.
type Run struct {
	Lane         int
	Iteration    int
	StartSeconds float64 // on the tracker's clock
	Seconds      float64 // wall time of the body, nested tasks excluded
	QueueSeconds float64 // from creation to start; negative where not known
	Core         int     // where it ended; -1 if unknown
}

// Observer receives the tracker's findings, one call at a time. It must not keep sizes.
type Observer[M any] interface {
	// TaskCreated reports a task that joined this rank's queue. It also reports one that starts
	// without having been created here or whose sizes are known only then; TaskTaskStarted is not
	// called for it.
	TaskCreated(t *Task[M], sizes []int64)
	// TaskAnnounced reports a task that joined this rank's queue, for which TaskCreated is called when
	// it starts: the patched library names no tasks before.
	TaskAnnounced(iteration int, entry uint64, sizes []int64)
	// TaskStarted reports that a task starts. TaskEnded was called for the tasks that had ended by then
	// and, unless late, for no other.
	TaskStarted(t *Task[M], late bool)
	// TaskEnded reports a task's run. The tracker reuses t afterwards.
	TaskEnded(t *Task[M], r Run)
	// TaskExcluded reports that a task for which TaskCreated was called is none of the program's. Ended
	// is not called for it.
	TaskExcluded(t *Task[M])
	// TaskCancelled reports a task that was discarded before it began.
	TaskCancelled(iteration int)
	// TaskSent reports that a task of an iteration was sent to another rank.
	TaskSent(iteration int)
	// TimeWaited reports time in which a thread had nothing to run while it waited for tasks.
	TimeWaited(iteration int, seconds float64)
	// IterationEnded reports the end of an iteration, in seconds on the tracker's clock: the first
	// thread goes on. Its runs may be reported later.
	IterationEnded(iteration int, at float64)
	// IterationReported reports that every run of the iteration has been reported.
	IterationReported(iteration int)
	// LoadReported reports the load of an iteration as the patched library measured it.
	LoadReported(iteration int, seconds float64)
}

// Tracker follows the tasks of one rank. It belongs to one goroutine.
type Tracker[M any] struct {
	observer           Observer[M]
	clock              *Clock
	tasks              open[M]
	announced          map[uint64]announcements // by the task's address
	lanes              []lane
	started            []*Task[M] // by lane, the task of the run whose start was reported
	queue              queue      // of lanes, by what comes next in time
	reportedUntil      uint64     // latest tick at which a reported run ended
	counts             Counts
	arrivals           uint64
	unread             Counts // of the rings, included in no other count
	halfReported       uint64 // tasks that stay open, since their end was only counted
	iterations         int    // most taskwaits that one worker left
	reportedIterations int    // iterations of which every run has been reported
	cutoff             uint64 // tick behind which this Drain takes no event
	sizes              []int64
}

// announcement is the creation of a task that is known by its address alone,
// which other tasks had before it and will have after it.
type announcement struct {
	ticks, entry uint64
}

// announcements holds those of one address, oldest first. Rings are read one after the other,
// so they may be added and taken out of order.
type announcements []announcement

// maxAnnounced bounds what is kept of an address whose tasks never begin.
const maxAnnounced = 4096

func (as announcements) insert(a announcement) announcements {
	if len(as) >= maxAnnounced {
		as = slices.Delete(as, 0, 1)
	}
	return slices.Insert(as, as.countUpTo(a.ticks), a)
}

// countUpTo returns the number of announcements up to the given tick.
func (as announcements) countUpTo(ticks uint64) int {
	n := len(as)
	for n > 0 && as[n-1].ticks > ticks {
		n--
	}
	return n
}

// NewTracker returns a tracker that reports to o.
func NewTracker[M any](o Observer[M], clock *Clock) *Tracker[M] {
	return &Tracker[M]{observer: o, clock: clock, tasks: open[M]{blocks: map[uint64]*block[M]{}}, announced: map[uint64]announcements{}}
}

// Task returns the task of a token, or nil where it has ended or is unknown.
func (t *Tracker[M]) Task(token uint64) *Task[M] { return t.tasks.get(token) }

// Drain takes the events in the rings up to a tick before the call, math.MaxUint64 for all. With
// such a tick a task that leaves its thread and goes on elsewhere is followed in order: whatever
// happened before an event that is taken is taken too. Rings keep their place in the slice from
// call to call; new ones are appended.
//
// A creation is visible before its task can start. So the heads are read
// twice: creations are taken up to the second reading first, then the other
// events up to the first reading, and no start lacks its creation.
func (t *Tracker[M]) Drain(rings []*event.Ring, cut uint64) (events int) {
	t.cutoff = cut
	for len(t.lanes) < len(rings) {
		t.lanes = append(t.lanes, lane{number: len(t.lanes)})
		t.started = append(t.started, nil)
	}
	limits := make([]uint64, len(rings))
	for i, r := range rings {
		limits[i] = r.Head()
	}
	t.counts.Dropped, t.counts.Started = 0, 0
	t.unread, t.halfReported = Counts{}, 0
	for i, r := range rings {
		t.creations(&t.lanes[i], r)
		t.counts.Dropped += r.DroppedEvents()
		t.counts.Started += r.StartedTasks()
		counts, _ := r.Unread()
		for _, u := range counts {
			t.unread.Created = t.unread.Created + u.Created
			t.unread.Started = t.unread.Started + u.Begun
			t.unread.Ended = t.unread.Ended + u.Ended
			t.unread.Waits, t.unread.Cancelled = t.unread.Waits+u.Waits, t.unread.Cancelled+u.Cancelled
			t.halfReported += u.HalfReported
		}
	}
	before := t.iterations
	events = t.rest(rings, limits)
	t.counts.Started += t.arrivals
	t.reportIterations(before)
	c := t.Counts()
	if open := int(c.Created - min(c.Created, c.Ended+c.Cancelled)); (c.Dropped > 0 || t.halfReported > 0) && t.tasks.n > open+maxOpen {
		forgotten := t.forget(open + maxOpen/2)
		t.counts.Incomplete += uint64(max(0, forgotten-int(t.halfReported)))
	}
	return events
}

// Finish reports the iterations that no later event can add to. Call it after the last Drain.
func (t *Tracker[M]) Finish() { t.reportIterations(t.iterations) }

// reportIterations reports iterations that ended before the heads of this Drain were read: a thread
// leaves a taskwait after the last run on every thread.
func (t *Tracker[M]) reportIterations(left int) {
	for ; t.reportedIterations < left; t.reportedIterations++ {
		t.observer.IterationReported(t.reportedIterations)
	}
}

func (t *Tracker[M]) creations(l *lane, r *event.Ring) {
	at, end := max(l.named, r.Tail()), r.Head()
	for at < end {
		s := r.Slot(at)
		if !s.Valid() {
			break
		}
		switch s.Kind() {
		case event.WaitEnd:
			l.namedWaits++
		case event.Create:
			t.counts.Created++
			t.sizes = r.AppendSizes(t.sizes[:0], at)
			task := t.add(s, l.namedWaits)
			task.Created = s[event.WordTicks]
			t.observer.TaskCreated(task, t.sizes)
		case event.Open:
			t.counts.Created++
			task := t.add(s, 0)
			task.Created, task.sizesUnknown = s[event.WordTicks], true
		case event.Announce:
			t.counts.Created++
			t.sizes = r.AppendSizes(t.sizes[:0], at)
			t.observer.TaskAnnounced(l.namedWaits, s[event.WordEntry], t.sizes)
			address := s[event.WordToken]
			t.announced[address] = t.announced[address].insert(announcement{s[event.WordTicks], s[event.WordEntry]})
		}
		at += s.Slots()
	}
	l.named = at
}

// add makes the task of a Create or Arrive event.
func (t *Tracker[M]) add(s *event.Slot, iteration int) *Task[M] {
	task := t.tasks.add(s[event.WordToken])
	*task = Task[M]{Token: s[event.WordToken], Flag: s.Flag(), Entry: s[event.WordEntry], Iteration: iteration, Core: -1, Lane: -1}
	return task
}

func (t *Tracker[M]) handle(l *lane, r *event.Ring, s *event.Slot, at uint64) {
	switch s.Kind() {
	case event.ThreadStart:
		t.counts.Threads++
		l.nested, l.waiting = l.nested[:0], l.waiting[:0]
	case event.Arrive:
		t.sizes = r.AppendSizes(t.sizes[:0], at)
		t.observer.TaskCreated(t.add(s, l.waits), t.sizes)
		t.countArrival(s)
	case event.Claim:
		t.claim(l, r, s, at)
		t.countArrival(s)
	case event.Begin:
		t.beginTask(l, r, s, at)
	case event.Runtimes:
		t.exclude(s[event.WordToken])
	case event.Cancel:
		t.counts.Cancelled++
		t.observer.TaskCancelled(int(s.Number()))
		t.tasks.remove(s[event.WordToken])
	case event.Give:
		iteration := t.iterations // of a task that nothing is known of
		if task := t.tasks.get(s[event.WordToken]); task != nil {
			iteration = task.Iteration
		}
		t.counts.Sent++
		t.observer.TaskSent(iteration)
	case event.Part:
		t.part(l, r, s, at)
	case event.Run:
		t.endRun(l, r, s, at)
	case event.Lost:
		t.counts.Ended += uint64(s.Number())
		t.counts.Incomplete++
		t.tasks.remove(s[event.WordToken])
	case event.WaitStart:
		t.counts.Waits++
		l.waiting = append(l.waiting, wait{int(s.Number()), s[event.WordTicks], l.within(int(s.Number()))})
	case event.WaitEnd:
		t.counts.WaitsLeft++
		t.endWait(l, s)
	case event.Load:
		t.counts.Loads++
		t.observer.LoadReported(int(s.Number()), s.Seconds())
	}
}

// claim makes the task that begins at an address: the last one announced there
// before.
func (t *Tracker[M]) claim(l *lane, r *event.Ring, s *event.Slot, at uint64) {
	address := s[event.WordAddress]
	found := t.announced[address]
	task := t.add(s, l.waits)
	task.Entry = 0
	if n := found.countUpTo(s[event.WordTicks]); n > 0 {
		task.Entry, task.Created = found[n-1].entry, found[n-1].ticks
		found = slices.Delete(found, n-1, n)
	}
	if len(found) == 0 {
		delete(t.announced, address)
	} else {
		t.announced[address] = found
	}
	t.sizes = r.AppendSizes(t.sizes[:0], at)
	t.observer.TaskCreated(task, t.sizes)
}

// beginTask adds the sizes of a task whose creation had none.
func (t *Tracker[M]) beginTask(l *lane, r *event.Ring, s *event.Slot, at uint64) {
	task := t.tasks.get(s[event.WordToken])
	if task == nil { // its creation was dropped
		t.counts.Incomplete++
		return
	}
	t.arrivals++
	task.Iteration = int(s.Number())
	task.iterationKnown = true
	task.startReported = true
	task.sizesUnknown = false
	task.Body = s[event.WordBody]
	t.sizes = r.AppendSizes(t.sizes[:0], at)
	t.observer.TaskCreated(task, t.sizes)
	t.observer.TaskStarted(task, s[event.WordTicks] < t.reportedUntil)
}

// exclude takes a task that is under way out of all counts.
func (t *Tracker[M]) exclude(token uint64) {
	if task := t.tasks.get(token); task != nil && !task.ofRuntime {
		task.ofRuntime = true
		t.counts.Created--
		t.arrivals--
		t.observer.TaskExcluded(task)
	}
}

// part keeps the time of a run that goes on later.
func (t *Tracker[M]) part(l *lane, r *event.Ring, s *event.Slot, at uint64) {
	span := t.clock.Between(s[event.WordTicks], s[event.WordEnd])
	nested := l.nest(s.Depth(), span) + t.unreportedSeconds(r, s, at)
	if task := t.tasks.get(s[event.WordToken]); task != nil {
		task.parts += max(0, span-nested)
	}
}

// countArrival counts a start that has an event.
func (t *Tracker[M]) countArrival(s *event.Slot) {
	t.arrivals++
	if s.Flag() != event.Local {
		t.counts.Remote++
	}
}

// endRun reports a task that began and ended. The runs nested in it were reported before it.
func (t *Tracker[M]) endRun(l *lane, r *event.Ring, s *event.Slot, at uint64) {
	t.counts.Ended++
	token := s[event.WordToken]
	start := s[event.WordTicks]
	end := s[event.WordEnd]
	span := t.clock.Between(start, end)
	nested := t.unreportedSeconds(r, s, at)
	if s.Depth() != event.Elsewhere {
		nested += l.nest(s.Depth(), span)
	}
	task := t.started[l.number] // open until its end, which is now
	if task == nil {
		t.counts.Incomplete++
		return
	}
	t.started[l.number] = nil
	t.reportedUntil = max(t.reportedUntil, end)
	if task.ofRuntime || task.sizesUnknown {
		if task.sizesUnknown { // the event with its sizes was dropped
			t.counts.Incomplete++
		} else {
			t.counts.Ended--
		}
		t.tasks.remove(token)
		return
	}
	out := Run{
		Lane: r.Lane(), Iteration: l.waits,
		StartSeconds: t.clock.Seconds(start), Seconds: task.parts + max(0, span-nested),
		QueueSeconds: -1, Core: s.Core(),
	}
	if task.Created > 0 {
		out.QueueSeconds = t.clock.Between(task.Created, start)
	}
	if task.iterationKnown {
		out.Iteration = task.Iteration
	}
	t.observer.TaskEnded(task, out)
	t.tasks.remove(token)
}

// unreportedSeconds returns the seconds of runs and waits within a run that have no event.
func (t *Tracker[M]) unreportedSeconds(r *event.Ring, s *event.Slot, at uint64) float64 {
	if s.Sizes() == 0 {
		return 0
	}
	return t.clock.Between(0, r.Slot(at + 1)[0])
}

// begin reports the start of a task at a tick, once. It is late if the end of a later task was
// reported before.
func (t *Tracker[M]) begin(task *Task[M], start uint64) {
	if !task.startReported {
		task.startReported = true
		t.observer.TaskStarted(task, start < t.reportedUntil)
	}
}
