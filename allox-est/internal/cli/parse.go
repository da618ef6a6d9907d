package cli

import (
	"encoding/json"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/timing"
)

// newParseCommand returns "parse": the time-writer report of a log.
func newParseCommand(env *cli.Env) *cobra.Command {
	var last, longest bool
	cmd := &cobra.Command{
		Use:   "parse [LOG]",
		Short: "Read the time-writer report in a log and print its laps as JSON",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in := env.Stdin
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			choice := timing.Extend
			switch {
			case last:
				choice = timing.Last
			case longest:
				choice = timing.Longest
			}
			out, err := timing.ParseOutput(in, choice)
			if err != nil {
				return err
			}
			return json.NewEncoder(env.Stdout).Encode(parsedOf(out))
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "of several reports take the last, whether or not it extends the others")
	cmd.Flags().BoolVar(&longest, "longest", false, "of several reports take the longest")
	cmd.MarkFlagsMutuallyExclusive("last", "longest")
	return cmd
}

// parsed is a report as it is printed.
type parsed struct {
	Laps      []float64 `json:"laps"`
	Intercept *float64  `json:"intercept"`
	Slope     *float64  `json:"slope"`
	Total     *float64  `json:"total"`
	Warnings  []string  `json:"warnings"`
}

func parsedOf(out *timing.Output) parsed {
	intercept, slope, ok := out.Line()
	p := parsed{Laps: append([]float64{}, out.Laps()...), Intercept: known(intercept), Slope: known(slope), Total: known(out.Total()), Warnings: []string{}}
	for _, w := range out.Warnings {
		p.Warnings = append(p.Warnings, w.Error())
	}
	if !ok {
		p.Slope, p.Warnings = nil, append(p.Warnings, "fewer than 3 laps: no slope")
	}
	if p.Total == nil {
		p.Warnings = append(p.Warnings, "the laps add up to more than a number holds")
	}
	return p
}

// known is x, or nil where JSON has no number for it.
func known(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
