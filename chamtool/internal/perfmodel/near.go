package perfmodel

import (
	"math"
	"sort"
)

// neighbourRuns is the number of runs that are remembered by the time of their creation.
const neighbourRuns = 64

// neighbour is one of them.
type neighbour struct {
	created uint64
	y       float64 // what is known of it
}

// creations holds runs ordered by the creation of their tasks. Tasks that a program creates one
// after the other do similar work whatever their sizes, such as the tiles of one front of a
// factorisation.
type creations []neighbour

func (c *creations) add(created uint64, y float64) {
	if created == 0 {
		return
	}
	s := *c
	if len(s) == 2*neighbourRuns {
		s = s[:copy(s, s[neighbourRuns:])]
	}
	i := len(s)
	s = append(s, neighbour{})
	for ; i > 0 && s[i-1].created > created; i-- {
		s[i] = s[i-1]
	}
	s[i] = neighbour{created, y}
	*c = s
}

// next returns the value of the run nearest to a creation, the latest of equals; NaN without any.
func (c creations) next(created uint64) float64 {
	n := len(c)
	if created == 0 || n == 0 {
		return math.NaN()
	}
	i := n
	if c[n-1].created > created {
		i = sort.Search(n, func(i int) bool { return c[i].created > created })
	}
	if i == 0 || i < n && c[i].created-created < created-c[i-1].created {
		return c[i].y
	}
	return c[i-1].y
}
