package provision

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/uncertainty"
)

// fourNodes is a world of four nodes.
type fourNodes struct{ *world }

func (w fourNodes) Run(ctx context.Context, argv []string, held *os.File) ([]byte, error) {
	if argv[len(argv)-1] == "nodes" {
		return []byte(strings.Repeat("NodeName=n CPUTot=4 State=IDLE Partitions=p\n", 4)), nil
	}
	return w.world.Run(ctx, argv, held)
}

// TestForecast: on a cluster of four nodes, two are the chain's own for two
// hours more, one is another's for ten, and three single-node tasks of one
// hour wait ahead. A held job, and one that has ended, are in nobody's way.
func TestForecast(t *testing.T) {
	const now = 1_700_000_000
	jobs := []slurmview.Job{
		{ID: 1, State: "RUNNING", Nodes: 2, Limit: 9 * time.Hour, Submit: now - 7200, Start: now - 7200},
		{ID: 2, State: "RUNNING", Nodes: 1, Limit: 11 * time.Hour, Submit: now - 3600, Start: now - 3600},
		{ID: 3, State: "PENDING", Nodes: 1, Limit: time.Hour, Submit: now - 60, Tasks: 3},
		{ID: 4, State: "PENDING", Nodes: 4, Limit: time.Hour, Submit: now - 90, Reason: "JobHeldUser"},
		{ID: 5, State: "COMPLETED", Nodes: 4, Limit: time.Hour, Submit: now - 9000, Start: now - 9000, End: now - 7300},
	}
	s := policy.State{Now: now, PredEnd: now + 7200, Service: chain.Service{Nodes: 3, Limit: 4 * 3600}}
	forecast := func() ([]float64, error) {
		client := slurmview.Client{Runner: fourNodes{newWorld(1)}}
		view, err := client.Look(t.Context(), time.Unix(now, 0), slurmview.Sight{Jobs: jobs, Own: func(id int64) bool { return id == 1 }})
		if err != nil {
			return nil, err
		}
		p, again := &Provisioner{view: view}, s
		again.Queue = func() (policy.Queue, error) {
			service, sim, err := p.resume(&again)
			return policy.NewQueue(service, sim), err
		}
		return again.Forecast()
	}
	waits, err := forecast()
	// The three tasks take turns on the free node until the third hour, but the
	// third has, after the second hour, room beside the chain's successor's
	// reservation only where the chain's own job was.
	if err != nil || !cmp.Equal(waits, []float64{3 * 3600, 2 * 3600}) {
		t.Errorf("%v s, %v", waits, err)
	}
	jobs = append(jobs, slurmview.Job{ID: 6, State: "RUNNING", Nodes: 5, Submit: now - 60, Start: now - 60}) // without a limit
	if waits, err := forecast(); err != nil || waits[0] < 7200 {
		t.Errorf("more nodes in use than known of: %v, %v", waits, err)
	}
	s.Service.Nodes = 50
	if _, err := forecast(); !errors.Is(err, cluster.ErrOversize) {
		t.Errorf("a service of 50 nodes: %v", err)
	}
}

// asker keeps what remains and the forecasts that it is given.
type asker struct {
	remaining []float64
	waits     [][]float64
}

func (a *asker) Decide(s *policy.State) (policy.Decision, error) {
	waits, err := s.Forecast()
	a.waits = append(a.waits, waits)
	a.remaining = append(a.remaining, s.RemainingSeconds())
	return policy.Decision{}, err
}

// TestForecastSeen: a policy that forecasts sees the cluster as its controller describes it: two
// nodes, one the service's own and the other somebody's for an hour.
func TestForecastSeen(t *testing.T) {
	w, a := newWorld(1), new(asker)
	s := w.settings(a, 2)
	s.Forecasts = true
	if _, _, err := life(t.TempDir(), s); err != nil {
		t.Fatal(err)
	}
	if len(a.waits) < 3 {
		t.Fatalf("%d decisions", len(a.waits))
	}
	for i, left := range a.remaining {
		if !cmp.Equal(a.waits[i], []float64{left, left}) {
			t.Errorf("waits %v, and %v s remain", a.waits[i], left)
		}
	}
}

// TestHandover: a decision is kept with the chances of a start and the time chosen from
// them, in the cluster's time. One node is the service's own and the other somebody's for an
// hour, so a successor waits for the service's end, and is best submitted at once.
func TestHandover(t *testing.T) {
	w, dir := newWorld(1), t.TempDir()
	s := w.settings(policy.Futures{Quantile: .5}, 2)
	s.Forecasts = true
	if _, _, err := life(dir, s); err != nil {
		t.Fatal(err)
	}
	asked := 0
	_, err := file.ReadLog(filepath.Join(dir, "decisions.jsonl"), logLines("why", func(v Verdict) error {
		if v.Expected == nil {
			return nil
		}
		asked++
		if n := len(v.ChanceBy); n != 11 || v.HandoverAt == nil {
			t.Fatalf("%+v", v)
		}
		median := v.ChanceBy[len(v.ChanceBy)/2]
		if median.Chance != .5 || math.Abs(median.Seconds-v.Remaining) > 1 || v.HandoverAt.Sub(v.At).Abs() > time.Second {
			t.Errorf("half start within %v s, %v s remain; handover at %v, decided at %v", median, v.Remaining, v.HandoverAt, v.At)
		}
		return nil
	}))
	if err != nil || asked == 0 {
		t.Errorf("%d decisions, %v", asked, err)
	}
}

// TestSilence: a Slurm that never answers ends the run after ten minutes; one that is
// away for a while does not, and the chain goes on as if nothing had been.
func TestSilence(t *testing.T) {
	w := newWorld(1)
	w.away = func(time.Time) bool { return true }
	s := w.settings(policy.Fixed{}, 3)
	begun := w.now
	if _, _, err := life(t.TempDir(), s); !errors.Is(err, ErrSilent) || w.now.Sub(begun) < firstAnswer || w.now.Sub(begun) > 2*firstAnswer {
		t.Errorf("after %v: %v", w.now.Sub(begun), err)
	}
	w = newWorld(1)
	from := w.now.Add(70 * time.Second)
	w.away = func(now time.Time) bool { return now.After(from) && now.Before(from.Add(9*time.Minute)) }
	s = w.settings(policy.Fixed{}, 3)
	l, _, err := life(t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	if sum := l.Summary(); sum.Links != 3 || sum.Ended != 3 || w.double != nil {
		t.Errorf("%+v, %v", sum, w.double)
	}
}

// TestHeld: what would not start though there were room is not before anybody.
func TestHeld(t *testing.T) {
	for reason, want := range map[string]bool{
		"Resources": false, "Priority": false, "None": false, "ReqNodeNotAvail, Reserved for maintenance": false,
		"Reservation":       false, // of others
		"JobArrayTaskLimit": true, "QOSMaxJobsPerUserLimit": true, "AssocGrpNodeLimit": true, "BeginTime": true, "Dependency": true, "QOSNotAllowed": true,
	} {
		if j := (slurmview.Job{State: "PENDING", Reason: reason}); j.Held() != want {
			t.Errorf("%s: held %v", reason, j.Held())
		}
	}
	if j := (slurmview.Job{State: "PENDING", Reason: "Reservation", Place: slurmview.Place{Reservation: "course"}}); !j.Held() {
		t.Error("a job of a reservation is not held")
	}
	h, err := openHistory(filepath.Join(t.TempDir(), "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.log.Close()
	jobs := []slurmview.Job{{ID: 1, State: "PENDING", Reason: "Priority", Nodes: 2}, {ID: 2, State: "PENDING", Reason: "JobArrayTaskLimit", Nodes: 1, Tasks: 59}}
	if err := h.snapshot(jobs, 100); err != nil {
		t.Fatal(err)
	}
	if s := h.moments[0].Snapshot; s[0] != 1 || s[1] != 2 {
		t.Errorf("%v jobs on %v nodes wait, want one on two", s[0], s[1])
	}
}

// TestRefused: a refusal for good is none that is tried again.
func TestRefused(t *testing.T) {
	for said, want := range map[string]error{
		"sbatch: error: Batch job submission failed: Invalid partition name specified":                                                                                                              ErrRefused,
		"sbatch: error: Batch job submission failed: Requested node configuration is not available":                                                                                                 ErrRefused,
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":                                                                                                       slurmview.ErrCommand,
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)":                                                                                          slurmview.ErrCommand,
		"sbatch: error: AssocMaxSubmitJobLimit; sbatch: error: Batch job submission failed: slurmview.Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)":        ErrLimited,
		"sbatch: error: QOSMaxWallDurationPerJobLimit; sbatch: error: Batch job submission failed: slurmview.Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)": ErrRefused,
		"sbatch: error: Batch job submission failed: slurmview.Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)":                                               ErrLimited,
		"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying":                                                                                                              slurmview.ErrCommand,
	} {
		c := slurmview.Client{Runner: failing(said)}
		_, err := submitJob(t.Context(), &c, Request{Script: "x", Nodes: 1, Limit: time.Hour}, nil)
		if !errors.Is(err, want) || want == ErrRefused && errors.Is(err, slurmview.ErrCommand) || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// failing is a command that says why it fails.
type failing string

func (f failing) Run(context.Context, []string, *os.File) ([]byte, error) {
	return nil, fmt.Errorf("sbatch: %w: exit status 1: %s", slurmview.ErrCommand, string(f))
}

// early submits so many seconds before the end of the predecessor, and expects an hour.
type early float64

func (e early) Decide(s *policy.State) (policy.Decision, error) {
	return policy.Decision{Submit: s.RemainingSeconds() <= float64(e), Expected: uncertainty.Prediction{Value: 1, Low: 0, High: 2, Level: .8}, Expects: true}, nil
}

// TestRemembered: what is expected of each successor that the policy submits is kept,
// and what it came to once it has started, in the policy's hours.
func TestRemembered(t *testing.T) {
	w := newWorld(3)
	s := w.settings(early(30), 6)
	expected, came := map[string]int{}, map[string]float64{}
	s.Predict = func(token string, e uncertainty.Prediction) uncertainty.Prediction {
		expected[token]++
		return e.Widen(2)
	}
	s.Outcome = func(token string, hours float64) { came[token] = hours }
	dir := t.TempDir()
	l, _, err := life(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(expected) < 3 {
		t.Errorf("%d successors of 5 were expected", len(expected))
	}
	for i, k := range l.Links[1:] {
		want := float64(k.Start-l.Links[i].Start-int64(w.service.Seconds())) / 3600
		if got, ok := came[l.Token(k.Number)]; !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("link %d came to %v h, want %v", k.Number, got, want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "decisions.jsonl")); err != nil || !strings.Contains(string(b), `"low":-1,"high":3`) {
		t.Errorf("%v: no decision holds the corrected interval", err)
	}
}
