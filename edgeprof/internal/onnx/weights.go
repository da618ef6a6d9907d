package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// ErrWeights is returned for external data that is not in the file that the model names.
var ErrWeights = errors.New("cannot read external data")

// CheckExternal opens all external data of a model that was read from path, that of
// inner graphs included, for ONNX Runtime, which reads it by itself. The error matches
// [ErrWeights].
func CheckExternal(path string, m *Model) error {
	locations := m.ExternalFiles()
	if len(locations) == 0 {
		return nil
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, location := range locations {
		f, err := openExternal(dir, location)
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// openExternal opens a regular file in the directory of a model: no name and no
// symbolic link leads out of it.
func openExternal(dir *os.Root, location string) (*os.File, error) {
	f, err := dir.OpenFile(location, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe does not block
	if err != nil {
		return nil, fmt.Errorf("%w: in %q: %w", ErrWeights, location, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%w: in %q: not a regular file", ErrWeights, location), err, f.Close())
	}
	return f, nil
}

// ExternalFiles returns the files next to a model that hold its external data, each
// once, as the model names them.
func (m *Model) ExternalFiles() []string {
	var all []string
	tensor := func(t *Tensor) {
		if t.External && !slices.Contains(all, t.Location) {
			all = append(all, t.Location)
		}
	}
	var nodes func([]Node)
	graph := func(g *Graph) {
		for i := range g.Initializers {
			tensor(&g.Initializers[i])
		}
		nodes(g.Nodes)
	}
	nodes = func(list []Node) {
		for i := range list {
			for _, a := range list[i].Attributes {
				if a.Tensor != nil {
					tensor(a.Tensor)
				}
				for j := range a.Graphs {
					graph(&a.Graphs[j])
				}
			}
		}
	}
	graph(&m.Graph)
	return all
}
