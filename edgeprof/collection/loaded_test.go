package collection

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/edgeprof/runtime"
)

// slowing takes a second longer each time that it is asked, but for the first.
type slowing struct {
	runtime.Session
	asked float64
}

func (s *slowing) Inputs() map[string][]int64 { return nil }

func (s *slowing) Time(context.Context, map[string]runtime.Tensor, int) ([]float64, error) {
	s.asked++
	return []float64{s.asked - 2, s.asked}, nil
}

// The loads take turns, and the time alone is what others are held against.
func TestSlowdowns(t *testing.T) {
	alone, got, err := Slowdowns(t.Context(), &slowing{}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{2, 3, 4}, got); diff != "" || alone != 1 {
		t.Error(diff)
	}
}
