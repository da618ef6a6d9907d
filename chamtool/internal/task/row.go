package task

import (
	"fmt"
	"strconv"
	"strings"
)

// Row is one run of a task.
type Row struct {
	Iteration int      `dataset:"iteration"`
	Task      uint64   `dataset:"-"` // token, or the original tool's task number
	Lane      int      `dataset:"lane"`
	Flag      string   `dataset:"flag"`  // local, remote or replicated
	Entry     string   `dataset:"entry"` // the task function
	Sizes     Sizes    `dataset:"sizes"` // bytes of each argument that is not a literal
	Core      int      `dataset:"core"`  // -1 unknown
	MHz       *float64 `dataset:"mhz"`
	Start     float64  `dataset:"start_seconds"` // since the tool started
	Queue     *float64 `dataset:"queue_seconds"` // from creation to start
	Seconds   float64  `dataset:"seconds"`
	Predicted *float64 `dataset:"predicted_seconds"` // before it started
	Low       *float64 `dataset:"low_seconds"`       // the interval that holds it nine times of ten
	High      *float64 `dataset:"high_seconds"`
}

// Sizes are the sizes of a task's arguments, written with spaces between.
type Sizes []int64

// MarshalText writes the sizes with spaces between.
func (s Sizes) MarshalText() ([]byte, error) { return s.AppendText(nil), nil }

// AppendText appends the sizes with spaces between.
func (s Sizes) AppendText(b []byte) []byte {
	for i, n := range s {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return b
}

// UnmarshalText reads what MarshalText writes.
func (s *Sizes) UnmarshalText(text []byte) error {
	*s = nil
	for _, word := range strings.Fields(string(text)) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return fmt.Errorf("%.60q is not a size", word)
		}
		*s = append(*s, n)
	}
	return nil
}
