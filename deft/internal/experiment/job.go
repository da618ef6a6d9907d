package experiment

import (
	"fmt"
	"strings"
)

// classifierPixels is the side of an image after a classifier's own preprocessing.
const classifierPixels = 224

// Input returns the size of one job's input; assumed says that the configuration names none.
func (m *Model) Input() (in Input, assumed bool) {
	switch {
	case m.ModelName == "mobilenet_v3_small" && !m.Resize:
		return Input{Height: classifierPixels, Width: classifierPixels, Batch: m.BatchSize}, false
	case m.Height == 0:
		return Input{Height: 720, Width: 1280, Batch: m.BatchSize}, true
	}
	return Input{Height: m.Height, Width: m.Width, Batch: m.BatchSize}, false
}

// Profile returns the kernels of one job of the model: its own if the configuration states
// them, or else those of the table by name and size.
func (m *Model) Profile() (Profile, error) {
	if m.Kernels > 0 {
		p := Profile{Model: m.ModelName}
		for _, each := range m.KernelTimes {
			if n := len(p.Groups); n > 0 && p.Groups[n-1].Each == each {
				p.Groups[n-1].Kernels++
				continue
			}
			p.Groups = append(p.Groups, Group{Kernels: 1, Each: each})
		}
		return p, nil
	}
	in, _ := m.Input()
	p, err := Lookup(m.ModelName, in)
	if err != nil {
		return p, fmt.Errorf("%s: %w", m.OutputName, err)
	}
	return p, nil
}

// External says that Deft starts a program of its own for the model, one of code or text,
// in the file's python_path.
func (m *Model) External() bool {
	return strings.Contains(m.ModelName, "codegen") || strings.Contains(m.ModelName, "bloom")
}
