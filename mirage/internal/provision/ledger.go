package provision

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foretime/foretime/shared/file"
)

// ErrLedger is returned when a journal says what cannot have happened.
var ErrLedger = errors.New("impossible journal entry")

// Kind is the kind of a journal entry.
type Kind string

// The kinds of entries.
const (
	Begin    Kind = "begin"    // of the chain: its name
	Intent   Kind = "intent"   // sbatch is about to be run for a link
	Accepted Kind = "accepted" // a link has a job
	Started  Kind = "started"  // it holds nodes
	Requeued Kind = "requeued" // it holds none for now: the same job waits or runs again
	Ended    Kind = "ended"    // it holds none any more
	Void     Kind = "void"     // it ended without ever having started
	Refused  Kind = "refused"  // sbatch submitted no job for a link
)

// Entry is a line of the journal.
type Entry struct {
	At     time.Time `json:"at"`
	Kind   Kind      `json:"kind"`
	Chain  string    `json:"chain,omitempty"`
	Link   int       `json:"link"`
	Job    int64     `json:"job,omitempty"`
	Start  int64     `json:"start,omitempty"` // Unix seconds
	End    int64     `json:"end,omitempty"`   // Unix seconds; 0 where it is not known
	Reason string    `json:"reason,omitempty"`
}

// Link is a service job of the chain.
type Link struct {
	Number  int
	Intent  time.Time // of the last submission; zero if it was adopted
	Tries   int       // submissions
	Open    bool      // the outcome of the last submission is unknown
	Refused time.Time // first refusal since its last job; zero is none
	Job     int64     // 0 until one is known
	Start   int64     // Unix seconds; 0 until then; the latest if its job was requeued
	First   int64     // Unix seconds of the first start; 0 until then
	Gone    int64     // Unix seconds of the latest requeue; 0 is none
	Gap     int64     // seconds between requeues and the starts after them, until its successor starts
	Idle    int64     // seconds between requeues and the starts after them, once its successor has started
	End     int64     // Unix seconds; 0 until then, or if it is not known
	Started bool
	Ended   bool
	Void    []int64 // jobs that ended without having started
}

// Ledger is the journal of a chain and what follows from it. Every entry is
// on the disk before Append returns.
type Ledger struct {
	Chain string
	Begun time.Time
	Links []Link

	log *file.Log
}

// OpenLedger reads a journal, or makes one. The error wraps ErrLedger where
// an entry contradicts those before it.
func OpenLedger(path string) (*Ledger, error) {
	l := &Ledger{}
	log, err := openLog(path, "kind", l.apply)
	if err != nil {
		return nil, err
	}
	l.log = log
	return l, nil
}

// ReadLedger reads a journal that another process may be writing. It can not be
// appended to, and needs no Close.
func ReadLedger(path string) (*Ledger, error) {
	l := &Ledger{}
	_, err := file.ReadLog(path, logLines("kind", l.apply))
	return l, err
}

// ErrWrite is returned when the journal could not be written.
var ErrWrite = errors.New("cannot write the journal")

// Append records an entry. The error wraps ErrLedger if it contradicts those before it,
// and ErrWrite if the disk did not take it; nothing is recorded then.
func (l *Ledger) Append(e Entry) error {
	trial := *l
	trial.Links = slices.Clone(l.Links)
	if err := trial.apply(e); err != nil {
		return err
	}
	if err := l.log.AppendJSON(e); err != nil {
		return fmt.Errorf("%w: %w", ErrWrite, err)
	}
	return l.apply(e)
}

// Last returns the newest link, or nil.
func (l *Ledger) Last() *Link {
	if len(l.Links) == 0 {
		return nil
	}
	return &l.Links[len(l.Links)-1]
}

// Token returns the comment that marks the jobs of a link.
func (l *Ledger) Token(link int) string { return fmt.Sprintf("foretime/%s/%d", l.Chain, link) }

// Close closes the file.
func (l *Ledger) Close() error { return l.log.Close() }

// apply advances the state of the chain by an entry.
func (l *Ledger) apply(e Entry) error {
	refuse := func(why string) error { return fmt.Errorf("%w: %s, link %d: %s", ErrLedger, e.Kind, e.Link, why) }
	if e.Kind == Begin {
		if l.Chain != "" || e.Chain == "" {
			return refuse("not the first entry, or no name")
		}
		l.Chain, l.Begun = e.Chain, e.At
		return nil
	}
	if l.Chain == "" {
		return refuse("the chain has not begun")
	}
	if e.Link == len(l.Links) && (e.Kind == Intent || e.Kind == Accepted && e.Link == 0) {
		if last := l.Last(); last != nil && last.Job == 0 {
			return refuse("the previous link has no job")
		}
		l.Links = append(l.Links, Link{Number: e.Link})
	}
	if e.Link < 0 || e.Link >= len(l.Links) {
		return refuse("no such link")
	}
	k := &l.Links[e.Link]
	switch e.Kind {
	case Intent:
		if k.Job != 0 {
			return refuse("it already has a job")
		}
		k.Intent, k.Open = e.At, true
		k.Tries++
	case Refused:
		if k.Job != 0 || !k.Open {
			return refuse("it was not submitted")
		}
		k.Open = false
		if k.Refused.IsZero() {
			k.Refused = e.At
		}
	case Accepted:
		if k.Job != 0 || e.Job <= 0 || l.isUsed(e.Job) {
			return refuse("it already has a job, or the job belongs to another link")
		}
		k.Job = e.Job
		k.Open = false
		k.Refused = time.Time{}
	case Started:
		if k.Job == 0 || k.Started {
			return refuse("it has no job, or its job has started")
		}
		k.Started, k.Start = true, e.Start
		k.First = cmp.Or(k.First, e.Start)
		if k.Gone != 0 {
			l.countPause(k)
		}
	case Requeued:
		if k.Job != e.Job || !k.Started && !k.Ended {
			return refuse("its job is a different one, or has not run")
		}
		k.Gone = cmp.Or(k.End, e.At.Unix())
		k.Started = false
		k.Start = 0
		k.Ended = false
		k.End = 0
	case Ended:
		if k.Job == 0 || k.Ended {
			return refuse("it has no job, or its job has ended")
		}
		k.Ended, k.End = true, e.End
		if !k.Started && k.Gone != 0 {
			k.End = k.Gone
		}
	case Void:
		if k.Job == 0 || k.Job != e.Job || k.Started || k.Ended || e.Link != len(l.Links)-1 {
			return refuse("its job is a different one, or has run")
		}
		k.Void = append(slices.Clip(k.Void), k.Job)
		k.Job = 0
	default:
		return refuse("unknown kind")
	}
	return nil
}

// countPause adds the time from a job's requeue to its new start: the service was interrupted
// until its successor started, and no service missed the job after that.
func (l *Ledger) countPause(k *Link) {
	end := k.Start
	if next := l.successor(k); next != nil {
		end = min(end, max(next.First, k.Gone))
		k.Idle += k.Start - end
	}
	k.Gap += max(end-k.Gone, 0)
}

// successor returns the link after one, if it has started, or nil.
func (l *Ledger) successor(k *Link) *Link {
	if k.Number+1 >= len(l.Links) || l.Links[k.Number+1].First == 0 {
		return nil
	}
	return &l.Links[k.Number+1]
}

// Extra returns the links whose job Slurm has requeued and that waits or runs although its
// successor has started.
func (l *Ledger) Extra() (extra []Link) {
	for i := range l.Links {
		if k := &l.Links[i]; k.Gone != 0 && !k.Ended && l.successor(k) != nil {
			extra = append(extra, *k)
		}
	}
	return extra
}

// isUsed says that a job belongs to a link.
func (l *Ledger) isUsed(job int64) bool {
	return slices.ContainsFunc(l.Links, func(k Link) bool { return k.Job == job || slices.Contains(k.Void, job) })
}

// Summary sums up a chain.
type Summary struct {
	Links        int     `json:"services"`
	Ended        int     `json:"ended"`
	Submissions  int     `json:"submissions"` // times that sbatch was to be run
	HandOvers    int     `json:"hand_overs"`  // with both times known
	Interruption float64 `json:"interruption_seconds"`
	Overlap      float64 `json:"overlap_seconds"`
	Interrupted  int     `json:"interrupted"` // hand-overs with more than a second of it
}

// Summary sums the chain up.
func (l *Ledger) Summary() Summary {
	s := Summary{Links: len(l.Links)}
	for i, k := range l.Links {
		s.Submissions += k.Tries
		s.Interruption += float64(k.Gap)
		if k.Ended {
			s.Ended++
		}
		if i == 0 || k.First == 0 || l.Links[i-1].End == 0 {
			continue
		}
		s.HandOvers++
		reward := float64(k.First - l.Links[i-1].End + l.Links[i-1].Idle)
		s.Interruption += max(reward, 0)
		s.Overlap += max(-reward, 0)
		if reward > 1 {
			s.Interrupted++
		}
	}
	return s
}

// openLog opens a log of JSON objects that begin with a time, the first of which
// has a key, and calls each for all of them.
func openLog[T any](path, key string, each func(T) error) (*file.Log, error) {
	return file.OpenLog(path, logLines(key, each))
}

func logLines[T any](key string, each func(T) error) file.Lines {
	return file.Lines{
		Begin: `{"at":`,
		Start: func(first []byte) error {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(first, &object); err != nil {
				return err
			}
			if _, ok := object[key]; !ok {
				return fmt.Errorf("the first line has no %q", key)
			}
			return nil
		},
		Read: func(line []byte) error {
			var v T
			if len(bytes.TrimSpace(line)) == 0 {
				return nil
			}
			if err := json.Unmarshal(line, &v); err != nil {
				return err
			}
			return each(v)
		},
	}
}
