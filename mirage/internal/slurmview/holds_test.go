package slurmview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/uncertainty"
)

// site is a small Slurm that answers from texts, by the words of a command; a command
// without a text fails.
type site map[string]string

func (s site) Run(_ context.Context, argv []string, _ *os.File) ([]byte, error) {
	line := strings.Join(argv, " ")
	for words, text := range s {
		if strings.Contains(line, words) {
			return []byte(text), nil
		}
	}
	return nil, fmt.Errorf("%s: %w: exit status 1", argv[0], ErrCommand)
}

// noon is the time of the questions.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// plainSite has three nodes of 16 CPUs in partition std, no jobs and no reservation.
func plainSite() site {
	s := site{
		"show config":       "MessageTimeout = 10 sec\nMinJobAge = 300 sec\nAccountingStorageType = accounting_storage/none\nSelectType = select/cons_tres\n",
		"show partitions":   "PartitionName=std Default=YES MaxTime=UNLIMITED MaxNodes=UNLIMITED State=UP\nPartitionName=big MaxTime=UNLIMITED MaxNodes=UNLIMITED State=UP MinNodes=2 DenyAccounts=guests\n",
		"show reservations": "No reservations in the system\n",
		"squeue":            `{"jobs":[]}`,
	}
	s.nodes("IDLE", "IDLE", "IDLE")
	return s
}

func (s site) nodes(states ...string) {
	var b strings.Builder
	for i, state := range states {
		kind := "skylake"
		if i == 2 {
			kind = "genoa"
		}
		fmt.Fprintf(&b, "NodeName=w%d CPUTot=16 AvailableFeatures=%s,ib ActiveFeatures=%s,ib Gres=gpu:t4:1 State=%s Partitions=std,big\n", i+1, kind, kind, state)
	}
	s["show nodes"] = b.String()
}

func reserved(name, nodes, from, to, flags string) string {
	return fmt.Sprintf("ReservationName=%s StartTime=2026-03-%s EndTime=2026-03-%s Nodes=%s Flags=%s Users=root,eva State=INACTIVE\n", name, from, to, nodes, flags)
}

// hours is a job of whole nodes.
func hours(nodes int, limit int64) Ask {
	return Ask{Job: trace.Job{User: "eva", Nodes: nodes, Limit: limit * 3600}, Tasks: 1}
}

func look(t *testing.T, s site) *View {
	t.Helper()
	v, err := (&Client{Runner: s}).Look(t.Context(), noon, Sight{Days: AnswerDays})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestHeldBackBySite(t *testing.T) {
	maintenance := reserved("mtnc", "w[1-3]", "02T20:00:00", "03T08:00:00", "MAINT,SPEC_NODES,ALL_NODES")
	course := reserved("course", "w2,w3", "02T12:30:00", "02T18:00:00", "SPEC_NODES")
	for name, tt := range map[string]struct {
		change func(s site)
		ask    Ask
		want   float64 // hours
		err    error
		says   string
	}{
		"idle":                     {ask: hours(3, 48)},
		"before maintenance":       {change: func(s site) { s["show reservations"] = maintenance }, ask: hours(1, 8)},
		"too long for maintenance": {change: func(s site) { s["show reservations"] = maintenance }, ask: hours(1, 9), want: 20},
		"node outside course":      {change: func(s site) { s["show reservations"] = course }, ask: hours(1, 3)},
		"two nodes, one in course": {change: func(s site) { s["show reservations"] = course }, ask: hours(2, 3), want: 6},
		"course and maintenance":   {change: func(s site) { s["show reservations"] = course + maintenance }, ask: hours(2, 3), want: 20},
		"in the course":            {change: func(s site) { s["show reservations"] = course }, ask: func() Ask { a := hours(2, 3); a.Reservation = "course"; return a }(), want: .5},
		"too long for the course":  {change: func(s site) { s["show reservations"] = course }, ask: func() Ask { a := hours(2, 9); a.Reservation = "course"; return a }(), err: ErrNotAdmitted, says: "course ends"},
		"no such reservation":      {ask: func() Ask { a := hours(1, 1); a.Reservation = "labs"; return a }(), err: ErrNotAdmitted, says: "no reservation labs"},
		"every day": {change: func(s site) {
			s["show reservations"] = reserved("daily", "w[1-3]", "02T13:00:00", "02T14:00:00", "DAILY")
		}, ask: hours(1, 24), want: 13*24 + 2},
		"active reservation": {change: func(s site) {
			s["show reservations"] = reserved("now", "w[1-3]", "02T11:00:00", "02T15:00:00", "MAINT")
			s.nodes("MAINT", "MAINT", "IDLE+RESERVED")
		}, ask: hours(1, 1), want: 3},
		"drained": {change: func(s site) {
			s.nodes("IDLE+DRAIN Reason=bad disk [root@2026]", "DOWN*+DRAIN Reason=bad disk [root@2026]", "IDLE+DRAIN Reason=bad disk [x@2026]")
		}, ask: hours(1, 1), err: ErrNoStart, says: "3 of 3 nodes are drained (Reason bad disk)"},
		"one drained":    {change: func(s site) { s.nodes("IDLE", "DRAINED Reason=fan", "IDLE") }, ask: hours(3, 1), err: ErrNoStart, says: "1 of 3 nodes is drained (Reason fan), and the job wants 3"},
		"silent":         {change: func(s site) { s.nodes("IDLE*", "IDLE*", "DOWN*") }, ask: hours(1, 1), err: ErrNoStart, says: "2 of 3 nodes are not responding"},
		"asleep":         {change: func(s site) { s.nodes("IDLE+CLOUD+POWERED_DOWN", "IDLE~", "IDLE+PLANNED") }, ask: hours(3, 1)},
		"down partition": {change: func(s site) { s["show partitions"] = "PartitionName=std Default=YES State=DOWN\n" }, ask: hours(1, 1), err: ErrNoStart, says: "partition std is down"},
		"open second partition": {change: func(s site) {
			s["show partitions"] = "PartitionName=std Default=YES State=DRAIN\nPartitionName=big State=UP\n"
		}, ask: func() Ask { a := hours(1, 1); a.Partition = "std,big"; return a }()},
		"too few nodes":   {ask: func() Ask { a := hours(1, 1); a.Partition = "big"; return a }(), err: ErrNotAdmitted, says: "at least 2 nodes"},
		"denied account":  {ask: func() Ask { a := hours(2, 1); a.Partition, a.Accounts = "big", []string{"guests"}; return a }(), err: ErrNotAdmitted, says: "DenyAccounts"},
		"other account":   {ask: func() Ask { a := hours(2, 1); a.Partition, a.Accounts = "big", []string{"chem"}; return a }()},
		"constraint":      {change: func(s site) { s.nodes("IDLE", "IDLE", "DOWN") }, ask: func() Ask { a := hours(1, 1); a.Features = "genoa&ib"; return a }(), err: ErrNoStart, says: "1 of 1 node is down"},
		"either feature":  {change: func(s site) { s.nodes("IDLE", "IDLE", "DOWN") }, ask: func() Ask { a := hours(2, 1); a.Features = "genoa|skylake"; return a }()},
		"no such feature": {ask: func() Ask { a := hours(1, 1); a.Features = "milan"; return a }(), err: cluster.ErrOversize, says: "there are 0"},
		"no such GPU":     {ask: func() Ask { a := hours(1, 1); a.GPUType = "h100"; return a }(), err: cluster.ErrOversize, says: "there are 0"},
		"excluded":        {ask: func() Ask { a := hours(3, 1); a.Excluded = "w2"; return a }(), err: cluster.ErrOversize, says: "there are 2"},
		"begins later":    {ask: func() Ask { a := hours(1, 1); a.Eligible = noon.Unix() + 7200; return a }(), want: 2},
		"held":            {ask: func() Ask { a := hours(1, 1); a.Held = true; return a }(), err: ErrNoStart, says: "held"},
	} {
		t.Run(name, func(t *testing.T) {
			s := plainSite()
			if tt.change != nil {
				tt.change(s)
			}
			waits, err := look(t, s).AskWaits(tt.ask)
			if tt.err != nil {
				if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.says) {
					t.Fatalf("got %v, want %v: %s", err, tt.err, tt.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := waits.SortSeconds().Median() / 3600; got != tt.want {
				t.Errorf("waits %v h, want %v", got, tt.want)
			}
		})
	}
}

// running is a job of squeue's that began an hour ago.
func running(id, nodes int, on string, minutes int, more string) string {
	return fmt.Sprintf(`{"job_id":%d,"job_state":"RUNNING","user_name":"eva","partition":"std","node_count":%d,"nodes":%q,"time_limit":%d,"submit_time":%d,"start_time":%d,"tres_alloc_str":"cpu=16"%s}`,
		id, nodes, on, minutes, noon.Unix()-3600, noon.Unix()-3600, more)
}

func pending(id int, reason, more string) string {
	return fmt.Sprintf(`{"job_id":%d,"job_state":"PENDING","user_name":"eva","partition":"std","node_count":1,"time_limit":60,"submit_time":%d,"priority":10,"state_reason":%q%s}`, id, noon.Unix()-60, reason, more)
}

// TestPartsOfWait: the queue's jobs end at their limits, as none is known to end before.
func TestPartsOfWait(t *testing.T) {
	s := plainSite()
	s["show config"] += "AccountingStorageEnforce = associations,limits,qos\n"
	s["show qos"] = "normal||||\nshort|||1|\n"
	s["show assoc"] = "|lab|||||\neva|lab||||normal\n"
	s["show user"] = "eva|lab\n"
	s["squeue"] = `{"jobs":[` + strings.Join([]string{
		running(1, 1, "w1", 180, `,"account":"lab","qos":"short"`),
		running(2, 1, "w2", 240, `,"account":"lab","qos":"normal"`),
		pending(5, "Dependency", `,"dependency":"afterany:1(unfulfilled)","account":"lab","qos":"normal"`),
		pending(6, "BeginTime", fmt.Sprintf(`,"eligible_time":%d,"account":"lab","qos":"normal"`, noon.Unix()+4*3600)),
		pending(7, "QOSMaxJobsPerUserLimit", `,"account":"lab","qos":"short"`),
		pending(8, "JobHeldUser", ""),
		pending(9, "Dependency", `,"dependency":"afterok:8(unfulfilled)"`),
		pending(10, "Dependency", `,"dependency":"afterany:1(unfulfilled),afterok:2(unfulfilled)","account":"lab","qos":"normal","priority":1`),
		pending(11, "Dependency", `,"dependency":"afterany:1(unfulfilled)?afterany:2(unfulfilled)"`),
	}, ",") + `]}`
	v := look(t, s)
	if len(v.Unread) > 0 {
		t.Errorf("not read: %v", v.Unread)
	}
	for id, part := range map[string]string{"5": "dependency", "6": "eligible", "7": "limits", "10": "dependency", "11": "dependency"} {
		a, _, rest, err := v.FindQueued(id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		waits, err := rest.AskWaits(a)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		w := waits.Typical()
		got := map[string]int64{"dependency": w.Dependency, "eligible": w.Eligible, "limits": w.Limits}
		if got[part] == 0 || w.Seconds-got[part] > 60 {
			t.Errorf("job %s: %+v, want all of it %s", id, w, part)
		}
	}
	// Job 10 waits for jobs 1 and 2, job 5 for job 1.
	both, err := v.AskWaits(Ask{Job: trace.Job{User: "eva", Nodes: 1, Limit: 3600, After: "1,2"}, Tasks: 1})
	if err != nil {
		t.Fatal(err)
	}
	one, err := v.AskWaits(Ask{Job: trace.Job{User: "eva", Nodes: 1, Limit: 3600, After: "1"}, Tasks: 1})
	if err != nil {
		t.Fatal(err)
	}
	longer := 0
	for i := range both {
		if both[i].Dependency < one[i].Dependency {
			t.Errorf("future %d: %d s for two jobs, %d s for one of them", i, both[i].Dependency, one[i].Dependency)
		}
		if both[i].Dependency > one[i].Dependency {
			longer++
		}
	}
	if longer == 0 {
		t.Error("the second of two jobs never counts")
	}
	for id, says := range map[string]string{"8": "scontrol release 8", "9": "depends on job 8", "1": "job 1 is running", "77": "not in the queue"} {
		a, _, rest, err := v.FindQueued(id)
		if err == nil {
			_, err = rest.AskWaits(a)
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("job %s: %v, want %q", id, err, says)
		}
	}
	// A second job of the QOS waits for the first, a third for both.
	short := hours(1, 1)
	short.QOS = "short"
	waits, err := v.AskWaits(short)
	if err != nil {
		t.Fatal(err)
	}
	if w := waits.Typical(); w.Limits < 3600 {
		t.Errorf("%+v", w)
	}
}

func TestUnread(t *testing.T) {
	s := plainSite()
	delete(s, "show reservations")
	s["show config"] = strings.Replace(s["show config"], "storage/none", "storage/slurmdbd", 1) + "AccountingStorageEnforce = safe\n"
	v := look(t, s)
	if len(v.Unread) != 2 || !strings.Contains(v.Unread[0], "reservations") || !strings.Contains(v.Unread[1], "limits") {
		t.Errorf("not read: %q", v.Unread)
	}
	if len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "accounting does not answer") {
		t.Errorf("notes: %q", v.Notes)
	}
	for text, want := range map[string]string{
		"ReservationName=x StartTime=soon EndTime=2026-03-02T12:00:00 Nodes=a":                 "StartTime of x",
		"ReservationName=x StartTime=2026-03-02T12:00:00 EndTime=2026-03-02T13:00:00 Nodes=a[": "nodes",
	} {
		if _, err := ParseReservations([]byte(text), time.UTC); !errors.Is(err, ErrAnswer) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUnexplainedReservation: nodes that a reservation keeps which is not shown may be free at
// once, or not for long.
func TestUnexplainedReservation(t *testing.T) {
	s := plainSite()
	s.nodes("MAINT", "IDLE+RESERVED", "IDLE")
	v := look(t, s)
	if len(v.Unread) != 1 || !strings.Contains(v.Unread[0], "2 nodes are reserved (w1, w2)") {
		t.Errorf("%q", v.Unread)
	}
	if waits, err := v.AskWaits(hours(3, 1)); err != nil || waits.SortSeconds().Median() != 0 {
		t.Errorf("%v, %v", waits, err)
	}
}

// TestArrayTasks: each task of an array has its own place, and no more run at once than its
// limit admits.
func TestArrayTasks(t *testing.T) {
	for limit, want := range map[int][]float64{0: {3, 4, 5}, 1: {3, 4, 5}} {
		s := plainSite()
		s.nodes("IDLE", "DOWN", "DOWN")
		s["squeue"] = `{"jobs":[` + running(1, 1, "w1", 240, "") + "," + pending(9, "Resources", fmt.Sprintf(`,"array_job_id":9,"array_task_string":"0-8:4","array_max_tasks":%d`, limit)) + `]}`
		v := look(t, s)
		for i, task := range []string{"9_0", "9_4", "9_8"} {
			a, _, rest, err := v.FindQueued(task)
			if err != nil {
				t.Fatal(err)
			}
			waits, err := rest.AskWaits(a)
			if got := waits.SortSeconds().Quantile(1) / 3600; err != nil || got < want[i]-0.1 || got > want[i]+0.1 {
				t.Errorf("%s of %d at once: up to %v h, want %v: %v", task, limit, got, want[i], err)
			}
		}
	}
}

// TestEvents: what a job waits for begins, is of its name, or runs past its limit.
func TestEvents(t *testing.T) {
	s := plainSite()
	s["squeue"] = `{"jobs":[` + strings.Join([]string{
		running(1, 1, "w1", 240, `,"name":"step"`),
		running(2, 1, "w2", 30, ""), // half an hour too long
		pending(5, "Dependency", `,"dependency":"after:1+90(unfulfilled)"`),
		pending(6, "Dependency", `,"dependency":"singleton(unfulfilled)","name":"step"`),
		pending(7, "Dependency", ``),
	}, ",") + `]}`
	v := look(t, s)
	for id, want := range map[string]float64{"5": 0.5, "6": 3} {
		a, _, rest, err := v.FindQueued(id)
		if err != nil {
			t.Fatal(err)
		}
		waits, err := rest.AskWaits(a)
		if got := waits.SortSeconds().Quantile(1) / 3600; err != nil || got != want {
			t.Errorf("job %s: up to %v h, want %v: %v", id, got, want, err)
		}
	}
	if _, _, rest, err := v.FindQueued("7"); err != nil || len(rest.Unread) != 1 {
		t.Errorf("job 7: %v, %v", rest, err)
	}
	if got := v.FindUnknowns(hours(1, 1)); len(got) != 1 || !strings.Contains(got[0], "job 2, which runs past its limit") {
		t.Errorf("%q", got)
	}
}

// TestPendingDependencies: a pending job that waits for several others, or for those of its
// name, has its place in the queue, so the jobs that wait for it have a known start.
func TestPendingDependencies(t *testing.T) {
	s := plainSite()
	single := `,"dependency":"singleton(unfulfilled)","name":"step"`
	s["squeue"] = `{"jobs":[` + strings.Join([]string{
		running(1, 1, "w1", 240, `,"name":"step"`),
		pending(5, "Dependency", single),
		pending(6, "Dependency", single),
		pending(7, "Dependency", `,"dependency":"afterany:5(unfulfilled),afterany:6(unfulfilled)"`),
		pending(8, "Dependency", `,"dependency":"afterany:7(unfulfilled)"`),
	}, ",") + `]}`
	v := look(t, s)
	for id, want := range map[string]float64{"5": 3, "6": 4, "7": 5, "8": 6} {
		a, _, rest, err := v.FindQueued(id)
		if err != nil {
			t.Fatal(err)
		}
		waits, err := rest.AskWaits(a)
		if got := waits.SortSeconds().Quantile(1) / 3600; err != nil || got != want {
			t.Errorf("job %s: up to %v h, want %v: %v", id, got, want, err)
		}
		if unread := append(rest.FindUnknowns(a), rest.Unread...); len(unread) > 0 {
			t.Errorf("job %s: %q", id, unread)
		}
	}
}

// TestPreemption: a job of a higher tier does not see the jobs whose place it may take, and
// one of the lower tier has no latest start.
func TestPreemption(t *testing.T) {
	s := plainSite()
	s["show config"] += "PreemptType = preempt/partition_prio\n"
	s["show partitions"] = "PartitionName=std Default=YES PriorityTier=1 PreemptMode=REQUEUE State=UP\nPartitionName=big PriorityTier=5 PreemptMode=OFF State=UP\nPartitionName=far PriorityTier=9 State=UP\nPartitionName=even PriorityTier=1 State=UP\n"
	s["squeue"] = `{"jobs":[` + running(1, 3, "w[1-3]", 240, "") + `]}`
	v := look(t, s)
	for partition, want := range map[string]struct {
		hours  float64
		doubts string
	}{"std": {3, "jobs of partition big, which may take its place"}, "big": {0, ""}} {
		a := hours(1, 1)
		a.Partition = partition
		waits, err := v.AskWaits(a)
		if got := waits.SortSeconds().Quantile(1) / 3600; err != nil || got != want.hours || strings.Join(v.FindUnknowns(a), "; ") != want.doubts {
			t.Errorf("%s: up to %v h, %q, want %+v: %v", partition, got, v.FindUnknowns(a), want, err)
		}
	}
	mixed := plainSite()
	mixed["show config"], mixed["show partitions"] = s["show config"], s["show partitions"]
	mixed["squeue"] = `{"jobs":[` + running(1, 2, "w[1,2]", 240, "") + "," + strings.Replace(running(2, 1, "w3", 240, ""), `"std"`, `"big"`, 1) + `]}`
	for nodes, want := range map[int]float64{2: 0, 3: 3} {
		a := hours(nodes, 1)
		a.Partition = "big"
		if waits, err := look(t, mixed).AskWaits(a); err != nil || waits.SortSeconds().Quantile(1)/3600 != want {
			t.Errorf("%d nodes beside a job of its tier: %v s, want %v h: %v", nodes, waits.SortSeconds(), want, err)
		}
	}
	s["show partitions"] = strings.Replace(s["show partitions"], "PriorityTier=1", "PriorityTier=1 GraceTime=120", 1)
	a := hours(1, 1)
	a.Partition = "big"
	if waits, err := look(t, s).AskWaits(a); err != nil || waits.SortSeconds().Quantile(1) != 120 {
		t.Errorf("after the time of grace: %v, %v", waits.SortSeconds(), err)
	}
}

// TestPreemptionByQOS: a job does not see those whose QOS its own names, but for their time of
// grace, and has no latest start where a QOS of a job in its place names its own.
func TestPreemptionByQOS(t *testing.T) {
	s := limitedSite(table{}, table{}, table{})
	s["show config"] += "PreemptType = preempt/qos\n"
	s["show qos"] = row(qosColumns, table{"Name": "normal"}) + row(qosColumns, table{"Name": "fast", "GraceTime": "00:02:00"}) +
		row(qosColumns, table{"Name": "urgent", "Preempt": "other,fast"})
	s["squeue"] = `{"jobs":[` + running(1, 3, "w[1-3]", 240, `,"account":"lab","qos":"fast"`) + `]}`
	v := look(t, s)
	for qos, want := range map[string]struct {
		seconds float64
		doubt   string
	}{"normal": {3 * 3600, ""}, "fast": {3 * 3600, "QOS urgent"}, "urgent": {120, ""}} {
		a := hours(1, 1)
		a.QOS, a.Accounts = qos, []string{"lab"}
		waits, err := v.AskWaits(a)
		if got := waits.SortSeconds().Quantile(1); err != nil || got != want.seconds {
			t.Errorf("%s: up to %v s, want %v: %v", qos, got, want.seconds, err)
		}
		if got := strings.Join(v.FindUnknowns(a), "; "); (got == "") != (want.doubt == "") || !strings.Contains(got, want.doubt) {
			t.Errorf("%s: %q, want %q", qos, got, want.doubt)
		}
	}
}

// TestAsleep: nodes that are powered down take time to resume; how long may be unknown.
func TestAsleep(t *testing.T) {
	s := plainSite()
	s.nodes("IDLE+CLOUD+POWERED_DOWN", "IDLE~", "IDLE")
	job := hours(2, 1)
	if got := look(t, s).FindUnknowns(job); len(got) != 1 || !strings.Contains(got[0], "2 nodes that are powered down") {
		t.Errorf("%q", got)
	}
	s["show config"] += "ResumeTimeout = 120 sec\n"
	v := look(t, s)
	p, note := v.AddBoot(uncertainty.Prediction{Level: .8}, job)
	if p.Value != 60 || p.High != 120 || !strings.Contains(note, "up to 2m0s") || len(v.FindUnknowns(job)) > 0 {
		t.Errorf("%+v, %s", p, note)
	}
}

// TestSharedBudget: a budget that holds one job back holds those back that draw on it too, and
// a job is told its own reason once.
func TestSharedBudget(t *testing.T) {
	s := plainSite()
	s["squeue"] = `{"jobs":[` + pending(5, "AssocGrpGRESMinutes", `,"account":"lab"`) + "," + pending(6, "AssocGrpGRESRunMinutes", `,"account":"lab"`) + "," +
		pending(7, "Dependency", `,"dependency":"afterany:6(unfulfilled)"`) + `]}`
	v := look(t, s)
	a := hours(1, 1)
	a.Accounts = []string{"lab"}
	if got := v.FindUnknowns(a); len(got) != 2 {
		t.Errorf("%q", got)
	}
	a, _, rest, err := v.FindQueued("6")
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Concat(rest.Unread, rest.FindUnknowns(a)); len(got) != 2 || strings.Contains(got[1], "job 6") {
		t.Errorf("%q", got)
	}
	a, _, rest, err = v.FindQueued("7")
	if err != nil {
		t.Fatal(err)
	}
	if got := rest.FindUnknowns(a); len(got) != 1 || !strings.Contains(got[0], "the start of job 6") {
		t.Errorf("%q", got)
	}
}

// TestEqualPriorities: of jobs with one priority the first that was submitted starts first.
func TestEqualPriorities(t *testing.T) {
	s := plainSite()
	s.nodes("IDLE", "DOWN", "DOWN")
	s["squeue"] = `{"jobs":[` + strings.Join([]string{running(1, 1, "w1", 240, ""), pending(5, "Resources", ""), pending(6, "Priority", ""), pending(7, "Priority", "")}, ",") + `]}`
	v := look(t, s)
	for id, want := range map[string]float64{"5": 3, "6": 4, "7": 5} {
		a, _, rest, err := v.FindQueued(id)
		if err != nil {
			t.Fatal(err)
		}
		waits, err := rest.AskWaits(a)
		if got := waits.SortSeconds().Quantile(1) / 3600; err != nil || got < want-0.1 || got > want+0.1 {
			t.Errorf("job %s: up to %v h, want %v: %v", id, got, want, err)
		}
	}
}

// TestQueuedDoubts asks about a job of an idle site that Slurm does not start: each answer is a
// refusal, or names what is not known.
func TestQueuedDoubts(t *testing.T) {
	const old = `,"submit_time":1772440000`
	for name, tt := range map[string]struct {
		reason, more   string
		refuses, doubt string
	}{
		"resources":          {"Resources", old, "", "the reason Resources, for which it waits although"},
		"priority":           {"Priority", old, "", "the reason Priority,"},
		"no reason":          {"None", old, "", "the reason None,"},
		"eligible long ago":  {"BeginTime", old + `,"eligible_time":1772441000`, "", "the reason BeginTime,"},
		"nodes":              {"ReqNodeNotAvail, UnavailableNodes:w7", old, "", "the reason ReqNodeNotAvail"},
		"submitted just now": {"Priority", "", "", ""},
		"job that is gone":   {"Dependency", `,"dependency":"afterany:77(unfulfilled)"`, "", "job 77"},
		"failed":             {"Dependency", `,"dependency":"afterok:77(failed)"`, "afterok:77(failed) is never", ""},
		"itself":             {"Dependency", `,"dependency":"afterany:5(unfulfilled)"`, "depends on itself", ""},
		"exit status":        {"Dependency", `,"dependency":"afternotok:1(unfulfilled)"`, "", "by afternotok:1"},
		"end":                {"Dependency", `,"dependency":"afterany:1(unfulfilled)"`, "", ""},
		"state requeue hold": {"None", `,"job_state":["PENDING","REQUEUE_HOLD"]`, "scontrol release 5", ""},
		"state as one word":  {"None", `,"job_state":"PENDING+SPECIAL_EXIT"`, "scontrol release 5", ""},
		"hold":               {"Resources", `,"hold":true`, "scontrol release 5", ""},
		"priority 0":         {"Resources", `,"priority":{"set":true,"infinite":false,"number":0}`, "scontrol release 5", ""},
		"priority not set":   {"Resources", `,"priority":{"set":false,"infinite":false,"number":0}`, "", ""},
		"launch failed":      {"launch_failed_requeued_held", "", "scontrol release 5", ""},
		"requeued":           {"job requeued in held state", "", "scontrol release 5", ""},
		"shards":             {"Resources", `,"tres_per_node":"gres:gpu:1,gres:shard:2"`, "", "shard:2"},
		"FPGAs":              {"Resources", `,"tres_per_task":"gres/fpga=1"`, "", "fpga=1"},
		"part of a job":      {"Resources", `,"het_job_id":{"set":true,"infinite":false,"number":4}`, "", "heterogeneous job 4"},
	} {
		s := plainSite()
		s["squeue"] = `{"jobs":[` + running(1, 1, "w1", 240, "") + "," + pending(5, tt.reason, tt.more) + `]}`
		a, _, v, err := look(t, s).FindQueued("5")
		var waits Waits
		if err == nil {
			waits, err = v.AskWaits(a)
		}
		if tt.refuses != "" || err != nil {
			if !errors.Is(err, ErrNoStart) || !strings.Contains(err.Error(), tt.refuses) || tt.refuses == "" {
				t.Errorf("%s: %v, want %q", name, err, tt.refuses)
			}
			continue
		}
		got := strings.Join(slices.Concat(v.Unread, v.FindUnknowns(a), v.FindContradiction(a, waits)), "; ")
		if (got != "") != (tt.doubt != "") || !strings.Contains(got, tt.doubt) {
			t.Errorf("%s: %q, want %q", name, got, tt.doubt)
		}
	}
}

// TestReservationAdmits: a reservation is for its users, accounts and groups.
func TestReservationAdmits(t *testing.T) {
	for fields, admits := range map[string]bool{
		"Users=eva,root Accounts=(null)": true, "Users=root": false, "Users=root Accounts=lab": true, "Accounts=other": false, "Users=-eva": false, "Users=-bob": true,
		"Users=(null) Groups=chem": true, "Groups=physics": false, "": true,
	} {
		all, err := ParseReservations([]byte("ReservationName=r StartTime=2026-03-02T11:00:00 EndTime=2026-03-02T20:00:00 Nodes=w1 "+fields), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		a := hours(1, 1)
		a.Accounts, a.Groups = []string{"lab"}, []string{"chem"}
		if err := all[0].admit(a); (err == nil) != admits || err != nil && !errors.Is(err, ErrNotAdmitted) {
			t.Errorf("%q: %v", fields, err)
		}
	}
}
