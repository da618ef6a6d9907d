package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"syscall"
)

// ErrWeights is returned for external data that is not in the file that the model names.
var ErrWeights = errors.New("cannot read external data")

// Weights holds the bytes of a model: of its file, followed by those of each file next to it
// that holds external data.
type Weights struct {
	files  []*os.File
	begins []int64 // of each file
	end    int64
	at     map[string]int64 // begins, by location
}

// OpenWeights opens the files of a model that was read from path, and points its
// initializers into them. The error matches [ErrWeights], or is a file's own.
func OpenWeights(path string, m *Model) (*Weights, error) {
	w := &Weights{at: map[string]int64{}}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := w.add(f); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err == nil {
		defer dir.Close()
	}
	for i := range m.Graph.Initializers {
		if t := &m.Graph.Initializers[i]; err == nil && t.External {
			err = w.point(t, dir)
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// CheckExternal opens all external data of a model that was read from path, that of
// inner graphs included, for a runtime that will read it by itself. The error matches
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

// add puts a file behind the others.
func (w *Weights) add(f *os.File) error {
	w.files, w.begins = append(w.files, f), append(w.begins, w.end)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w.end += info.Size()
	return nil
}

// point makes a tensor's external data its data.
func (w *Weights) point(t *Tensor, dir *os.Root) error {
	begin, open := w.at[t.Location]
	if !open {
		begin = w.end
		f, err := openExternal(dir, t.Location)
		if err == nil {
			w.at[t.Location] = begin
			err = w.add(f)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", t.Name, err)
		}
	}
	size := w.after(begin) - begin
	if t.Offset < 0 || t.Stored < 0 || t.Offset > size || t.Stored > size-t.Offset {
		return fmt.Errorf("%w: %q needs %d bytes from offset %d of %s, which has %d bytes", ErrWeights, t.Name, t.Stored, t.Offset, t.Location, size)
	}
	t.External, t.Offset = false, begin+t.Offset
	if t.Stored > keptData {
		return nil
	}
	t.Data = make([]byte, t.Stored)
	_, err := w.ReadAt(t.Data, t.Offset)
	return err
}

// after returns the offset at which the data that begins there ends.
func (w *Weights) after(begin int64) int64 {
	if i := sort.Search(len(w.begins), func(i int) bool { return w.begins[i] > begin }); i < len(w.begins) {
		return w.begins[i]
	}
	return w.end
}

// ReadAt reads within one of the files.
func (w *Weights) ReadAt(p []byte, offset int64) (int, error) {
	i := sort.Search(len(w.begins), func(i int) bool { return w.begins[i] > offset }) - 1
	return w.files[i].ReadAt(p, offset-w.begins[i])
}

// Close closes the files.
func (w *Weights) Close() (err error) {
	for _, f := range w.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
