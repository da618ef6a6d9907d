package task

import "slices"

// path is a chain of work in which each part waits for the one before, in ticks, with the
// parts of the constructs.
type path struct {
	ticks uint64
	by    [pathConstructs + 1]uint64 // the last one is that of all others
}

// pathConstructs is the number of constructs that a path distinguishes. Each costs every open
// task eight bytes.
const pathConstructs = 7

// outside is the number of the construct of implicit tasks.
const outside = -1

// add lengthens a path by the ticks of a construct.
func (p *path) add(construct int, ticks uint64) {
	p.ticks += ticks
	if construct != outside {
		p.by[construct] += ticks
	}
}

// raise replaces a path by a longer one.
func (p *path) raise(other *path) {
	if other.ticks > p.ticks {
		*p = *other
	}
}

// construct returns the number of the construct with an entry. A compiler that unrolls a loop
// gives one construct several entries, which have one function.
func (s *spans) construct(entry uint64) int {
	if entry == s.lastEntry && s.numbers != nil {
		return s.lastNumber
	}
	number, known := s.numbers[entry]
	if !known {
		number = s.number(entry)
		if s.numbers == nil {
			s.numbers = map[uint64]int{}
		}
		s.numbers[entry] = number
	}
	s.lastEntry, s.lastNumber = entry, number
	return number
}

func (s *spans) number(entry uint64) int {
	if s.function != nil {
		entry = s.function(entry)
	}
	i := slices.Index(s.constructs, entry)
	if i < 0 && len(s.constructs) < pathConstructs {
		s.constructs = append(s.constructs, entry)
		return len(s.constructs) - 1
	}
	if i < 0 {
		return pathConstructs
	}
	return i
}

// critical returns the longest path of all tasks.
func (s *spans) critical() *path {
	longest := &s.longest
	for _, st := range s.lanes {
		if st != nil && st.stack[0].path.ticks > longest.ticks {
			longest = &st.stack[0].path
		}
	}
	return longest
}

// PathPart is the part of the critical path that belongs to one construct.
type PathPart struct {
	Entry   uint64 // 0 outside of tasks, and for the constructs beyond the first seven
	Outside bool
	Seconds float64
}

// CriticalPath returns the parts of the longest chain of work that follow the creation of the
// first task, and nothing if the graph is not known.
func (t *Tracker[M]) CriticalPath() (parts []PathPart) {
	if _, known := t.Graph(); !known {
		return nil
	}
	s, p := &t.spans, t.spans.critical()
	within := uint64(0)
	for i, ticks := range p.by {
		within += ticks
		if ticks == 0 {
			continue
		}
		part := PathPart{Seconds: t.clock.Between(0, ticks)}
		if i < len(s.constructs) {
			part.Entry = s.constructs[i]
		}
		parts = append(parts, part)
	}
	if rest := p.ticks - min(p.ticks, within+s.earlierPath); rest > 0 {
		parts = append(parts, PathPart{Outside: true, Seconds: t.clock.Between(0, rest)})
	}
	return parts
}
