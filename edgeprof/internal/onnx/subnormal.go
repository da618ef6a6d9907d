package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrSubnormal warns of weights so close to zero that many processors compute with them
// several times more slowly.
var ErrSubnormal = errors.New("subnormal weights")

// subnormalShare is the share of a tensor's values above which it is reported: a few such
// values are in many trained models.
const subnormalShare = 0.01

// CheckWeights reads the weights of a model that was read from path, counts how often one
// inference uses subnormal ones, and warns if there are many. The error is a file's.
func (a *Analysis) CheckWeights(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	var tensors int
	var found, all int64
	buffer := make([]byte, 1<<16)
	uses := a.usesOfWeights()
	for i := range a.Model.Graph.Initializers {
		t := &a.Model.Graph.Initializers[i]
		if t.Type != Float32 || t.Stored < 4 {
			continue
		}
		n, err := subnormals(t, f, dir, buffer)
		if err != nil {
			return err
		}
		all += t.Stored / 4
		a.SubnormalUses += float64(n) * max(1, uses[t.Name]/float64(t.Stored/4))
		if float64(n) > subnormalShare*float64(t.Stored/4) {
			tensors, found = tensors+1, found+n
		}
	}
	if tensors > 0 {
		a.Warnings = append(a.Warnings, fmt.Errorf("%w: %d of %d, in tensors: %d; zero in their place is as good and faster", ErrSubnormal, found, all, tensors))
	}
	return nil
}

// usesOfWeights returns the multiply-accumulates of one inference by each constant.
func (a *Analysis) usesOfWeights() map[string]float64 {
	uses := map[string]float64{}
	a.costs(func(c *Cost, times int64) {
		for _, name := range c.node.Inputs {
			uses[name] += float64(c.MACs) * float64(times)
		}
	})
	return uses
}

// subnormals counts those of a tensor; external data that is not there has none.
func subnormals(t *Tensor, f *os.File, dir *os.Root, buffer []byte) (int64, error) {
	var from io.ReaderAt = f
	switch {
	case t.External:
		external, err := openExternal(dir, t.Location)
		if err != nil {
			return 0, nil // whoever runs the model reports it
		}
		defer external.Close()
		from = external
	case t.Offset == 0:
		return 0, nil // it is not laid out as raw data
	}
	r := io.NewSectionReader(from, t.Offset, t.Stored)
	count := int64(0)
	for {
		n, err := io.ReadFull(r, buffer)
		for b := buffer[:n&^3]; len(b) > 0; b = b[4:] {
			if bits := binary.LittleEndian.Uint32(b); bits&0x7f800000 == 0 && bits&0x007fffff != 0 {
				count++
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return count, nil
		} else if err != nil {
			return count, err
		}
	}
}
