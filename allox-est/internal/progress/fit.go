package progress

import (
	"math"
	"slices"
)

// fit returns how well a choice's marks fit a steady pace that still goes on, from 0 to
// 1; -1 of a choice that is at its end.
func (r *Reader) fit(c choice) float64 {
	points := r.points(c)
	units := r.length(c)
	begin, now, least := r.begin, r.now, leastSpan
	if c.counter != nil {
		begin = max(begin, c.counter.begun)
	}
	if begin == 0 { // no time is known: lines are as good
		begin, now = 1, float64(r.lines)
		points = slices.Clone(points)
		for i := range points {
			points[i].at = float64(points[i].line)
		}
	}
	points = slices.DeleteFunc(points, func(p point) bool { return p.at < 0 })
	n := len(points)
	fewest := 3
	if r.Units > 0 || r.Count != "" {
		fewest = 1
	}
	if n < fewest {
		if c.counter != nil && r.Units == 0 && len(c.counter.points) > 2 && c.counter.last().number >= c.total {
			return -1
		}
		return 0
	}
	if r.brief(c, points) {
		return 0
	}
	first, last := points[0], points[n-1]
	span := last.at - first.at
	if r.Units == 0 && last.number >= units-1e-9 && n > 1 {
		return -1 // it says nothing of the end
	}
	if r.Units == 0 && last.number <= first.number {
		return 0
	}
	size := float64(n) / float64(n+2)
	if n < 3 || span < least {
		if r.Units == 0 {
			return 0
		}
		return size * 0.1
	}
	from := n - 3
	if i := slices.IndexFunc(points, func(p point) bool { return p.at >= last.at-span/2 }); i < from {
		from = i
	}
	if early, late := (last.number-first.number)/span, (last.number-points[from].number)/max(1e-9, last.at-points[from].at); late < 1.35*early && early < 1.35*late {
		from = 0
	}
	line, gap := fitted{}, 0.0
	for i, p := range points {
		if i >= from {
			line.add(p.at, p.number)
		}
		if i > 0 { // an evaluation may have come once
			gap = max(gap, p.at-points[i-1].at)
		}
	}
	_, r2 := line.slope()
	fresh := 1.0
	if quiet := now - last.at; quiet > 3*gap && r.end == 0 {
		fresh = max(0, 1-(quiet-3*gap)/(6*gap))
	}
	share := min(1, span/max(1e-9, max(now, r.end)-begin))
	return r2 * r2 * fresh * math.Sqrt(share) * size
}

// brief reports whether a counter would end the run within ten seconds, if the caller does not say
// that it does: a bar of an inner loop looks the same, a slower counter may be meant, and the
// truth comes as soon.
func (r *Reader) brief(c choice, points []point) bool {
	first, last, units := points[0], points[len(points)-1], r.length(c)
	if r.Short || r.Count != "" || r.end > 0 || r.begin == 0 || last.number <= first.number {
		return false
	}
	left := (units - last.number) * (last.at - first.at) / (last.number - first.number)
	if last.at-r.begin+left >= leastRun {
		return false
	}
	return r.Units == 0 || c.counter.percent || c.counter.in != "" && !mainUnits[c.counter.in] || slices.ContainsFunc(r.pool(), func(o *counter) bool {
		return c.counter.total+o.total == 0 && o.in != "" && !o.decimal && o.even() && !o.resetting() && o.last().number < c.counter.last().number
	})
}

// fitted is a straight line through points.
type fitted struct{ n, x, y, xx, xy, yy float64 }

func (f *fitted) add(x, y float64) {
	f.n++
	dx, dy := x-f.x, y-f.y
	f.x += dx / f.n
	f.y += dy / f.n
	f.xx += dx * (x - f.x)
	f.xy += dx * (y - f.y)
	f.yy += dy * (y - f.y)
}

func (f *fitted) slope() (slope, r2 float64) {
	if f.xx <= 0 || f.yy <= 0 {
		return 0, 0
	}
	return f.xy / f.xx, f.xy * f.xy / (f.xx * f.yy)
}
