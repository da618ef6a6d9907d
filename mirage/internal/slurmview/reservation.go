package slurmview

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/mirage/internal/cluster"
)

// Reservation is a span in which nodes are kept for maintenance, or for some users.
type Reservation struct {
	Name     string
	From, To int64 // Unix seconds
	Nodes    []string
	Flags    []string
	// Admitted lists what may use it by the field that says so: Users, Accounts or Groups; a name
	// behind - may not.
	Admitted map[string][]string
}

// admit returns an error, which wraps ErrNotAdmitted, for a job that the reservation names
// neither by its user, nor by an account or a group, or excludes. Groups may be unknown.
func (r *Reservation) admit(a Ask) error {
	named := false
	for field, own := range map[string][]string{"Users": {a.User}, "Accounts": a.Accounts, "Groups": a.Groups} {
		names := r.Admitted[field]
		for _, name := range own {
			if slices.Contains(names, "-"+name) {
				return fmt.Errorf("%w: reservation %s excludes %s (%s)", ErrNotAdmitted, r.Name, name, field)
			}
			named = named || slices.Contains(names, name)
		}
		excludes := len(names) > 0 && strings.HasPrefix(names[0], "-")
		unknown := len(names) > 0 && (len(own) == 0 || own[0] == "")
		named = named || excludes || unknown
	}
	if named || len(r.Admitted) == 0 {
		return nil
	}
	return fmt.Errorf("%w: reservation %s does not name its user %s, nor an account or group of it", ErrNotAdmitted, r.Name, a.User)
}

// horizon is the time for which a repeated reservation is expanded.
const horizon = 14 * 24 * time.Hour

// repeats are the days between two spans of a repeated reservation (scontrol(1), Flags).
var repeats = map[string]func(time.Time) bool{
	"DAILY":   func(time.Time) bool { return true },
	"WEEKDAY": func(t time.Time) bool { return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday },
	"WEEKEND": func(t time.Time) bool { return t.Weekday() == time.Saturday || t.Weekday() == time.Sunday },
}

// Reservations returns the reservations that the controller shows, whose times are in
// the zone.
func (c *Client) Reservations(ctx context.Context, zone *time.Location) ([]Reservation, error) {
	b, err := c.Runner.Run(ctx, []string{"scontrol", "--oneliner", "show", "reservations"}, nil)
	if err != nil {
		return nil, err
	}
	return ParseReservations(b, zone)
}

// ParseReservations reads what scontrol --oneliner show reservations prints. The error
// wraps ErrAnswer.
func ParseReservations(b []byte, zone *time.Location) (all []Reservation, err error) {
	for i, line := range Lines(b) {
		f := fieldsOf(line)
		if f["ReservationName"] == "" { // "No reservations in the system"
			continue
		}
		r := Reservation{Name: f["ReservationName"], Flags: strings.Split(f["Flags"], ","), Admitted: map[string][]string{}}
		for _, field := range []string{"Users", "Accounts", "Groups"} {
			if list := f[field]; list != "" && list != "(null)" {
				r.Admitted[field] = strings.Split(list, ",")
			}
		}
		for key, at := range map[string]*int64{"StartTime": &r.From, "EndTime": &r.To} {
			t, err := time.ParseInLocation("2006-01-02T15:04:05", f[key], zone)
			if err != nil {
				return nil, fmt.Errorf("scontrol show reservations:%d: %w: %s of %s: %w", i+1, ErrAnswer, key, r.Name, err)
			}
			*at = t.Unix()
		}
		if list := f["Nodes"]; list != "" && list != "(null)" {
			if r.Nodes = hosts(list); r.Nodes == nil {
				return nil, fmt.Errorf("scontrol show reservations:%d: %w: nodes %q of %s", i+1, ErrAnswer, list, r.Name)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// spans returns when the reservation keeps its nodes, from its start to the horizon.
func (r *Reservation) spans(now int64, zone *time.Location) (spans [][2]int64) {
	spans = append(spans, [2]int64{r.From, r.To})
	days, every := 1, func(time.Time) bool { return false }
	for _, flag := range r.Flags {
		if f, ok := repeats[flag]; ok {
			every = f
		}
		if flag == "WEEKLY" {
			days, every = 7, repeats["DAILY"]
		}
	}
	from, to := time.Unix(r.From, 0).In(zone), time.Unix(r.To, 0).In(zone)
	for d := days; from.AddDate(0, 0, d).Unix() < now+int64(horizon.Seconds()); d += days {
		if next := from.AddDate(0, 0, d); every(next) {
			spans = append(spans, [2]int64{next.Unix(), to.AddDate(0, 0, d).Unix()})
		}
	}
	return spans
}

func (h *Hardware) reservation(name string) *Reservation {
	i := slices.IndexFunc(h.reservations, func(r Reservation) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &h.reservations[i]
}

// reserve takes in the reservations: what their nodes are kept from is a window for all
// other jobs. It returns the names of reservations with nodes that are not known.
func (h *Hardware) reserve(all []Reservation, now int64, zone *time.Location) (unknown []string) {
	h.reservations = all
	for i := range h.nodes {
		n := &h.nodes[i]
		explains := func(r Reservation) bool { return r.From <= now && now < r.To && slices.Contains(r.Nodes, n.name) }
		if !n.out() && n.reserved && !slices.ContainsFunc(all, explains) {
			h.unexplained = append(h.unexplained, n.name)
		}
	}
	for i := range all {
		r := &all[i]
		on := h.numbersOf(r.Nodes)
		if len(on) < len(r.Nodes) {
			unknown = append(unknown, r.Name)
		}
		if len(on) == 0 { // of licences only
			continue
		}
		for _, span := range r.spans(now, zone) {
			if span[1] > max(now, span[0]) {
				h.Machine.Down = append(h.Machine.Down, cluster.Window{From: span[0], To: span[1], Nodes: len(on), On: on})
			}
		}
	}
	return unknown
}
