package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/edgeprof/runtime"
)

// event is one entry of ONNX Runtime's profile, a trace of Chrome's format
// with times in microseconds.
type event struct {
	Category string  `json:"cat"`
	Name     string  `json:"name"`
	Duration float64 `json:"dur"`
	Args     struct {
		Op string `json:"op_name"`
	} `json:"args"`
}

// kernelTime ends the name of a node's event.
const kernelTime = "_kernel_time"

// readProfiles reads the one profile in a folder: the node events before each
// event "model_run" are those of that inference.
func readProfiles(dir string) ([]runtime.Profile, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) != 1 {
		return nil, fmt.Errorf("%w: ONNX Runtime wrote %d profiles", runtime.ErrUnsupported, len(paths))
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		return nil, err
	}
	var events []event
	if err := json.Unmarshal(data, &events); err != nil {
		return nil, fmt.Errorf("%w: ONNX Runtime's profile: %w", runtime.ErrUnsupported, err)
	}
	return profiles(events), nil
}

func profiles(events []event) []runtime.Profile {
	var out []runtime.Profile
	var nodes []runtime.NodeTime
	for _, e := range events {
		switch name, isNode := strings.CutSuffix(e.Name, kernelTime); {
		case e.Category == "Node" && isNode:
			nodes = append(nodes, runtime.NodeTime{Node: -1, Name: name, Op: e.Args.Op, Seconds: e.Duration / 1e6})
		case e.Category == "Session" && e.Name == "model_run":
			out = append(out, runtime.Profile{Seconds: e.Duration / 1e6, Nodes: nodes})
			nodes = nil
		}
	}
	return out
}
