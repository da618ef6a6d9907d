package cluster

import (
	"fmt"
	"testing"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// TestManyPartitions: a hundred partitions on the same nodes, and a hundred of a node each,
// keep their nodes apart.
func TestManyPartitions(t *testing.T) {
	var all []string
	m := Machine{Nodes: 101}
	for i := range 100 {
		name := fmt.Sprint("p", i)
		all = append(all, name)
		m.Kinds = append(m.Kinds, Kind{Name: name, Nodes: 1, CPUs: 1, Partitions: []string{name}})
	}
	m.Kinds = append(m.Kinds, Kind{Name: "common", Nodes: 1, CPUs: 8, Partitions: all})
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	l := m.Layout()
	for i, name := range all {
		s, _, err := l.Share(&trace.Job{Nodes: 1, Partition: name, Need: &trace.Need{CPUs: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if on := l.Fitting(s); len(on) != 2 || on[0] != int32(i) || on[1] != 100 {
			t.Errorf("%s is on %v", name, on)
		}
	}
}
