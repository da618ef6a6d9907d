package simcudatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Counts holds the calls of one process to the driver, for comparison with a hook's counts.
type Counts struct {
	PID      int    `json:"pid"`
	Launches uint64 `json:"launches"` // calls that launch a kernel or a graph, captured ones included
	Kernels  uint64 `json:"kernels"`  // kernels run, those of graphs included
	Graphs   uint64 `json:"graphs"`   // graph launches
	Syncs    uint64 `json:"syncs"`    // calls that wait: context, stream, event
	Copies   uint64 `json:"copies"`   // copies and fills
}

// ReadCounts reads the file of SIMCUDA_COUNTS: one entry for each process
// that has ended in good order.
func ReadCounts(path string) ([]Counts, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("simcuda: counts: %w", err)
	}
	var all []Counts
	lines := json.NewDecoder(bytes.NewReader(body))
	for {
		var c Counts
		err := lines.Decode(&c)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("simcuda: counts: %s: %w", path, err)
		}
		all = append(all, c)
	}
}
