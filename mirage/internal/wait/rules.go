package wait

import (
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// The number of waits in the medians of the rules. 50 for the class gave 6 % more error
// on wagap.
const (
	waitsOfUser  = 20
	waitsOfShape = 5
	waitsOfClass = 100
	waitsOfAll   = 100
)

// Rules holds the simple predictions of a wait, in seconds: what a person would look at.
type Rules struct {
	User  float64 // median of the user's latest waits
	Shape float64 // of the user's latest jobs of that shape
	Class float64 // of anybody's jobs of such size and limit
	All   float64 // of anybody's
	Mean  float64 // mean of anybody's
}

// Rules returns the simple predictions for a job.
func (r *Replay) Rules(j *trace.Job) Rules { return r.groups(j).rules() }

func (g groups) rules() (s Rules) {
	user := g[groupUser]
	s.Mean = mean(tail(g[groupAll].waits, waitsOfAll))
	s.All = g[groupAll].median(waitsOfAll, 0)
	s.Class = g[groupClass].median(waitsOfClass, s.All)
	s.User = user.median(waitsOfUser, s.Class)
	s.Shape = g[groupShape].median(waitsOfShape, user.median(waitsOfShape, s.Class))
	return s
}

// median returns the median of the latest waits of a group, or else another value.
func (g *group) median(n int, otherwise float64) float64 {
	if len(g.waits) == 0 {
		return otherwise
	}
	return stats.Median(tail(g.waits, n))
}
