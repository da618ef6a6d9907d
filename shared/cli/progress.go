package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress is a progress bar on stderr, hidden if stderr is no terminal. Its
// methods are safe for concurrent use.
type Progress struct{ bar *progressbar.ProgressBar }

// Progress starts a bar over total steps; a total below 0 means unknown. A bar without a text
// gets one by [Progress.Describe], which says what time is left: the bar adds none.
func (e *Env) Progress(what string, total int64) *Progress {
	return &Progress{progressbar.NewOptions64(total,
		progressbar.OptionSetVisibility(e.Terminal),
		progressbar.OptionSetWriter(e.Stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(what != ""),
		progressbar.OptionSetElapsedTime(what != ""),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// Add advances the bar by n steps.
func (p *Progress) Add(n int64) { _ = p.bar.Add64(n) }

// Set moves the bar to step n.
func (p *Progress) Set(n int64) { _ = p.bar.Set64(n) }

// Describe replaces the text before the bar.
func (p *Progress) Describe(what string) { p.bar.Describe(what) }

// Done clears the bar.
func (p *Progress) Done() { _ = p.bar.Finish() }
