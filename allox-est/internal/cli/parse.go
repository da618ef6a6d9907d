package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/timing"
)

// newParseCommand returns "parse": the time-writer report in a log.
func newParseCommand(env *cli.Env) *cobra.Command {
	var last, longest bool
	cmd := &cobra.Command{
		Use:     "parse [LOG]",
		Short:   "Read the time-writer report in a log and print its laps as JSON",
		Example: "  allox-est parse train.log",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in := file.Interruptible(env.Stdin)
			if len(args) == 1 && args[0] != "-" {
				f, err := file.Open(args[0])
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
			return writeLaps(env.Stdout, out)
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "use the last of several reports, even if it does not extend the others")
	cmd.Flags().BoolVar(&longest, "longest", false, "use the longest of several reports")
	cmd.MarkFlagsMutuallyExclusive("last", "longest")
	return cmd
}

// writeLaps prints a report as JSON, lap by lap, because there may be no memory for a
// second copy.
func writeLaps(w io.Writer, out *timing.Output) error {
	b := bufio.NewWriterSize(w, 64<<10)
	b.WriteString(`{"laps":[`)
	var number []byte
	i := 0
	for x := range out.All() {
		if i++; i > 1 {
			b.WriteByte(',')
		}
		number = timing.AppendRepr(number[:0], x)
		b.Write(number)
	}
	warnings := []string{}
	for _, w := range out.Warnings {
		warnings = append(warnings, w.Error())
	}
	intercept, slope, ok := out.Line()
	rest := struct {
		Intercept *float64 `json:"intercept"`
		Slope     *float64 `json:"slope"`
		Total     *float64 `json:"total"`
		Warnings  []string `json:"warnings"`
	}{known(intercept), known(slope), known(out.Total()), warnings}
	if !ok {
		rest.Slope = nil
		rest.Warnings = append(rest.Warnings, "fewer than 3 laps: no slope")
	}
	if rest.Total == nil {
		rest.Warnings = append(rest.Warnings, "the sum of the laps exceeds the largest number")
	}
	tail, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	b.WriteString("],")
	b.Write(tail[1:])
	b.WriteByte('\n')
	return b.Flush()
}

// known returns x, or nil if JSON has no number for it.
func known(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
