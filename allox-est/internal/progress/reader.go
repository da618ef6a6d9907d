package progress

import (
	"container/list"
	"regexp"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/timing"
)

// Reader reads what a run prints, line by line, and says how far it has come.
// Its zero value knows nothing of the run's length. It is not safe for concurrent
// use.
type Reader struct {
	// Units is the length of the run; 0 if only its output may contain it.
	Units float64
	// Short says that the run, as a sample, may well end within seconds: what a counter says
	// counts at once.
	Short bool
	// Pattern, where it is not nil, picks the lines that count and, by its groups,
	// their number; lines without one are counted.
	Pattern *regexp.Regexp
	// Start is the unit after which the run began with a stage of the work: its lines
	// may count from there.
	Start float64

	// Count, where it is not empty, is a part of the description of the counter to use.
	Count string

	counters map[string]*list.Element      // of recent
	recent   list.List                     // of counters, the one seen last in front
	totals   map[string]map[string]float64 // of a unit, that a line names; 0 once it has changed
	left     map[string][]remaining        // as the lines of a form say it
	heading  heading
	pairs    map[string]*denominators
	chosen   choice
	upper    *counter // with a total, seen last in a line that is not below another one
	exact    bool     // a counter's own total is the run's
	judged   int      // the line in which the choice was made
	reports  []Mark
	past     bool // reports came before the clock
	stages   []stage
	costs    string
	begin    float64 // the first line whose time is known
	now      float64 // the last one
	end      float64 // of the run; 0 while it goes on
	lines    int
	gap      float64 // the longest time between lines, but for the pause
	pause    pause   // the last one
}

// pause is a time without lines that is far longer than those before it: an earlier run may
// have ended with it.
type pause struct {
	from, to float64
	long     bool // longer than all before it
}

// A pause lasts so many gaps between lines and so many seconds; a long one, in seconds.
const (
	pauseGaps  = 20
	pauseLeast = 60
	pauseLong  = 600
)

// remaining is the time that a log says is left, at a time, and the share of a loop in
// that line.
type remaining struct{ at, seconds, share float64 }

type stage struct {
	name string
	from float64
}

// What a job prints where another stage of its work begins, and for costs by name:
// the last complete text of a line counts.
var (
	stageLine = regexp.MustCompile(`<TIME_WRITTER_STAGE>(.*?)</TIME_WRITTER_STAGE>`)
	costsLine = regexp.MustCompile(`.*<TIME_WRITTER_COSTS>(.*?)</TIME_WRITTER_COSTS>`)
)

// Line takes in a line, or one drawing of a bar, that came at a time since the
// start of the run, in seconds; a negative one is not known, and makes no mark.
func (r *Reader) Line(line string, at float64) {
	if strings.TrimSpace(line) == "" {
		return
	}
	r.lines++
	if strings.Contains(line, "<TIME_WRITTER_") {
		if found := stageLine.FindStringSubmatch(line); found != nil {
			r.stages = append(r.stages, stage{found[1], at})
			return
		}
		if found := costsLine.FindStringSubmatch(line); found != nil {
			r.costs = found[1]
			return
		}
		if out, err := timing.ParseOutput(strings.NewReader(line), timing.Last); err == nil {
			r.report(out.Laps(), at)
		}
	}
	if gap := at - r.now; r.begin > 0 && !r.paused(gap, at) {
		r.gap = max(r.gap, gap)
	}
	if at >= 0 {
		r.now = at
	}
	if r.begin == 0 && at > 0 {
		r.begin = at
	}
	if r.Pattern != nil {
		r.match(line, at)
		return
	}
	below := strings.HasSuffix(line, up)
	if strings.IndexByte(line, escape) >= 0 {
		line = controls.ReplaceAllString(line, "")
	}
	if onlyWords(line) {
		if h, ok := headingOf(line); ok {
			r.heading = h
		}
		return
	}
	r.remainingTime(line, at)
	r.numbers(line, at, below)
}

// Pause says that more seconds passed before the next line than its time says.
func (r *Reader) Pause(seconds float64) { r.paused(seconds, r.now) }

// paused keeps a pause, which ends at a time, if it is one.
func (r *Reader) paused(seconds, to float64) bool {
	if r.gap == 0 || seconds <= max(pauseLeast, pauseGaps*r.gap) {
		return false
	}
	r.pause = pause{r.now, to, seconds > max(pauseLong, r.now-r.begin)}
	return true
}

// report takes in a time-writer report, in seconds: set-up, then the units so far.
func (r *Reader) report(laps []float64, at float64) {
	var marks []Mark
	if r.past = r.past || at < 0; r.past { // the report's own clock is known
		at = 0
		for _, seconds := range laps {
			at += seconds
		}
	}
	for k, seconds := range slices.Backward(laps) {
		if n := float64(k); r.Units == 0 || n <= r.Units {
			marks = append(marks, Mark{Number: n, Of: r.Units, Seconds: at})
		}
		at -= seconds
	}
	slices.Reverse(marks)
	r.reports = marks
}

// End says that the run has ended: what was open is settled.
func (r *Reader) End(at float64) { r.end = at }

// Costs returns the costs by name that the run reported last; empty if there are none.
func (r *Reader) Costs() string { return r.costs }

// staged names the stage of each mark.
func (r *Reader) staged(marks []Mark) []Mark {
	for i := range marks {
		for _, s := range r.stages {
			if s.from < marks[i].Seconds {
				marks[i].Stage = s.name
			}
		}
	}
	return marks
}
