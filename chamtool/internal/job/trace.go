package job

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"

	"github.com/foretime/foretime/chamtool/internal/task"
)

// traceEvent is an event of the Trace Event Format, which Perfetto and Chrome read: a run ("X")
// or the name of a process ("M"). Times are in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"`
	Start    float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Rank     int            `json:"pid"`
	Lane     int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// Trace writes every run as a Perfetto trace: a process for each rank, a thread
// for each lane.
func (j *Job) Trace(w io.Writer) error {
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`); err != nil {
		return err
	}
	first := true
	put := func(e traceEvent) error {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			_ = out.WriteByte(',') // Flush returns the error
		}
		first = false
		_, err = out.Write(append([]byte{'\n'}, text...))
		return err
	}
	for _, one := range j.Ranks {
		if err := put(traceEvent{Name: "process_name", Phase: "M", Rank: one.Rank, Args: map[string]any{"name": "rank " + strconv.Itoa(one.Rank)}}); err != nil {
			return err
		}
		for i := range one.Log.Rows {
			if err := put(runEvent(one.Rank, &one.Log.Rows[i])); err != nil {
				return err
			}
		}
	}
	_, _ = out.WriteString("\n]}\n")
	return out.Flush()
}

func runEvent(rank int, r *task.Row) traceEvent {
	args := map[string]any{"iteration": r.Iteration, "sizes": []int64(r.Sizes), "flag": r.Flag}
	if r.Predicted != nil {
		args["predicted_us"] = 1e6 * *r.Predicted
	}
	return traceEvent{Name: r.Entry, Phase: "X", Start: 1e6 * r.Start, Duration: 1e6 * r.Seconds, Rank: rank, Lane: r.Lane, Args: args}
}
