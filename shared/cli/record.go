package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/record"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Record keeps a program's predictions and their outcomes, see [record.Book]: one
// log for all tools, in the user's state directory. If the log cannot be used, the
// answer is still given and one warning gives the reason.
type Record struct {
	env  *Env
	tool string
	off  bool
	open sync.Once
	book *record.Book
}

// NewRecord adds --no-record and the command "record" to a program.
func NewRecord(env *Env, root *cobra.Command) *Record {
	r := &Record{env: env, tool: root.Name()}
	root.PersistentFlags().BoolVar(&r.off, "no-record", false, "do not record this prediction or its outcome, and do not correct it by earlier outcomes")
	root.AddCommand(r.command())
	return r
}

// recording is the command "record".
type recording struct {
	*Record
	out    Output
	list   bool
	forget string
	reset  bool
}

func (r *Record) command() *cobra.Command {
	s := &recording{Record: r}
	c := &cobra.Command{
		Use:     "record",
		Short:   "Show how often intervals contained the outcome, and the size of the misses",
		Example: "  " + r.tool + " record",
		Long: `Show, for each question, how many of the last 50 known outcomes of this user's
predictions were inside their interval, and by how much the others missed. From ten
outcomes on this widens or narrows the next interval. An outcome far outside counts
as at most ten times the interval until ten of them agree.

The log is ` + filepath.Join("$XDG_STATE_HOME", "foretime", "record.jsonl") + ` (by default below ~/.local/state). It contains
values, times and hashes, but no names. Lines that cannot be read are moved to
record.jsonl.bad.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.forget == "" && cmd.Flags().Changed("forget") {
				return Usagef("--forget: no key; --list shows them")
			}
			return s.run()
		},
	}
	f := c.Flags()
	f.BoolVar(&s.list, "list", false, "list predictions with their keys: all without an outcome, and the last 50 with one")
	f.StringVar(&s.forget, "forget", "", "remove the predictions of this key, or of this question, and their outcomes")
	f.BoolVar(&s.reset, "reset", false, "remove all predictions of "+r.tool+" and their outcomes; those of other tools stay")
	c.MarkFlagsMutuallyExclusive("list", "forget", "reset")
	s.out.Flags(c, []record.Standing{})
	s.out.AnswerWith("list", []record.Entry{})
	s.out.AnswerWith("forget", removed{})
	s.out.AnswerWith("reset", removed{})
	return c
}

func (s *recording) run() error {
	b := s.Book()
	if b == nil {
		b = &record.Book{} // an empty one
	}
	switch {
	case s.forget != "":
		n, err := b.Forget(s.tool, s.forget)
		return s.printRemoved(n, err, "no such prediction")
	case s.reset:
		n, err := b.Reset(s.tool)
		return s.printRemoved(n, err, "no predictions were recorded")
	case s.list:
		return s.entries(b)
	}
	own := append([]record.Standing{}, b.Standings(s.tool)...)
	s.warn(b)
	return s.out.Print(s.env, own, func(p *Page) {
		if len(own) == 0 {
			p.Line("no predictions yet")
			return
		}
		t := p.Table("question", "outcomes", "in interval", "level", "missed by (widths)", "median error", "width factor", "without outcome")
		for _, s := range own {
			t.Add(s.Of, s.Outcomes, s.Held, Share(s.Level), s.Miss, Share(s.Error), s.Factor, s.Open)
		}
	})
}

// removed is the answer of "record --forget" and "record --reset".
type removed struct {
	Removed int `json:"removed"`
}

func (s *recording) printRemoved(n int, err error, none string) error {
	if err != nil {
		return err
	}
	return s.out.Print(s.env, removed{n}, func(p *Page) {
		if n == 0 {
			p.Line("%s", none)
			return
		}
		p.Line("predictions removed: %d", n)
	})
}

func (s *recording) entries(b *record.Book) error {
	all := append([]record.Entry{}, b.Entries(s.tool)...)
	s.warn(b)
	return s.out.Print(s.env, all, func(p *Page) {
		t := p.Table("question", "key", "at", "predicted", "outcome")
		for _, e := range all {
			t.Add(e.Of, e.Key, e.At.Local().Format(time.DateTime), e.Prediction, e.Outcome)
		}
	})
}

// Book returns the log, held in memory only if there is no directory for it; nil if
// none is wanted.
func (r *Record) Book() *record.Book {
	r.open.Do(func() {
		switch {
		case r.off:
		case r.env.State != "":
			r.book = &record.Book{Path: filepath.Join(r.env.State, "foretime", "record.jsonl")}
		case r.env.Stateless != "":
			r.env.Log.Warnf("no record of predictions: %s", r.env.Stateless)
			r.book = &record.Book{}
		}
	})
	return r.book
}

// Predict records a prediction and returns it as corrected by earlier outcomes. The
// key, such as the question's subject and place, must be the key of the later
// outcome.
func (r *Record) Predict(question, key string, p uncertainty.Prediction) uncertainty.Prediction {
	b := r.Book()
	if b == nil {
		return p
	}
	p = b.Predict(time.Now(), r.question(question), key, p)
	r.warn(b)
	return p
}

// Correct returns a prediction corrected by earlier outcomes without recording
// it, for an answer whose outcome will not be seen.
func (r *Record) Correct(question string, p uncertainty.Prediction) uncertainty.Prediction {
	b := r.Book()
	if b == nil {
		return p
	}
	p = p.Widen(b.Standing(r.question(question)).Factor)
	r.warn(b)
	return p
}

// Outcome records the outcome of the latest prediction with a key, if there is one.
func (r *Record) Outcome(question, key string, value float64) {
	b := r.Book()
	if b == nil {
		return
	}
	if err := b.Outcome(time.Now(), r.question(question), key, value); err != nil && !errors.Is(err, record.ErrUnknown) {
		r.env.Log.Warnf("the record of predictions: %v", err)
	}
	r.warn(b)
}

// Show adds to an answer how often earlier intervals contained the outcome, once
// ten outcomes are known.
func (r *Record) Show(p *Page, question string) {
	if b := r.Book(); b != nil {
		line := b.Standing(r.question(question)).String()
		r.warn(b)
		if line != "" {
			p.Line("%s", line)
		}
	}
}

// Check reads the log and warns about its errors, for a service at its start.
func (r *Record) Check() {
	if b := r.Book(); b != nil {
		b.Check()
		r.warn(b)
	}
}

func (r *Record) question(of string) record.Question { return record.Question{Tool: r.tool, Of: of} }

// warn logs the errors of the log since the last call.
func (r *Record) warn(b *record.Book) {
	for _, err := range b.Warnings() {
		r.env.Log.Warn(fmt.Errorf("the record of predictions: %w", err))
	}
}
