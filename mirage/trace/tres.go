package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// Unit is what jobs are counted in. Where jobs share nodes that is best the
// thing that runs out first.
type Unit string

// The units. Processors are those of an SWF log, which has no names for them.
const (
	Nodes      Unit = "nodes"
	CPUs       Unit = "cpus"
	GPUs       Unit = "gpus"
	Processors Unit = "processors"
)

// ParseUnit reads nodes, cpus or gpus; "" is nodes.
func ParseUnit(s string) (Unit, error) {
	switch u := Unit(s); u {
	case "":
		return Nodes, nil
	case Nodes, CPUs, GPUs:
		return u, nil
	}
	return "", fmt.Errorf("%q is none of nodes, cpus, gpus", s)
}

// In is how many of the unit a list of trackable resources holds, such as
// "cpu=8,mem=4G,node=1,gres/gpu=2", as Slurm prints them (slurm.conf(5), TRES);
// 0 where it names none. Kinds of GPUs, "gres/gpu:a100=2", count where there is
// no sum of them.
func (u Unit) In(tres string) int {
	key := map[Unit]string{Nodes: "node", CPUs: "cpu", GPUs: "gres/gpu"}[u]
	sum := 0
	for part := range strings.SplitSeq(tres, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		switch {
		case err != nil || n < 0:
		case name == key:
			return n
		case strings.HasPrefix(name, key+":"):
			sum += n
		}
	}
	return sum
}

// counted says that jobs are to be counted by their trackable resources.
func (o *Options) counted() bool { return o.Unit == CPUs || o.Unit == GPUs }
