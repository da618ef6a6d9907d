package progress

// Mark says that unit Number, of Of, was reached at Seconds after the start of
// the run. Among the marks of a run that a journal keeps, Number counts the units
// done and grows from mark to mark; a part of it is a part of a unit.
type Mark struct {
	Number  float64 `json:"number"`
	Of      float64 `json:"of,omitempty"`    // 0 where the output does not say
	Least   float64 `json:"least,omitempty"` // the fewest of all units, where Of is a maximum or may be one too many; 0 where it is sure
	Seconds float64 `json:"seconds"`
}

// Laps returns the times between marks, in seconds: from the start of a run to its
// first mark, from mark to mark, and from the last to the run's end. Readings that
// come late are cut at the end.
func Laps(marks []Mark, end float64) []float64 {
	var laps []float64
	last := 0.0
	for _, m := range marks {
		at := max(last, min(m.Seconds, end))
		laps = append(laps, at-last)
		last = at
	}
	return append(laps, end-last)
}
