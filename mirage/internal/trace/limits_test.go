package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestTasksByListing checks the number of tasks of a list, and the place of one, by writing them out.
func TestTasksByListing(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "7": {7}, "0-4": {0, 1, 2, 3, 4}, "0-9:3": {0, 3, 6, 9}, "1-9:3,15%4": {1, 4, 7, 15}, "5-5": {5}, "1,3,...": {1, 3}, "2-8:10": {2}, "4000001": {4000001},
	} {
		if n, err := Tasks(list); err != nil || n != len(want) {
			t.Errorf("%s: %d tasks, %v; want %d", list, n, err, len(want))
		}
		for task := range 18 {
			if strings.HasSuffix(list, "...") && !slices.Contains(want, task) {
				continue
			}
			at, ok := TaskIndex(list, strconv.Itoa(task))
			if want := slices.Index(want, task); ok != (want >= 0) || ok && at != want || !ok && at != 0 {
				t.Errorf("%s: task %d at %d, %v; want %d", list, task, at, ok, want)
			}
		}
	}
	for list, good := range map[string]bool{"": true, "-1": false, "4-3": false, "1-2:0": false, "1-2:x": false, "x": false, "1-x": false, "4000002": false, "1-4000001": true, "0-4000001": false, "1-2:1": true} {
		if n, err := Tasks(list); (err == nil) != good || err != nil && n != 0 {
			t.Errorf("%q: %d, %v", list, n, err)
		}
	}
	if n, err := Tasks(""); n != 1 || err != nil {
		t.Errorf("no list: %d tasks, %v", n, err)
	}
	for _, task := range []string{"x", "1.5"} {
		if _, ok := TaskIndex("0-4", task); ok {
			t.Errorf("task %s is in the list", task)
		}
	}
	if _, ok := TaskIndex("x,1", "1"); ok {
		t.Error("a list that is none has a task")
	}
}

// TestSpansByDivision checks the largest unit that divides a span; days from three on.
func TestSpansByDivision(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0s", 1: "1s", 59: "59s", 60: "1m", 61: "61s", 3540: "59m", 3600: "1h", 3660: "61m", 86400: "24h", 2 * 86400: "48h", 3 * 86400: "3d", 3*86400 + 3600: "73h", 4 * 86400: "4d", 3*86400 + 60: "4321m",
	} {
		if got := Span(seconds); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
}

// TestSlurmForms checks each form of a span, and texts that are none.
func TestSlurmForms(t *testing.T) {
	for text, want := range map[string]int64{
		"5": 300, "5:7": 307, "2:5:7": 2*3600 + 307, "1-2": 26 * 3600, "1-2:3": 26*3600 + 180, "1-2:3:4": 26*3600 + 184, "0": 0,
		"1:2:3:4": -1, "": -1, "x": -1, "1-": -1, "-1": -1, "1:x": -1, "x-1": -1, "1048575-0": 1048575 * 86400, "1048576-0": -1, "1073741823": 1073741823 * 60, "1073741824": -1,
	} {
		got, ok := SlurmSeconds(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

// TestMoments checks times of the wall clock, with an offset, and Unix seconds up to 2^40.
func TestMoments(t *testing.T) {
	for text, want := range map[string]struct {
		at   int64
		unix bool
		ok   bool
	}{
		"1970-01-02T00:00:01":        {86401, false, true},
		"1970-01-02 00:00:01":        {86401, false, true},
		"1":                          {1, true, true},
		"0":                          {},
		"-1":                         {},
		"1099511627775":              {1<<40 - 1, true, true},
		"1099511627776":              {},
		"1970-01-02T00:00:01Z":       {86401, true, true},
		"1970-01-02T01:00:01+01:00":  {86401, true, true},
		"1970-01-02T01:00:01+0100":   {86401, true, true},
		"1970-01-02 01:00:01 +01:00": {86401, true, true},
		"1970-01-02 01:00:01 +0100":  {86401, true, true},
		"1970-01-02X00:00:01":        {},
		"soon":                       {},
	} {
		if at, unix, ok := moment(text); at != want.at || unix != want.unix || ok != want.ok {
			t.Errorf("%q: %d, unix %v, %v; want %+v", text, at, unix, ok, want)
		}
	}
}

// TestNextTimes checks times as sbatch --begin reads them, after Wednesday, 4 March 2026, 12:00:00.
func TestNextTimes(t *testing.T) {
	after := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"now": "2026-03-04 12:00:00", "now+5": "2026-03-04 12:00:05", "now-5": "2026-03-04 11:59:55", "now + 2 minutes": "2026-03-04 12:02:00", "now+1hour": "2026-03-04 13:00:00", "now+1day": "2026-03-05 12:00:00", "now+1weeks": "2026-03-11 12:00:00",
		"now5": "", "now+": "", "now+1fortnight": "", "now+2147483647": "2094-03-22 15:14:07", "now+2147483648": "", "nowhere": "",
		"12:00": "2026-03-04 12:00:00", "11:59:59": "2026-03-05 11:59:59", "12:00:01": "2026-03-04 12:00:01", "midnight": "2026-03-05 00:00:00", "noon": "2026-03-04 12:00:00", "teatime": "2026-03-04 16:00:00", "3:04pm": "2026-03-04 15:04:00", "3:04 pm": "2026-03-04 15:04:00",
		"today": "2026-03-04 00:00:00", "tomorrow": "2026-03-05 00:00:00", "tomorrowT10:00": "2026-03-05 10:00:00", "10:00 tomorrow": "2026-03-05 10:00:00", "3/4": "2026-03-04 00:00:00", "3/3": "2027-03-03 00:00:00", "12/31": "2026-12-31 00:00:00", "1/2/27 15:00": "2027-01-02 15:00:00", "010227": "2027-01-02 00:00:00", "1.2.27": "2027-01-02 00:00:00",
		"2026-03-01": "2026-03-01 00:00:00", "2026-03-01 05:06": "2026-03-01 05:06:00", "2026-03-01T05:06:07": "2026-03-01 05:06:07", "2026-03-01T05:06:07+01:00": "2026-03-01 04:06:07", "2026-03-01 05:06:07Z": "2026-03-01 05:06:07",
		"": "", "soon": "", "10:00 11:00": "", "today tomorrow": "", "10:00 x": "",
	} {
		at, err := ParseNext(text, time.UTC, after.Unix())
		got := ""
		if err == nil {
			got = time.Unix(at, 0).UTC().Format(time.DateTime)
		}
		if got != want || err != nil && at != 0 {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}

// Of the readings of a repeated hour the earliest in order and within the
// limit and a minute.
func TestAmbiguousHour(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{zone}
	naive := func(hour, minute, second int) int64 {
		return time.Date(2026, 11, 1, hour, minute, second, 0, time.UTC).Unix()
	}
	// 1:30 comes twice, at 6:30 and 7:30 of UTC. The start was the first or the second.
	const early = 5 * 3600
	first := func(hour, minute, second int) int64 { return naive(hour, minute, second) + early }
	for _, tt := range []struct {
		name              string
		limit             int64
		start, end        int64
		wantStart, wantAt int64
	}{
		{"no limit", -1, naive(1, 30, 0), naive(2, 30, 0), first(1, 30, 0), first(3, 30, 0)},
		{"the limit allows it", 7200 - 60, naive(1, 30, 0), naive(2, 30, 0), first(1, 30, 0), first(3, 30, 0)},
		{"a second longer", 7200 - 61, naive(1, 30, 0), naive(2, 30, 0), first(2, 30, 0), first(3, 30, 0)},
		{"neither is within it", 0, naive(1, 30, 0), naive(2, 30, 0), first(1, 30, 0), first(3, 30, 0)},
		{"the end is before the start on the clock", -1, naive(1, 30, 0), naive(1, 20, 0), first(1, 30, 0), first(2, 20, 0)},
		{"both at once", -1, naive(1, 30, 0), naive(1, 30, 0), first(1, 30, 0), first(1, 30, 0)},
	} {
		s, b, e := c.resolve(naive(0, 10, 0), tt.start, tt.end, tt.limit)
		if s != first(0, 10, 0) || b != tt.wantStart || e != tt.wantAt {
			t.Errorf("%s: %d, %d, %d; want %d, %d, %d", tt.name, s, b, e, first(0, 10, 0), tt.wantStart, tt.wantAt)
		}
	}
	// A start in the second before the submission: only its second reading is in order.
	if _, b, _ := c.resolve(naive(1, 30, 0), naive(1, 29, 59), naive(3, 0, 0), -1); b != first(2, 29, 59) {
		t.Errorf("started at %d, want %d", b, first(2, 29, 59))
	}
	if s, b, _ := c.resolve(naive(1, 30, 0), naive(1, 30, 0), naive(3, 0, 0), -1); b != s {
		t.Errorf("started at %d, want %d", b, s)
	}
}

// TestStatsByDefinition checks the figures of a small log in a zone with summer time.
func TestStatsByDefinition(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	change := time.Date(2026, 3, 8, 8, 0, 0, 0, time.UTC).Unix() // 2:00, from then on an hour later
	tr := &Trace{Zone: zone, Jobs: []Job{
		{User: "u", Nodes: 2, Submit: change - 7200, Start: change - 3600, End: change + 3600, Limit: 7140, Held: 1},
		{User: "v", Nodes: 3, Submit: change, Start: change + 1800, End: change + 1800, Limit: 60, Held: 3599},
		{User: "u", Nodes: 1, Submit: change, Start: change + 3600, End: change + 3600 + 121, Limit: 60, NoStart: true},
		{User: "u", Nodes: 1, Submit: change, Start: change + 3600, End: change + 3600 + 120, Limit: 60},
	}, Open: []Job{{Nodes: 7, Start: Never, End: Never}, {Nodes: 4, Start: change, End: Never}}}
	got := tr.Stats()
	want := Stats{
		Rows: 4, Users: 2, PeakNodes: 6, ZeroDuration: 1, OverLimit60: 1, NodeHours: 4 + 241./3600, NaiveNodeHours: 6 + 241./3600,
		MeanWaitHours: 2.5 / 3, UnknownWaits: 1, Held: 2, HeldHours: 1, MaxNodes: 3, Pending: 1, Running: 1,
	}
	if math.Abs(got.NodeHours-want.NodeHours) < 1e-12 && math.Abs(got.NaiveNodeHours-want.NaiveNodeHours) < 1e-12 && math.Abs(got.MeanWaitHours-want.MeanWaitHours) < 1e-12 && math.Abs(got.HeldHours-1) < 1e-12 {
		got.NodeHours, got.NaiveNodeHours, got.MeanWaitHours, got.HeldHours = want.NodeHours, want.NaiveNodeHours, want.MeanWaitHours, 1
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if empty := (&Trace{Zone: zone}).Stats(); empty != (Stats{}) {
		t.Errorf("of no job: %+v", empty)
	}
}

// TestPeaksBySeconds checks the most at once, second by second; a job of no seconds counts for none.
func TestPeaksBySeconds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var jobs []Job
		for range 1 + rng.IntN(7) {
			start := int64(rng.IntN(9))
			jobs = append(jobs, Job{User: string(rune('a' + rng.IntN(3))), Nodes: 1 + rng.IntN(4), Start: start, End: start + 1 + int64(rng.IntN(5))})
		}
		most, best := 0, map[string]int{}
		for second := range int64(16) {
			sum, own := 0, map[string]int{}
			for _, j := range jobs {
				if j.Start <= second && second < j.End {
					sum += j.Nodes
					own[j.User]++
				}
			}
			most = max(most, sum)
			for user, n := range own {
				best[user] = max(best[user], n)
			}
		}
		top, users := 0, 0
		for _, n := range best {
			top = max(top, n)
		}
		for _, n := range best {
			if n == top {
				users++
			}
		}
		if got := (&Trace{Jobs: jobs}).PeakNodes(); got != most {
			t.Fatalf("%+v: %d nodes at once, want %d", jobs, got, most)
		}
		if n, who := PeakUserJobs(jobs); n != top || who != users {
			t.Fatalf("%+v: %d jobs of %d users, want %d of %d", jobs, n, who, top, users)
		}
	}
}

// Among a hundred jobs one of more than ten times all others is none of this
// machine.
func TestOutliers(t *testing.T) {
	for _, tt := range []struct {
		jobs, largest, size int
		good                bool
	}{
		{100, 20, 0, true}, {100, 21, 0, false}, {99, 21, 0, true}, {100, 21, 1, true}, {101, 1000, 0, false},
	} {
		var jobs []Job
		for i := range tt.jobs {
			jobs = append(jobs, Job{ID: strconv.Itoa(i), Nodes: 2, Start: int64(2 * i), End: int64(2*i + 1)})
		}
		jobs[50].Nodes = tt.largest
		jobs[60].Nodes = 2
		if err := (&Trace{Jobs: jobs, Size: tt.size}).CheckSize(); (err == nil) != tt.good {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// TestSlices checks jobs between two times, the first in and the last out, and the middle priority.
func TestSlices(t *testing.T) {
	tr := &Trace{Jobs: []Job{{Submit: 1, Priority: 9}, {Submit: 3, Priority: 5}, {Submit: 3, Priority: 7}, {Submit: 6, Priority: 1}}}
	for from := int64(0); from < 8; from++ {
		for to := int64(0); to < 8; to++ {
			want := 0
			for _, j := range tr.Jobs {
				if j.Submit >= from && j.Submit < to {
					want++
				}
			}
			if got := len(tr.Between(from, to)); got != want {
				t.Errorf("%d jobs from %d to %d, want %d", got, from, to, want)
			}
		}
	}
	for n, want := range map[int]float64{0: 0, 1: 9, 3: 7} {
		if got := MedianPriority(tr.Jobs[:n]); got != want {
			t.Errorf("of %d jobs: %v, want %v", n, got, want)
		}
	}
}

// TestAmountsByHand checks memory in MB, rounded up, by each suffix.
func TestAmountsByHand(t *testing.T) {
	for text, want := range map[string]int64{
		"mem=1": 1, "mem=1.1": 2, "mem=1024K": 1, "mem=1025K": 2, "mem=3M": 3, "mem=2G": 2048, "mem=1.5G": 1536, "mem=1T": 1 << 20, "mem=0": 0, "mem=-1": 0, "mem=x": 0, "mem=": 0,
		"mem=1125899906842623": 1<<50 - 1, "mem=1125899906842624": 0,
	} {
		if got := Amounts(text)["mem"]; got != want {
			t.Errorf("%s: %d MB, want %d", text, got, want)
		}
	}
	if got := Amounts("cpu=8,gres/gpu=2"); got["cpu"] != 8 || got["gres/gpu"] != 2 {
		t.Errorf("%v", got)
	}
	for tres, want := range map[string]string{"cpu=8": "&{8 0 0 false [] []}", "gres/gpu:a=2,gres/gpu:b=3": "&{0 5 0 false [] []}", "mem=7": "&{0 0 7 false [] []}", "node=1": "<nil>"} {
		if got := fmt.Sprint(NeedOf(tres)); got != want {
			t.Errorf("%s: %s, want %s", tres, got, want)
		}
	}
	p := &parser{needs: map[string]*Need{}}
	for _, tt := range []struct {
		allocated, asked, command string
		want                      string
	}{
		{"", "", "", "<nil>"}, {"cpu=2", "cpu=4", "", "&{2 0 0 false [] []}"}, {"", "cpu=4", "", "&{4 0 0 false [] []}"}, {"", "", "srun", "<nil>"}, {"node=1", "cpu=4", "srun --exclusive", "&{4 0 0 true [] []}"}, {"cpu=2", "", "", "&{2 0 0 false [] []}"},
	} {
		if got := fmt.Sprint(p.need([]byte(tt.allocated), []byte(tt.asked), []byte(tt.command))); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestReasonsByTheirParts checks a reason's owner, resource, and unit, of totals and maxima.
func TestReasonsByTheirParts(t *testing.T) {
	for text, want := range map[string]struct {
		hold Hold
		kind string
	}{
		"Priority": {ForRoom, "Priority"}, "ReqNodeNotAvail, UnavailableNodes:c1": {ForRoom, "ReqNodeNotAvail"}, "launch_failed_requeued_held": {ForPerson, "launch failed requeued held"}, "Dependency": {ForEvent, "Dependency"},
		"QOSGrpCpuLimit": {ForLimit, "QOSGrp/cpu"}, "AssocGrpNodeLimit": {ForLimit, "AssocGrp/node"}, "QOSMaxJobsPerUserLimit": {ForLimit, "QOSPerUser/jobs"}, "MaxMemoryPerAccount": {ForLimit, "QOSPerAccount/mem"}, "QOSMaxGRESPerUser": {ForLimit, "QOSPerUser/gres"}, "AssocMaxJobsLimit": {ForLimit, "AssocMax/jobs"},
		"QOSMinGRES": {ForNothing, "QOSMinGRES"}, "QOSMaxCpuPerJobLimit": {ForNothing, "QOSMaxCpuPerJobLimit"}, "QOSMaxCpuPerNode": {ForNothing, "QOSMaxCpuPerNode"},
		"QOSGrpCPUMinutesLimit": {ForBudget, "QOSGrpCPUMinutesLimit"}, "AssocGrpWallLimit": {ForBudget, "AssocGrpWallLimit"},
		"QOSGrpCPURunMinutesLimit": {Unmodelled, "QOSGrpCPURunMinutesLimit"}, "AssocGrpSubmitJobsLimit": {Unmodelled, "AssocGrpSubmitJobsLimit"}, "NodeDown": {Unmodelled, "NodeDown"}, "Moonphase": {Unmodelled, ""},
	} {
		if hold, kind := ReadReason(text); hold != want.hold || kind != want.kind {
			t.Errorf("%s: %d, %q; want %d, %q", text, hold, kind, want.hold, want.kind)
		}
	}
	for _, s := range []State{"PENDING", "RUNNING", "COMPLETED"} {
		if s.Pending() != (s == "PENDING") || s.Running() != (s == "RUNNING") || s.Over() != (s == "COMPLETED") {
			t.Errorf("%s: pending %v, running %v, over %v", s, s.Pending(), s.Running(), s.Over())
		}
	}
}

// TestNumbersOfLogs checks numbers of an SWF field and of nodes, at their bounds.
func TestNumbersOfLogs(t *testing.T) {
	for text, want := range map[string]int64{"5": 5, "-1": -1, "2.5": 3, "-2.5": -3, "2.4": 2, "1e3": 1000, "1099511627776": 1 << 40, "-2147483648": math.MinInt32} {
		if got, ok := swfNumber([]byte(text)); !ok || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"x", "", "1099511627777", "-2147483649", "1e30", "-1e30", "NaN", "4.7e18"} {
		if n, ok := swfNumber([]byte(text)); ok {
			t.Errorf("%s is %d", text, n)
		}
	}
	for text, want := range map[string]int64{"5": 5, "3-5": 3, "-5": -5, "1K": 1024, "1.5K": 1536, "2M": 2 << 20, "0K": 0, "3-": -1, "x": -1, "1.5": -1, "K": -1, "1048575M": 1048575 << 20, "1048576M": -1, "-1K": -1} {
		got, err := nodeCount(text)
		if (err == nil) != (want >= 0 || text == "-5") || err == nil && got != want || err != nil && got != 0 {
			t.Errorf("%q nodes: %d, %v; want %d", text, got, err, want)
		}
	}
}

// TestHeaderOfSWF checks comments that count, within their bounds.
func TestHeaderOfSWF(t *testing.T) {
	for comment, want := range map[string]swfHeader{
		" MaxNodes: 12": {maxNodes: 12, limit: 8}, " MaxProcs:  7 x": {maxProcs: 7, limit: 8}, "MaxNodes: -3": {limit: 8}, "MaxProcs: -3": {limit: 8}, "UnixStartTime: 0": {limit: 8}, "UnixStartTime: 5": {unixStart: 5, limit: 8}, "UnixStartTime: -5": {limit: 8},
		"UnixStartTime: 1099511627775": {unixStart: 1<<40 - 1, limit: 8}, "UnixStartTime: 1099511627776": {limit: 8}, "MaxNodes:": {limit: 8}, "MaxNodes": {limit: 8},
		"Note: field 1 is the time limit": {limit: 0}, "Note: field 18 is the requested time": {limit: 17}, "Note: field 19 is the requested run time": {limit: 8}, "Note: field 0 is the time limit": {limit: 8}, "Note: field 7 is the memory": {limit: 8},
	} {
		h := swfHeader{limit: swfLimit}
		h.read(&parser{trace: &Trace{Zone: time.UTC}, o: Options{Zone: time.UTC}}, comment)
		if h != want {
			t.Errorf("%q: %+v, want %+v", comment, h, want)
		}
	}
}

// TestRowsOfSWF checks the job's value of each field of a row.
func TestRowsOfSWF(t *testing.T) {
	row := func(change func(v []string)) string {
		v := strings.Fields("9 10 5 60 4 -1 -1 3 120 -1 1 u -1 -1 -1 p -1 -1")
		change(v)
		return strings.Join(v, " ") + "\n"
	}
	plain := Job{ID: "9", User: "u", Partition: "p", Submit: 1010, Start: 1015, End: 1075, Limit: 120, Nodes: 4}
	with := func(change func(*Job)) *Job {
		j := plain
		change(&j)
		return &j
	}
	for name, tt := range map[string]struct {
		row  string
		want *Job
	}{
		"plain":            {row(func([]string) {}), &plain},
		"as requested":     {row(func(v []string) { v[4] = "0" }), with(func(j *Job) { j.Nodes = 3 })},
		"one processor":    {row(func(v []string) { v[4] = "1" }), with(func(j *Job) { j.Nodes = 1 })},
		"no limit":         {row(func(v []string) { v[8] = "0" }), with(func(j *Job) { j.Limit = Unlimited })},
		"a second":         {row(func(v []string) { v[8] = "1" }), with(func(j *Job) { j.Limit = 1 })},
		"no wait":          {row(func(v []string) { v[2] = "0" }), with(func(j *Job) { j.Start, j.End = 1010, 1070 })},
		"unknown wait":     {row(func(v []string) { v[2] = "-1" }), with(func(j *Job) { j.Start, j.End, j.NoStart = 1010, 1070, true })},
		"no partition":     {row(func(v []string) { v[15] = "-1" }), with(func(j *Job) { j.Partition = "" })},
		"failed":           {row(func(v []string) { v[10] = "0" }), &plain},
		"a part":           {row(func(v []string) { v[10] = "2" }), nil},
		"the last part":    {row(func(v []string) { v[10] = "4" }), nil},
		"cancelled":        {row(func(v []string) { v[10] = "5" }), &plain},
		"cancelled before": {row(func(v []string) { v[10], v[3] = "5", "0" }), nil},
		"no run time":      {row(func(v []string) { v[3] = "0" }), with(func(j *Job) { j.End = 1015 })},
		"unknown run time": {row(func(v []string) { v[3] = "-1" }), nil},
		"at the start":     {row(func(v []string) { v[1] = "0" }), with(func(j *Job) { j.Submit, j.Start, j.End = 1000, 1005, 1065 })},
		"before it":        {row(func(v []string) { v[1] = "-1" }), nil},
	} {
		other := row(func(v []string) { v[0], v[1] = "1", "5" })
		tr, err := Read(strings.NewReader("; UnixStartTime: 1000\n"+other+tt.row), "f", Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i := slices.IndexFunc(tr.Jobs, func(j Job) bool { return j.ID == "9" })
		if (i >= 0) != (tt.want != nil) || i >= 0 && fmt.Sprint(tr.Jobs[i]) != fmt.Sprint(*tt.want) {
			t.Errorf("%s: %+v, want %+v", name, tr.Jobs, tt.want)
		}
	}
}
