package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/record"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Record keeps what a program predicted for its user, and what came of it, see
// [record.Book]: one log of all the tools below the user's state folder. A log
// that cannot be used costs no answer: it is warned of.
type Record struct {
	env  *Env
	tool string
	off  bool
}

// NewRecord adds --no-record and the command "record" to a program.
func NewRecord(env *Env, root *cobra.Command) *Record {
	r := &Record{env: env, tool: root.Name()}
	root.PersistentFlags().BoolVar(&r.off, "no-record", false, "neither keep this prediction and its outcome, nor correct it by earlier ones")
	var out Output
	c := &cobra.Command{
		Use:     "record",
		Short:   "show how often intervals held here, and by how much they missed",
		Example: "  " + r.tool + " record",
		Long: `Show, by what was asked, how often the intervals of this user's predictions held
the outcome, of the last 50 that are known, and by how much the others missed.
From ten outcomes on the next interval is widened or narrowed by that.

The log is ` + filepath.Join("$XDG_STATE_HOME", "foretime", "record.jsonl") + ` (by default below ~/.local/state). It holds
values and times, and a hash in place of what was asked about.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			own := []record.Standing{}
			if b := r.Book(); b != nil {
				all, err := b.Standings()
				if err != nil {
					return err
				}
				own = append(own, slices.DeleteFunc(all, func(s record.Standing) bool { return s.Tool != r.tool })...)
			}
			return out.Print(env, own, func(p *Page) {
				if len(own) == 0 {
					p.Line("nothing was predicted yet")
					return
				}
				t := p.Table("question", "outcomes", "held", "promised", "missed by (widths)", "median error", "width factor", "without outcome")
				for _, s := range own {
					t.Add(s.Of, s.Outcomes, s.Held, Share(s.Level), s.Miss, Share(s.Error), s.Factor, s.Open)
				}
			})
		},
	}
	out.Flags(c)
	root.AddCommand(c)
	return r
}

// Book is the log; nil where there is no folder for it, or none is wanted.
func (r *Record) Book() *record.Book {
	if r.off || r.env.State == "" {
		return nil
	}
	return &record.Book{Path: filepath.Join(r.env.State, "foretime", "record.jsonl")}
}

// Predict keeps a prediction under a key that its outcome will have, such as
// what was asked about and where, and returns it as corrected by earlier
// outcomes.
func (r *Record) Predict(question, key string, p uncertainty.Prediction) uncertainty.Prediction {
	if b := r.Book(); b != nil {
		shown, err := b.Predict(time.Now(), record.Question{Tool: r.tool, Of: question}, key, p)
		r.warn(err)
		return shown
	}
	return p
}

// Corrected is a prediction moved by earlier outcomes, without being kept: for an
// answer whose outcome will not be seen.
func (r *Record) Corrected(question string, p uncertainty.Prediction) uncertainty.Prediction {
	if b := r.Book(); b != nil {
		s, err := b.Standing(record.Question{Tool: r.tool, Of: question})
		r.warn(err)
		return p.Widened(s.Factor)
	}
	return p
}

// Outcome keeps what came of the latest prediction of a key, if there was one.
func (r *Record) Outcome(question, key string, value float64) {
	if b := r.Book(); b != nil {
		if err := b.Outcome(time.Now(), record.Question{Tool: r.tool, Of: question}, key, value); !errors.Is(err, record.ErrUnknown) {
			r.warn(err)
		}
	}
}

// Show ends an answer with how often intervals held here, once ten outcomes are
// known.
func (r *Record) Show(p *Page, question string) {
	if b := r.Book(); b != nil {
		s, err := b.Standing(record.Question{Tool: r.tool, Of: question})
		r.warn(err)
		if line := s.String(); line != "" {
			p.Line("%s", line)
		}
	}
}

func (r *Record) warn(err error) {
	if err != nil {
		r.env.Log.Warnf("the record of predictions: %v", err)
	}
}
