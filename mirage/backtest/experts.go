package backtest

import (
	"math"

	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/stats"
)

// The experts, each of which says how long a job will wait, in seconds.
const (
	byTrees  = iota // boosted trees over all features
	byDrain         // those, and the user's own backlog where that takes longer
	byUser          // median of the user's latest waits
	byShape         // of the user's latest jobs of that shape
	byClass         // of anybody's jobs of such size and limit
	byList          // when it would start if the queue were served as a list
	byLatest        // the user's latest wait
	experts
)

// advice are the experts' waits in seconds.
type advice [experts]float64

// How many waits the medians are taken over.
const (
	ofUser  = 20
	ofShape = 5
	ofClass = 50
	ofAll   = 100
)

// median of the latest waits of a group, or else another value.
func (p *group) median(n int, otherwise float64) float64 {
	if len(p.waits) == 0 {
		return otherwise
	}
	return stats.Median(tail(p.waits, n))
}

// simple is the advice of those that need no trees.
func (k *known) simple(j *trace.Job) (o advice) {
	class := find(k.classes, classOf(j)).median(ofClass, k.all.median(ofClass, 0))
	user := find(k.users, j.User)
	o[byUser] = user.median(ofUser, class)
	o[byShape] = find(k.shapes, shapeOf(j)).median(ofShape, user.median(ofShape, class))
	o[byClass] = class
	o[byLatest] = user.median(1, class)
	return o
}

// with leans what the trees say towards the backlog of the same shape,
// which they cannot predict to be longer than any they have seen.
func (d drain) with(trees float64) float64 {
	if d.slots <= trees {
		return trees
	}
	return (trees + min(d.slots, 5*trees+3600)) / 2
}

// transformed is the scale on which advice is averaged and trees are fitted:
// between that of hours, where the longest waits decide alone, and that of
// their logarithms, where they do not count.
func transformed(seconds float64) float64 { return math.Pow(max(seconds, 0)/60+1, power) }

// inverse is the inverse of transformed.
func inverse(e float64) float64 { return 60 * (math.Pow(max(e, 1), 1/power) - 1) }

const power = 0.3

// mixture weighs the experts by how far off they have been, in each shape of job
// and over all.
type mixture struct {
	all    record
	shapes map[shape]*record
}

// record is how far off each expert has been, in hours, the latest most.
type record struct{ loss, count [experts]float64 }

// How fast what was long ago is forgotten, in shapes and over all; how many jobs
// the record over all counts as in that of a shape; and how much worse than the
// best an expert may be and still count.
const (
	forgetShape = .95
	forgetAll   = .995
	prior       = 20
	tolerance   = .07
	mostLoss    = 48 // hours that count of an error
)

func (r *record) add(o advice, seconds, forget float64) {
	for e, s := range o {
		if math.IsNaN(s) {
			continue
		}
		r.loss[e] = r.loss[e]*forget + min(math.Abs(s-seconds)/3600, mostLoss)
		r.count[e] = r.count[e]*forget + 1
	}
}

// learn takes in how long a job waited.
func (m *mixture) learn(j *trace.Job, o advice) {
	r := m.shapes[shapeOf(j)]
	if r == nil {
		r = &record{}
		m.shapes[shapeOf(j)] = r
	}
	r.add(o, float64(j.Wait()), forgetShape)
	m.all.add(o, float64(j.Wait()), forgetAll)
}

// of is what the experts say together, in seconds.
func (m *mixture) of(j *trace.Job, o advice) float64 {
	own := m.shapes[shapeOf(j)]
	if own == nil {
		own = &record{}
	}
	var losses [experts]float64
	least := math.Inf(1)
	for e := range losses {
		all := m.all.loss[e] / max(m.all.count[e], 1)
		if math.IsNaN(o[e]) {
			continue
		}
		losses[e] = (own.loss[e] + prior*all) / (own.count[e] + prior)
		least = min(least, losses[e])
	}
	sum, weights := 0.0, 0.0
	for e, l := range losses {
		if math.IsNaN(o[e]) {
			continue
		}
		w := math.Exp((least - l) / (tolerance*least + .02))
		sum += w * transformed(o[e])
		weights += w
	}
	return inverse(sum / weights)
}
