package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// ErrWeights is returned for external data that is not where the model says.
var ErrWeights = errors.New("external data cannot be read")

// Weights are the bytes of a model: of its file, and behind them those of each
// file beside it that holds external data.
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
	err := w.add(path, "")
	for i := range m.Graph.Initializers {
		if t := &m.Graph.Initializers[i]; err == nil && t.External {
			err = w.point(t, filepath.Dir(path))
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// add opens a file behind the others.
func (w *Weights) add(path, location string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	w.files, w.begins, w.at[location] = append(w.files, f), append(w.begins, w.end), w.end
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w.end += info.Size()
	return nil
}

// point makes a tensor's external data its data.
func (w *Weights) point(t *Tensor, dir string) error {
	if !filepath.IsLocal(t.Location) {
		return fmt.Errorf("%w: %q is in %q, which is not beside the model", ErrWeights, t.Name, t.Location)
	}
	begin, open := w.at[t.Location]
	if !open {
		begin = w.end
		if err := w.add(filepath.Join(dir, t.Location), t.Location); err != nil {
			return fmt.Errorf("%w: %q: %w", ErrWeights, t.Name, err)
		}
	}
	size := w.after(begin) - begin
	if t.Offset < 0 || t.Stored < 0 || t.Offset > size || t.Stored > size-t.Offset {
		return fmt.Errorf("%w: %q is %d bytes from %d of %s, which has %d", ErrWeights, t.Name, t.Stored, t.Offset, t.Location, size)
	}
	t.External, t.Offset = false, begin+t.Offset
	if t.Stored > keptData {
		return nil
	}
	t.Data = make([]byte, t.Stored)
	_, err := w.ReadAt(t.Data, t.Offset)
	return err
}

// after is where the file that begins there ends.
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
