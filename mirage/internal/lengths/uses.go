package lengths

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// The number of jobs from which the run times of a shape or a user, and of all users, are
// estimated, and the number of a kind that counts as much as all jobs of the next wider kind.
// Set on Lonestar6, November 2022 to January 2023.
const (
	OfKind = 30
	OfAll  = 1000
	prior  = 5
)

// unknownMean is the mean share used of what is left of the limit where no job has
// ended: about that of Lonestar6 and of the logs of the Parallel Workloads Archive.
const unknownMean = 0.4

// Use is the share of its limit that a job used, or has by now if it still runs.
type Use struct {
	Share   float64
	Running bool
}

// Uses holds the uses of the latest jobs of a kind, by share.
type Uses []Use

// compare orders uses by share. Of equal ones those that ended did so before.
func compare(a, b Use) int {
	if a.Running != b.Running && a.Share == b.Share {
		if b.Running {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Share, b.Share)
}

// Sort puts uses in order.
func (u Uses) Sort() { slices.SortFunc(u, compare) }

// Find returns the place of the first of the sorted uses that is at least a share.
func (u Uses) Find(share float64) int {
	return sort.Search(len(u), func(i int) bool { return u[i].Share >= share })
}

// Merge appends two lists of uses, each in order, to a third one in order.
func Merge(to, a, b Uses) Uses {
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			to, a = append(to, a[0]), a[1:]
		} else {
			to, b = append(to, b[0]), b[1:]
		}
	}
	return append(append(to, a...), b...)
}

// above returns the uses of more than a share: all, for a job that has not begun.
func (u Uses) above(share float64) Uses {
	if share == 0 {
		return u
	}
	return u[sort.Search(len(u), func(i int) bool { return u[i].Share > share }):]
}

// Quantile returns a quantile of the shares. If those that still run leave it open, it
// returns the largest share that is known to be exceeded, and the quantile among what
// exceeds it.
func (u Uses) Quantile(p float64) (share, beyond float64, open bool) {
	survival := 1.0
	for i, o := range u {
		if o.Running {
			continue
		}
		if survival *= 1 - 1/float64(len(u)-i); 1-survival > p {
			return o.Share, 0, false
		}
	}
	if len(u) > 0 {
		share = u[len(u)-1].Share
	}
	return share, (p - (1 - survival)) / survival, true
}

// mean returns the mean of the shares, each at most the limit.
func (u Uses) mean() float64 {
	survival := 1.0
	sum, at := 0.0, 0.0
	for i, o := range u {
		share := min(o.Share, 1)
		sum += survival * (share - at)
		at = share
		if !o.Running {
			survival *= 1 - 1/float64(len(u)-i)
		}
	}
	return sum + survival*(1-at)
}

// The mean and the standard deviation of the shares that jobs of the Lonestar6 A100
// queue used, October 2022 to February 2023.
const (
	usualMean = 0.3
	usualSD   = 0.39
)

// StandardError returns the relative standard error of the mean share of at most OfKind jobs:
// by their own spread, and by the usual one as if from as many more jobs as the prior.
func (u Uses) StandardError() float64 {
	n, ended := float64(prior), 0
	sum, squares := n*usualMean, n*(usualMean*usualMean+usualSD*usualSD)
	for _, o := range u {
		share := min(o.Share, 1)
		n++
		sum += share
		squares += share * share
		if !o.Running {
			ended++
		}
	}
	mean := sum / n
	return math.Sqrt((squares/n-mean*mean)/float64(min(ended, OfKind)+1)) / mean
}

// Kinds returns the uses of the jobs similar to one: kind 0 has its shape, 1 its user, 2 is all
// jobs.
type Kinds func(kind int) Uses

const kinds = 3

// among returns the uses of more than a share, of the narrowest kind whose number is more
// than the share which of that number and the prior: 0.5 asks for the narrowest of more
// than the prior, and numbers drawn evenly from [0, 1) mix them.
func (k Kinds) among(from, which float64) Uses {
	for kind := range kinds - 1 {
		of := k(kind).above(from)
		if n := float64(len(of)); which < n/(n+prior) {
			return of
		}
	}
	return k(kinds - 1).above(from)
}

// Share returns the share of its limit that a job will have used in all, if it has used a
// share from by now: the quantile u among jobs like it that used more, see among for
// which. If those that still run leave it open, the next wider kind decides, and at last
// the limit.
func (k Kinds) Share(from, which, u float64) float64 {
	for kind := range kinds {
		of := k(kind).above(from)
		if n := float64(len(of)); kind < kinds-1 && which >= n/(n+prior) {
			continue
		}
		share, beyond, open := of.Quantile(u)
		if !open {
			return share
		}
		from, u = max(from, share), beyond
	}
	return 1 // the limit
}

// Mean returns the mean share that jobs like one use; the usual one if none is known.
func (k Kinds) Mean() float64 {
	of := k.among(-1, .5)
	if len(of) == 0 {
		return unknownMean
	}
	return of.mean()
}

// Unknown returns a share of the limit if no job is known: the quantile u of a
// distribution with the usual mean.
func Unknown(from, u float64) float64 {
	return from + math.Pow(u, 1/unknownMean-1)*(1-from)
}

// Known reports whether to use the jobs that ended, of which there are so many, and not
// the usual distribution, for a number drawn evenly from [0, 1).
func Known(ended int, which float64) bool {
	return ended >= OfKind || ended > 0 && which < float64(ended)/float64(ended+prior)
}
