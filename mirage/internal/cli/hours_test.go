package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/validation"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// shownBy returns the text of a page.
func shownBy(t *testing.T, show func(*cli.Page)) string {
	t.Helper()
	var p cli.Page
	show(&p)
	var b bytes.Buffer
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWiderThanADay: each table with intervals says why one is, and only then.
func TestWiderThanADay(t *testing.T) {
	figures := func(width float64) validation.Figures {
		mean := uncertainty.Prediction{Value: 30, Low: 30 - width/2, High: 30 + width/2, Level: .95}
		return validation.Figures{Episodes: 3, CostHours: validation.Spread{Mean: mean}}
	}
	for width, want := range map[float64]bool{23: false, 25: true} {
		v := validated{Summary: validation.Summary{Figures: figures(width), Blocks: 4}}
		b := &backtest.Report{WidthHours: width, WaitP10Hours: .5, WaitP90Hours: 40}
		for what, got := range map[string]string{
			"validate": shownBy(t, v.show), "backtest": shownBy(t, func(p *cli.Page) { showBacktest(p, b, 0.8) }),
		} {
			if lines := strings.Count(got, "wider than a day"); lines != map[bool]int{true: 1}[want] {
				t.Errorf("%s, %v h wide: %d lines say why in\n%s", what, width, lines, got)
			}
		}
	}
}
