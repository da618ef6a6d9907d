package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// event is one entry of ONNX Runtime's profile, a trace of Chrome's format
// with times in microseconds.
type event struct {
	Category string  `json:"cat"`
	Name     string  `json:"name"`
	Start    float64 `json:"ts"`
	Duration float64 `json:"dur"`
	Args     struct {
		Op      string               `json:"op_name"`
		Outputs []map[string][]int64 `json:"output_type_shape"` // one type each
	} `json:"args"`
}

// kernelTime ends the name of a node's event.
const kernelTime = "_kernel_time"

// readEvents reads the one profile in a directory.
func readEvents(dir string) ([]event, error) {
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
	return events, nil
}

// places says which node of the file a kernel comes from. ONNX Runtime names
// kernels that it made after a node or after the tensor that they end in, with
// affixes for what it did.
type places map[string]int

// placesOf returns the places of a graph's nodes, by their names or by those of
// [onnx.WithNodeNames].
func placesOf(g *onnx.Graph, renamed bool) places {
	p := places{}
	for i := range g.Nodes {
		for _, name := range g.Nodes[i].Outputs {
			p[name] = i
		}
	}
	for i := range g.Nodes {
		name := g.Nodes[i].Name
		if renamed {
			name = onnx.NodeName(i)
		}
		p[name] = i
	}
	return p
}

var affixes = regexp.MustCompile(`(_new_reshape|_token_\d+|_nchwc|_bn|_transformed)$`)

// find returns the node of a kernel, or -1. What follows a slash may be ONNX Runtime's,
// or part of the name that an exporter gave.
func (p places) find(kernel string) int {
	name := strings.TrimPrefix(kernel, "fused ")
	for {
		if i := p.findAffixed(name); i >= 0 {
			return i
		}
		cut := strings.LastIndexByte(name, '/')
		if cut < 0 {
			return -1
		}
		name = name[:cut]
	}
}

// findAffixed returns the node of a name, with or without affixes, or -1.
func (p places) findAffixed(name string) int {
	for {
		if i, ok := p[name]; ok {
			return i
		}
		shorter := affixes.ReplaceAllString(name, "")
		if shorter == name {
			return -1
		}
		name = shorter
	}
}

// profiles returns the inferences: the node events before each event "model_run" are
// those of that one.
func profiles(events []event, at places) []runtime.Profile {
	var out []runtime.Profile
	var ran []event
	for _, e := range events {
		switch {
		case e.Category == "Node" && strings.HasSuffix(e.Name, kernelTime):
			ran = append(ran, e)
		case e.Category == "Session" && e.Name == "model_run":
			p := runtime.Profile{Seconds: e.Duration / 1e6}
			for _, node := range dropBodies(ran) {
				name := strings.TrimSuffix(node.Name, kernelTime)
				p.Nodes = append(p.Nodes, runtime.NodeTime{Node: at.find(name), Name: name, Op: node.Args.Op, Seconds: node.Duration / 1e6})
			}
			out = append(out, p)
			ran = nil
		}
	}
	return out
}

// dropBodies leaves out the nodes of bodies, whose time is in that of the node with the body.
func dropBodies(nodes []event) []event {
	outer := slices.DeleteFunc(slices.Clone(nodes), func(e event) bool { return !slices.Contains([]string{"If", "Loop", "Scan"}, e.Args.Op) })
	return slices.DeleteFunc(nodes, func(e event) bool {
		return slices.ContainsFunc(outer, func(o event) bool {
			return e.Start >= o.Start && e.Start+e.Duration <= o.Start+o.Duration && e.Name != o.Name
		})
	})
}
