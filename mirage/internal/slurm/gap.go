package slurm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/plural"
)

// gapNotice is the time between the announcement of a gap in the chain and the gap, to which a limit of the
// service is added: the last job that can run ends before the gap.
const gapNotice = 24 * time.Hour

// Gap is a time in which too few nodes are free of reservations for a service to run.
type Gap struct {
	From, To    int64 // Unix seconds
	Reservation string
	Left, Total int // nodes of the partition
}

// gaps returns the times, from now to the horizon in Unix seconds, in which reservations
// leave fewer nodes of a partition than a service needs; "" is the default partition. The
// reservations of the service itself are not counted.
func (h *Hardware) gaps(partition, own string, nodes int, now, horizon int64, zone *time.Location) (gaps []Gap) {
	if partition == "" {
		partition = h.Default
	}
	for i := range h.reservations {
		r := &h.reservations[i]
		if r.Name == own {
			continue
		}
		left, total := 0, 0
		for _, n := range h.nodes {
			if !slices.Contains(n.kind.Partitions, partition) {
				continue
			}
			total++
			left += bit(n.state == "" && !slices.Contains(r.Nodes, n.name))
		}
		if left >= nodes || total < nodes {
			continue
		}
		for _, span := range r.spans(now, zone) {
			if span[1] > now && span[0] < horizon {
				gaps = append(gaps, Gap{span[0], span[1], r.Name, left, total})
			}
		}
	}
	return gaps
}

// announce warns of the gaps of the next day, once for each.
func (p *Provisioner) announce(now time.Time) {
	horizon := now.Add(gapNotice + p.s.Request.Limit).Unix()
	shown := func(unix int64) string { return time.Unix(unix, 0).In(now.Location()).Format(time.DateTime) }
	for _, g := range p.hardware.gaps(p.s.Partition, p.s.Request.reservation(), p.s.Request.Nodes, now.Unix(), horizon, now.Location()) {
		p.doubt(fmt.Errorf("reservation %s leaves %d of %s from %s to %s: no service can run in that time, so the chain has a gap of %v or more",
			g.Reservation, g.Left, plural.Count(g.Total, "node"), shown(g.From), shown(g.To), time.Duration(g.To-max(g.From, now.Unix()))*time.Second))
	}
}

// reservation returns the reservation that the job is submitted into, "" for none.
func (r *Request) reservation() (name string) {
	for _, option := range r.Options {
		if value, ok := strings.CutPrefix(option, "--reservation="); ok {
			name = value
		}
	}
	return name
}
