package provision

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/file"
)

func (w *world) settings(p policy.Policy, links int) Settings {
	return Settings{
		Client: &slurmview.Client{Runner: w}, Clock: w, Policy: p, Links: links, Service: w.service,
		Request:  Request{Script: "service.sh", Nodes: 1, Limit: time.Minute},
		Interval: 10 * time.Second,
	}
}

// life is the life of one process: it ends well, in an error or in a crash.
func life(dir string, s Settings) (l *Ledger, crashed bool, err error) {
	var p *Provisioner
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(died); !ok {
				panic(r)
			}
			crashed = true
		}
		if p != nil {
			p.Close()
		}
	}()
	p, err = Open(dir, s)
	if err != nil {
		return nil, false, err
	}
	err = p.Run(context.Background())
	return p.Ledger(), false, err
}

// tear leaves a line unfinished, as a crash in the middle of a write does.
func (w *world) tear(path string) {
	torn := [...]string{"", "{", `{"at":"2026-01-01T00:00:00Z","kind":"accepted","link":0,"job":77`, "\x00\x00"}[w.rng.IntN(4)]
	if info, err := os.Stat(path); err == nil && info.Size() == 0 && torn == "\x00\x00" {
		return // a file of zeros alone is nobody's
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := f.WriteString(torn); err != nil {
		panic(err)
	}
}

// TestExactlyOnce: whatever fails, each link has one job, and the chain goes
// on to its end.
func TestExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(t, "seed"))
		w.faults = rapid.IntRange(0, 24).Draw(t, "faults")
		w.acct = rapid.Bool().Draw(t, "accounting")
		w.modern = rapid.Bool().Draw(t, "modern")
		links := rapid.IntRange(1, 4).Draw(t, "links")
		p := rapid.SampledFrom([]policy.Policy{policy.Fixed{}, policy.Fixed{LeadHours: math.Inf(1)}, policy.Fixed{LeadHours: .3}, policy.Average{}, policy.Quantile{Q: .5}}).Draw(t, "policy")
		s := w.settings(p, links)
		s.Release = rapid.Bool().Draw(t, "release")
		s.KeepPlace = rapid.Bool().Draw(t, "keeps its place")
		w.play(t, s)
	})
}

// TestKeepPlace: each successor is submitted at the start of its predecessor, to begin at that
// one's end, and begins when the policy says so; without a process it begins at the end.
func TestKeepPlace(t *testing.T) {
	w := newWorld(3)
	s := w.settings(early(30), 6)
	s.KeepPlace = true
	l, _, err := life(t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range l.Links[1:] {
		at, before := slices.IndexFunc(w.jobs, func(j *job) bool { return j.ID == k.Job }), l.Links[i]
		if w.jobs[at].Submit > before.Start+20 || k.Start < before.Start+int64(w.service.Seconds())-30 {
			t.Errorf("link %d: submitted at %d, started at %d; its predecessor started at %d", k.Number, w.jobs[at].Submit, k.Start, before.Start)
		}
	}
	if n := w.counts["StartTime=now"]; n < 4 {
		t.Errorf("%d of 5 successors were let go", n)
	}
	requeued := newWorld(3)
	s = requeued.settings(early(0), 2)
	requeued.service = time.Hour
	s.Service = time.Hour
	s.Request.Limit = time.Hour
	s.Interval = 5 * time.Minute
	s.Poll = time.Minute
	s.KeepPlace = true
	requeued.requeue = time.Unix(1_700_000_000, 0).Add(30 * time.Minute)
	l, _, err = life(t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	if first, second := l.Links[0], l.Links[1]; first.Gone == 0 || second.Start < first.Start+3600 {
		t.Errorf("the first service started at %d, once more at %d, the second at %d", first.First, first.Start, second.Start)
	}
	s.Request.Options = []string{"--begin=now+60"}
	if err := s.complete(); err != nil || s.KeepPlace {
		t.Errorf("%v: the user's own begin is overridden", err)
	}
}

// TestEveryFault: on these seeds everything that can go wrong does.
func TestEveryFault(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(40) {
		w := newWorld(seed)
		w.counts, w.faults, w.acct = counts, 24, seed%2 == 0
		w.play(t, w.settings(policy.Fixed{LeadHours: .3}, 3))
	}
	t.Log(counts)
	for _, fault := range []string{
		"sbatch 1", "sbatch 2", "sbatch 3", "sbatch 4", "sbatch 5", "sbatch 6", "sbatch 7", "sbatch 8", "sbatch 9", "sbatch 10",
		"crash between", "crash squeue", "crash asleep",
	} {
		if counts[fault] == 0 {
			t.Errorf("%s never happened", fault)
		}
	}
}

// play lives as many lives as a chain needs, and counts its jobs.
func (w *world) play(t rapid.TB, s Settings) {
	dir, err := os.MkdirTemp("", "chain")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 200 {
		l, crashed, err := life(dir, s)
		s.Resolve = 0
		if w.double != nil {
			t.Fatal(w.double)
		}
		switch {
		case crashed:
			w.tear(filepath.Join(dir, "journal.jsonl"))
			w.tear(filepath.Join(dir, "history.jsonl"))
			w.pass(time.Duration(w.rng.ExpFloat64() * 30 * float64(time.Second)))
			continue
		case errors.Is(err, ErrUnsure):
			id, age := w.truth(dir)
			if w.acct || age < w.age {
				t.Fatalf("%v, with accounting %v, %v after the intent", err, w.acct, age)
			}
			w.counts["unsure"]++
			s.Resolve = id
			continue
		case err != nil:
			t.Fatal(err)
		}
		w.verify(t, l, s.Links)
		return
	}
	t.Fatal("the chain does not come to its end")
}

// truth is what a person would find out about the open link, and how old its
// intent is.
func (w *world) truth(dir string) (id int64, age time.Duration) {
	l, err := OpenLedger(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		panic(err)
	}
	defer l.Close()
	age = w.now.Sub(l.Last().Intent)
	for _, j := range w.jobs {
		if j.Comment == l.Token(l.Last().Number) && !l.isUsed(j.ID) {
			return j.ID, age
		}
	}
	return -1, age
}

// verify counts the jobs of each link that were not cancelled before their
// start.
func (w *world) verify(t rapid.TB, l *Ledger, links int) {
	w.pass(time.Hour) // whatever is still under way arrives
	if len(l.Links) != links {
		t.Fatalf("%d links, want %d", len(l.Links), links)
	}
	ran := map[string]int{}
	for _, j := range w.jobs {
		if j.fate != "CANCELLED" {
			ran[j.Comment]++
		}
	}
	forgotten := 0 // cancelled and forgotten by the controller before anybody looked
	for _, k := range l.Links {
		if k.Ended && k.End == 0 && !k.Started && ran[l.Token(k.Number)] == 0 {
			forgotten++
		}
	}
	if len(ran)+forgotten != links {
		t.Fatalf("jobs for %d links, %d are forgotten, want %d", len(ran), forgotten, links)
	}
	for token, n := range ran {
		if n != 1 {
			t.Fatalf("%d jobs for %s", n, token)
		}
	}
}

// TestForgotten: the process ends right after its submission and comes back
// when the controller has forgotten the job.
func TestForgotten(t *testing.T) {
	for _, tt := range []struct {
		name            string
		submitted, acct bool
		down            time.Duration
		unsure          bool
		jobs            int // at the end of a chain of two
	}{
		{"remembered", true, false, 70 * time.Second, false, 2},
		{"remembered to be absent", false, false, 70 * time.Second, false, 2},
		{"forgotten", true, false, time.Hour, true, 2},
		{"absent or forgotten", false, false, time.Hour, true, 2},
		{"in the accounting", true, true, time.Hour, false, 2},
		{"not in the accounting", false, true, time.Hour, false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(2)
			w.acct = tt.acct
			dir := t.TempDir()
			s := w.settings(policy.Fixed{}, 2)
			p, err := Open(dir, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.append(Entry{Kind: Intent, Link: 0}); err != nil {
				t.Fatal(err)
			}
			if tt.submitted {
				w.submit([]string{"sbatch", "--comment=" + p.ledger.Token(0), "--job-name=" + p.name(0)})
				w.jobs[0].fate = ""
			}
			p.Close()
			w.pass(tt.down / 2)
			w.pass(tt.down / 2)
			_, _, err = life(dir, s)
			if errors.Is(err, ErrUnsure) != tt.unsure {
				t.Fatalf("error %v, want ErrUnsure: %v", err, tt.unsure)
			}
			if tt.unsure {
				s.Resolve, _ = w.truth(dir)
				_, _, err = life(dir, s)
			}
			if err != nil {
				t.Fatal(err)
			}
			ran := 0
			for _, j := range w.jobs {
				if j.State == "COMPLETED" {
					ran++
				}
			}
			if ran != tt.jobs || w.double != nil {
				t.Errorf("%d jobs, want %d; %v", ran, tt.jobs, w.double)
			}
		})
	}
}

// TestDouble: should a link ever have two jobs, the first is kept and the
// other cancelled and told.
func TestDouble(t *testing.T) {
	w := newWorld(9)
	dir := t.TempDir()
	s := w.settings(policy.Fixed{}, 1)
	var warned []error
	s.Warn = func(err error) { warned = append(warned, err) }
	p, err := Open(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.append(Entry{Kind: Intent, Link: 0}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.submit([]string{"sbatch", "--comment=" + p.ledger.Token(0)})
	}
	w.pass(20 * time.Second)
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(warned) != 1 || !errors.Is(warned[0], ErrDouble) || w.jobs[1].State != "CANCELLED" || p.ledger.Links[0].Job != 1 {
		t.Errorf("warned %v, jobs %+v %+v", warned, w.jobs[0], w.jobs[1])
	}
}

// TestFailing: services that end at once, or are cancelled every time, are not
// submitted for ever.
func TestFailing(t *testing.T) {
	for name, fate := range map[string]func(*world){
		"end at once": func(w *world) { w.service = time.Second },
		"cancelled":   func(w *world) { w.hopeless = true },
	} {
		w := newWorld(13)
		s := w.settings(policy.Fixed{}, 0)
		fate(w)
		dir := t.TempDir()
		for i := range 2 { // whoever starts it again wants to see it tried
			if _, _, err := life(dir, s); !errors.Is(err, ErrFailing) {
				t.Errorf("%s: %v", name, err)
			}
			if want := 5 * (i + 1); len(w.jobs) != want {
				t.Errorf("%s: %d jobs, want %d", name, len(w.jobs), want)
			}
		}
	}
}

// TestRelease: where it is wanted, a predecessor makes way for its successor.
func TestRelease(t *testing.T) {
	for _, release := range []bool{false, true} {
		w := newWorld(11)
		s := w.settings(policy.Fixed{LeadHours: math.Inf(1)}, 4)
		s.Release = release
		l, _, err := life(t.TempDir(), s)
		if err != nil {
			t.Fatal(err)
		}
		cancelled := 0
		for _, j := range w.jobs {
			if j.State == "CANCELLED" && j.End > j.Start {
				cancelled++
			}
		}
		if release != (cancelled > 0) || release != (l.Summary().Overlap < 20) {
			t.Errorf("release %v: %d cancelled, %+v", release, cancelled, l.Summary())
		}
	}
}

// TestGone: a job that the controller forgets while it should run does not
// end the chain.
func TestGone(t *testing.T) {
	w := newWorld(10)
	s := w.settings(policy.Fixed{}, 3)
	dir := t.TempDir()
	forgotten := false
	s.Warn = func(error) { forgotten = true }
	s.Policy = decide(func(*policy.State) (policy.Decision, error) {
		if !forgotten {
			w.jobs[0].State, w.jobs[0].End = "COMPLETED", 1
		}
		return policy.Decision{}, nil
	})
	l, _, err := life(dir, s)
	if err != nil || !forgotten || l.Links[0].End != 0 || !l.Links[0].Ended || l.Summary().Links != 3 || l.Summary().HandOvers != 1 {
		t.Errorf("%+v, %v", l.Links, err)
	}
}

// TestChain: without faults, the policy sees what it should, and the hand-overs add up.
func TestChain(t *testing.T) {
	w := newWorld(3)
	seen := 0
	s := w.settings(decide(func(s *policy.State) (policy.Decision, error) {
		seen++
		if s.Service.Limit != 60 || s.Now < s.PredEnd-60 || s.Now >= s.PredEnd {
			t.Errorf("state until %d at %d, service %+v", s.PredEnd, s.Now, s.Service)
		}
		if n := len(s.History.Moments); n != samples.Steps || s.History.Moments[n-1].At != s.Now || s.History.Moments[n-2].At != s.Now-600 {
			t.Errorf("%d moments, the last at %+v", n, s.History.Moments[n-1].At)
		}
		last := s.History.Moments[samples.Steps-1].Snapshot
		if last[12] < 2 { // the predecessor and a job of somebody's
			t.Errorf("%v running jobs", last[12])
		}
		if ran := float64(s.Now - s.PredEnd + 60); math.Abs(s.History.ElapsedSeconds-ran) > 1 {
			t.Errorf("the predecessor ran for %v s, want %v", s.History.ElapsedSeconds, ran)
		}
		for _, wait := range s.Waits {
			if wait < 0 || wait > 50 {
				t.Errorf("wait of %v s", wait)
			}
		}
		return policy.Fixed{LeadHours: 15. / 3600}.Decide(s)
	}), 6)
	dir := t.TempDir()
	l, crashed, err := life(dir, s)
	if crashed || err != nil {
		t.Fatal(crashed, err)
	}
	sum := l.Summary()
	if sum.Links != 6 || sum.Ended != 6 || sum.HandOvers != 5 || seen < 20 {
		t.Errorf("%+v after %d decisions", sum, seen)
	}
	if sum.Interruption+sum.Overlap == 0 {
		t.Errorf("%+v: no wait at all", sum)
	}
	var last Verdict
	b, err := os.ReadFile(filepath.Join(dir, "decisions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")
	if err := json.Unmarshal([]byte(rows[len(rows)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if !last.Submit || last.Link != 4 || last.Why != "policy" || len(last.Features) != len(samples.SummaryColumns()) || last.Expected == nil {
		t.Errorf("last decision %+v", last)
	}
	// Once more: everything has ended, so nothing is left to do.
	again, _, err := life(dir, s)
	if err != nil || again.Summary() != sum {
		t.Errorf("again: %+v, %v", again.Summary(), err)
	}
}

type decide func(*policy.State) (policy.Decision, error)

func (f decide) Decide(s *policy.State) (policy.Decision, error) { return f(s) }

// TestPolicyFails: a policy that cannot decide makes the chain reactive.
func TestPolicyFails(t *testing.T) {
	w := newWorld(4)
	s := w.settings(decide(func(*policy.State) (policy.Decision, error) { return policy.Decision{}, errors.New("no idea") }), 3)
	warned := 0
	s.Warn = func(error) { warned++ }
	l, _, err := life(t.TempDir(), s)
	if err != nil || l.Summary().Links != 3 || l.Summary().Overlap > 0 || warned == 0 {
		t.Errorf("%+v, %v, %d warnings", l.Summary(), err, warned)
	}
}

func TestDryRun(t *testing.T) {
	w := newWorld(5)
	w.submit([]string{"sbatch", "--comment=mine"})
	w.jobs[0].fate = ""
	w.pass(30 * time.Second)
	s := w.settings(policy.Fixed{LeadHours: .25}, 0)
	s.DryRun, s.Predecessor, s.Request.Script = true, 1, ""
	l, _, err := life(t.TempDir(), s)
	if err != nil || len(l.Links) != 1 || len(w.jobs) != 1 {
		t.Errorf("%+v, %v, %d jobs", l, err, len(w.jobs))
	}
}

func TestRefuses(t *testing.T) {
	w := newWorld(6)
	dir := t.TempDir()
	good := w.settings(policy.Fixed{}, 1)
	p, err := Open(dir, good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, good); !errors.Is(err, file.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	p.Close()
	for name, spoil := range map[string]func(*Settings){
		"no client":      func(s *Settings) { s.Client = nil },
		"no policy":      func(s *Settings) { s.Policy = nil },
		"no nodes":       func(s *Settings) { s.Request.Nodes = 0 },
		"no limit":       func(s *Settings) { s.Request.Limit = 0 },
		"over the limit": func(s *Settings) { s.Service = time.Hour },
		"interval":       func(s *Settings) { s.Interval = -1 },
		"no script":      func(s *Settings) { s.Request.Script = "" },
		"dry run":        func(s *Settings) { s.DryRun = true },
	} {
		s := good
		spoil(&s)
		if _, err := Open(dir, s); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(`{"kind":"intent","link":0}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, good); !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), "journal.jsonl:1") {
		t.Errorf("impossible journal: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte("nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, good); !errors.Is(err, file.ErrForeign) || !strings.Contains(err.Error(), "journal.jsonl") {
		t.Errorf("nonsense: %v", err)
	}
}

// TestStop: a stop between two polls ends the run, and it goes on after.
func TestStop(t *testing.T) {
	w := newWorld(7)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := w.settings(decide(func(*policy.State) (policy.Decision, error) { cancel(); return policy.Decision{}, nil }), 3)
	p, err := Open(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	p.Close()
	s.Policy = policy.Fixed{}
	if l, _, err := life(dir, s); err != nil || l.Summary().Ended != 3 {
		t.Errorf("gone on: %v", err)
	}
}

// TestOpenEnds: an opening that a panic ends leaves the folder to the next.
func TestOpenEnds(t *testing.T) {
	dir, s := t.TempDir(), newWorld(9).settings(policy.Fixed{}, 1)
	s.Tell = func(Entry) { panic("ended") }
	func() {
		defer func() { _ = recover() }()
		_, err := Open(dir, s)
		t.Fatalf("opened: %v", err)
	}()
	s.Tell = nil
	p, err := Open(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}

func TestMetrics(t *testing.T) {
	w := newWorld(8)
	p, err := Open(t.TempDir(), w.settings(policy.Average{}, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Metrics.chain(p.ledger)
	page := httptest.NewRecorder()
	promhttp.HandlerFor(p.Metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	text := page.Body.String()
	for _, want := range []string{"# TYPE mirage_provision_submissions_total counter\n", "\nmirage_provision_services 2\n", "\nmirage_provision_doubles_total 0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
