package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/backtest"
	"github.com/foretime/foretime/mirage/internal/validation"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/uncertainty"
)

// TestHours: under one they are minutes, also below zero, and CSV keeps them.
func TestHours(t *testing.T) {
	within := func(value, low, high float64) predictedHours {
		return predictedHours(uncertainty.Prediction{Value: value, Low: low, High: high, Level: .95})
	}
	for cell, want := range map[any]string{
		hours(0): "0", hours(1): "1.00", hours(1. / 6): "10.0 min", hours(-.5): "-30.0 min", hours(0.9999): "60.0 min", hours(30): "30.0",
		within(1.2, .55, 1.86): "1.20 [0.55, 1.86]", within(.25, -.5, 1): "15 [-30, 60] min", within(-.25, -.5, 0): "-15 [-30, 0] min",
	} {
		if got := cli.Text(cell); got != want {
			t.Errorf("%v: %s, want %s", cell, got, want)
		}
	}
	var out bytes.Buffer
	var o cli.Output
	var c cobra.Command
	if o.Flags(&c); c.Flags().Set("csv", "-") != nil {
		t.Fatal("no --csv")
	}
	err := o.Print(cli.NewEnv(nil, &out, io.Discard), nil, func(p *cli.Page) {
		p.Table("a (h)", "b (h)").Add(hours(.25), within(.25, -.5, 1))
	})
	if want := "a (h),b (h),b (h) low,b (h) high\n0.25,0.25,-0.5,1\n"; err != nil || out.String() != want {
		t.Errorf("%v, %s, want %s", err, out.String(), want)
	}
}

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
			"validate": shownBy(t, v.show), "backtest": shownBy(t, func(p *cli.Page) { showBacktest(p, b) }),
		} {
			if lines := strings.Count(got, "wider than a day"); lines != map[bool]int{true: 1}[want] {
				t.Errorf("%s, %v h wide: %d lines say why in\n%s", what, width, lines, got)
			}
		}
	}
}
