package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/deft/experiment"
	"github.com/foretime/foretime/deft/workload"
)

// defaultHeight and defaultWidth are the input of a model that names no size.
const (
	defaultHeight = 720
	defaultWidth  = 1280
)

// profile is what one job of a model asks of the device: its own kernels where
// the configuration states them, else those of the table by name and size.
func profile(m *experiment.Model) (workload.Profile, error) {
	if m.Kernels > 0 {
		p := workload.Profile{Model: m.ModelName, Source: workload.Given}
		for _, each := range m.KernelTimes {
			if n := len(p.Groups); n > 0 && p.Groups[n-1].Each == each {
				p.Groups[n-1].Kernels++
				continue
			}
			p.Groups = append(p.Groups, workload.Group{Kernels: 1, Each: each})
		}
		return p, nil
	}
	name := m.ModelName
	if external(name) {
		name = "gpt2"
	}
	in := workload.Input{Height: m.Height, Width: m.Width, Batch: m.BatchSize}
	if m.Height == 0 {
		in.Height, in.Width = defaultHeight, defaultWidth
	}
	p, err := workload.Lookup(name, in)
	if err != nil {
		return p, fmt.Errorf("%s: %w", m.OutputName, err)
	}
	return p, nil
}

// external says whether Deft starts a program of its own for a model: one of
// code or text. Here it has the kernels of GPT-2.
func external(model string) bool {
	return strings.Contains(model, "codegen") || strings.Contains(model, "bloom")
}

// kernels are the times of a profile's kernels, in order of launch.
func kernels(p workload.Profile) []time.Duration {
	var all []time.Duration
	for _, g := range p.Groups {
		all = append(all, slices.Repeat([]time.Duration{g.Each}, g.Kernels)...)
	}
	return all
}
