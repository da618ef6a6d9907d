package trace

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Unit is the unit in which jobs are counted. If jobs share nodes it is best the resource that
// runs out first.
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
	return "", fmt.Errorf("%q: want nodes, cpus or gpus", s)
}

// Amounts reads a list of trackable resources, such as "cpu=8,mem=4G,node=1,gres/gpu=2", as
// Slurm prints them (slurm.conf(5), TRES), by name. Memory is in MB, rounded up: a number, with
// decimals or not, and K, M, G or T (MB without one).
func Amounts(tres string) map[string]int64 {
	amounts := map[string]int64{}
	for part := range strings.SplitSeq(tres, ",") {
		name, text, _ := strings.Cut(part, "=")
		factor := 1.
		if i := strings.IndexByte("KMGT", lastByte(text)); name == "mem" && i >= 0 {
			factor = math.Pow(1024, float64(i-1))
			text = text[:len(text)-1]
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n*factor < 1<<50 {
			amounts[name] = int64(math.Ceil(n * factor))
		}
	}
	return amounts
}

// In returns the amount of the unit in a list of trackable resources; 0 if the list does not
// name it. Kinds of GPUs, "gres/gpu:a100=2", count if there is no sum of them.
func (u Unit) In(tres string) int { return u.of(Amounts(tres)) }

func (u Unit) of(amounts map[string]int64) int {
	key := map[Unit]string{Nodes: "node", CPUs: "cpu", GPUs: "gres/gpu"}[u]
	if n, known := amounts[key]; known {
		return int(n)
	}
	sum := 0
	for name, n := range amounts {
		if strings.HasPrefix(name, key+":") {
			sum += int(n)
		}
	}
	return sum
}

// NeedOf returns the need in a list of trackable resources of shared nodes; nil if it names
// neither CPUs, GPUs nor memory.
func NeedOf(tres string) *Need {
	amounts := Amounts(tres)
	n := Need{CPUs: CPUs.of(amounts), GPUs: GPUs.of(amounts), MemoryMB: amounts["mem"]}
	if n.CPUs == 0 && n.GPUs == 0 && n.MemoryMB == 0 {
		return nil
	}
	return &n
}

// need returns the need in a row of sacct's layout, one value for all rows with the same text.
func (p *parser) need(allocated, asked, command []byte) *Need {
	if len(allocated)+len(asked)+len(command) == 0 {
		return nil
	}
	exclusive := bytes.Contains(command, []byte("--exclusive"))
	key := fmt.Sprintf("%s|%s|%v", allocated, asked, exclusive)
	n, ok := p.needs[key]
	if !ok {
		if n = NeedOf(string(allocated)); n == nil {
			n = NeedOf(string(asked))
		}
		if n != nil {
			n.Exclusive = exclusive
		}
		p.needs[key] = n
	}
	return n
}

// countsResources says that jobs are to be counted by their trackable resources.
func (o *Options) countsResources() bool { return o.Unit == CPUs || o.Unit == GPUs }
