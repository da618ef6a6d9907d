package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// died is the end of a process at the point where it is thrown.
type died struct{}

// world is a Slurm in memory, on a time of its own, that loses replies, lets
// requests linger, forgets finished jobs, and ends the process that talks to
// it at any point. It is Runner and Clock.
type world struct {
	now      time.Time
	rng      *rand.Rand
	faults   int // still to come
	service  time.Duration
	age      time.Duration
	message  time.Duration
	acct     bool
	away     func(time.Time) bool // no command reaches it then; nil is never
	requeue  time.Time            // when the running job is requeued; zero is never
	fixed    bool                 // nobody may change a job's begin
	hopeless bool                 // every job is cancelled before its start
	modern   bool                 // numbers and states as newer versions print them

	jobs    []*job
	pending []late
	double  error
	strange int64 // jobs of others
	counts  map[string]int
}

type job struct {
	slurmview.Job
	begin time.Time // when it will start
	after *job      // it starts after that one's end
	ran   bool
	fate  trace.State // CANCELLED: it never will
}

// late is a request that reaches the controller later, and what holds the
// lock until then.
type late struct {
	at      time.Time
	argv    []string
	held    int // descriptor of an sbatch without a parent; -1 without
	arrives bool
}

func newWorld(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &world{
		now: time.Unix(1_700_000_000, 0), rng: rng, service: 60 * time.Second,
		age: 120 * time.Second, message: 5 * time.Second, counts: map[string]int{},
	}
}

// fault says whether something goes wrong now.
func (w *world) fault(probability float64) bool {
	if w.faults > 0 && w.rng.Float64() < probability {
		w.faults--
		return true
	}
	return false
}

func (w *world) crash(probability float64, where string) {
	if w.fault(probability) {
		w.counts["crash "+where]++
		panic(died{})
	}
}

func (w *world) Now() time.Time {
	w.crash(.003, "between")
	return w.now
}

func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	w.crash(.004, "asleep")
	w.pass(max(d, time.Millisecond))
	return ctx.Err()
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for i := 0; i < len(w.pending); {
		l := w.pending[i]
		if l.at.After(w.now) {
			i++
			continue
		}
		w.pending = slices.Delete(w.pending, i, i+1)
		if l.arrives {
			w.submit(l.argv)
		}
		if l.held >= 0 {
			syscall.Close(l.held)
		}
	}
	for _, j := range w.jobs {
		if j.State == "RUNNING" && !w.requeue.IsZero() && w.now.After(w.requeue) {
			j.State, j.Start, j.End = "PENDING", 0, 0
			j.begin, w.requeue = w.now.Add(time.Minute), time.Time{}
		}
		if j.State == "PENDING" && !j.begin.After(w.now) && (j.after == nil || j.after.State.Over()) {
			j.Start = w.now.Unix()
			if j.fate == "CANCELLED" {
				j.State, j.End = "CANCELLED", j.Start
				continue
			}
			j.State, j.End, j.ran = "RUNNING", j.Start+int64(w.service.Seconds()), true
		}
		if j.State == "RUNNING" && j.End <= w.now.Unix() {
			j.State = "COMPLETED"
		}
	}
}

func option(argv []string, name string) string {
	for _, a := range argv {
		if v, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			return v
		}
	}
	return ""
}

// submit takes a job in, and notes where a link has two.
func (w *world) submit(argv []string) int64 {
	j := &job{Job: slurmview.Job{ID: int64(len(w.jobs) + 1), Name: option(argv, "job-name"), Comment: option(argv, "comment"), State: "PENDING", Nodes: 1, Limit: time.Minute, Submit: w.now.Unix()}}
	j.begin = w.now.Add(time.Duration(w.rng.IntN(20)) * time.Second)
	if after, err := strconv.Atoi(strings.TrimPrefix(option(argv, "begin"), "now+")); err == nil {
		j.Eligible = j.Submit + int64(after)
		j.begin = time.Unix(max(j.begin.Unix(), j.Eligible), 0)
	}
	if after, err := strconv.Atoi(strings.TrimPrefix(option(argv, "dependency"), "afterany:")); err == nil {
		j.after = w.jobs[after-1]
	}
	if w.hopeless || w.rng.Float64() < .07 {
		j.fate = "CANCELLED"
	}
	for _, other := range w.jobs {
		if other.Comment == j.Comment && other.State != "CANCELLED" && w.double == nil {
			w.double = fmt.Errorf("jobs %d and %d for %s", other.ID, j.ID, j.Comment)
		}
	}
	w.jobs = append(w.jobs, j)
	return j.ID
}

func (w *world) Run(_ context.Context, argv []string, held *os.File) ([]byte, error) {
	failed := fmt.Errorf("%s: %w: lost", argv[0], slurmview.ErrCommand)
	if w.away != nil && w.away(w.now) {
		return nil, failed
	}
	switch argv[0] {
	case "scontrol":
		if argv[1] == "update" {
			return nil, w.begin(argv[2:])
		}
		if argv[len(argv)-2] == "job" {
			return []byte("JobId=1 JobState=FAILED ExitCode=3:0 StdErr=/home/me/slurm-1.out StdIn=/dev/null\n"), nil
		}
		switch argv[len(argv)-1] {
		case "nodes":
			return []byte("NodeName=n0 CPUTot=4 State=IDLE Partitions=p\nNodeName=n1 CPUTot=4 State=IDLE Partitions=p\nNodeName=n2 CPUTot=4 State=DOWN* Partitions=p\n"), nil
		case "partitions":
			return []byte("PartitionName=p Default=YES MaxTime=UNLIMITED Nodes=n[0-2]\n"), nil
		}
		return fmt.Appendf(nil, "Configuration data as of now\nAccountingStorageType   = accounting_storage/%s\nMessageTimeout          = %d sec\nMinJobAge               = %d sec\n",
			map[bool]string{true: "slurmdbd", false: "none"}[w.acct], int(w.message.Seconds()), int(w.age.Seconds())), nil
	case "sbatch":
		return w.sbatch(argv, held, failed)
	case "squeue":
		w.crash(.01, "squeue")
		if w.fault(.02) {
			return nil, failed
		}
		b := w.squeue()
		if w.fault(.01) {
			return b[:w.rng.IntN(len(b))], nil
		}
		return b, nil
	case "sacct":
		return w.sacct(option(argv, "name")), nil
	case "scancel":
		for _, j := range w.jobs {
			switch {
			case fmt.Sprint(j.ID) != argv[len(argv)-1]:
			case j.State == "RUNNING" && len(argv) == 2:
				j.State, j.End = "CANCELLED", w.now.Unix()
			case j.State == "PENDING":
				j.State, j.Start, j.End = "CANCELLED", w.now.Unix(), w.now.Unix()
				if !j.ran {
					j.fate = "CANCELLED"
				}
			}
		}
		return nil, nil
	}
	return nil, errors.New("unknown command " + argv[0])
}

// begin sets the time from which a job may start.
func (w *world) begin(argv []string) error {
	w.counts["update"]++
	if w.fixed {
		return fmt.Errorf("scontrol: %w: exit status 1: Access/permission denied for job", slurmview.ErrCommand)
	}
	for _, j := range w.jobs {
		if argv[0] != fmt.Sprintf("JobId=%d", j.ID) || j.State != "PENDING" {
			continue
		}
		after, _ := strconv.Atoi(strings.TrimPrefix(argv[1], "StartTime=now+"))
		j.Eligible = w.now.Unix() + int64(after)
		j.begin = w.now.Add(time.Duration(after+w.rng.IntN(20)) * time.Second)
		w.counts[argv[1]]++
		return nil
	}
	return fmt.Errorf("scontrol: %w: %q: Job is no longer pending execution", slurmview.ErrCommand, argv)
}

func (w *world) sbatch(argv []string, held *os.File, failed error) ([]byte, error) {
	fate := 0
	if w.fault(.6) {
		fate = 1 + w.rng.IntN(10)
	}
	w.counts[fmt.Sprintf("sbatch %d", fate)]++
	within := func(d time.Duration) time.Time { return w.now.Add(time.Duration(w.rng.Int64N(int64(d)))) }
	switch fate {
	case 1: // done, reply lost
		w.submit(argv)
		return nil, failed
	case 2: // refused
		return nil, failed
	case 3: // gives up, but the request is under way
		w.pending = append(w.pending, late{within(2*w.message - time.Second), argv, -1, true})
		return nil, failed
	case 4: // the process ends before
		panic(died{})
	case 5: // and after
		w.submit(argv)
		panic(died{})
	case 6, 7, 10: // it ends during sbatch, which goes on alone, for long
		fd, err := syscall.Dup(int(held.Fd()))
		if err != nil {
			panic(err)
		}
		w.pending = append(w.pending, late{within(3 * w.message * 5), argv, fd, fate != 7})
		if fate == 10 { // or only a wrapper of sbatch ends
			return nil, failed
		}
		panic(died{})
	case 8: // tells twice
		id := w.submit(argv)
		return fmt.Appendf(nil, "%d;t\n%d;t\n", id, id), nil
	case 9: // tells nothing
		w.submit(argv)
		return []byte("\n"), nil
	}
	w.pass(10 * time.Millisecond)
	return fmt.Appendf(nil, "%d\n", w.submit(argv)), nil
}

// squeue tells of the jobs that are not forgotten yet, and of somebody's.
func (w *world) squeue() []byte {
	num := func(n int64) any {
		if w.modern {
			return map[string]any{"set": true, "infinite": false, "number": n}
		}
		return n
	}
	var list []any
	add := func(j slurmview.Job) {
		var state any = string(j.State)
		if w.modern {
			state = []string{string(j.State), "FLAG"}
		}
		list = append(list, map[string]any{
			"job_id": j.ID, "name": j.Name, "comment": j.Comment, "job_state": state, "user_name": "u", "node_count": num(int64(j.Nodes)),
			"eligible_time": num(j.Eligible), "time_limit": num(int64(j.Limit.Minutes())), "submit_time": num(j.Submit), "start_time": num(j.Start), "end_time": num(j.End),
		})
	}
	for _, j := range w.jobs {
		if !j.State.Over() || w.now.Sub(time.Unix(j.End, 0)) < w.age {
			add(j.Job)
		}
	}
	w.strange++
	add(slurmview.Job{ID: 1000 + w.strange, Comment: "a|b \"c\"\n", State: "RUNNING", Nodes: 1, Limit: time.Hour, Submit: w.now.Unix() - w.rng.Int64N(50), Start: w.now.Unix()})
	b, err := json.Marshal(map[string]any{"meta": 1, "errors": []int{}, "jobs": list})
	if err != nil {
		panic(err)
	}
	return b
}

func (w *world) sacct(name string) []byte {
	var b []byte
	for _, j := range w.jobs {
		if j.Name == name {
			state := string(j.State)
			if state == "CANCELLED" {
				state = "CANCELLED by 0"
			}
			b = fmt.Appendf(b, "%d|%s|%s\n", j.ID, state, j.Name)
		}
	}
	return b
}
