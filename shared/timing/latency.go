package timing

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNoLatency is returned for a summary of no values.
var ErrNoLatency = errors.New("timing: no latency recorded")

// exactLatencies is the number of values that are stored exactly; beyond it they
// are counted in buckets.
const exactLatencies = 4096

// bucketRatio is the width of a bucket: a quantile read from buckets is at
// most 0.5 % off.
const bucketRatio = 1.01

// Latencies collects durations in seconds in bounded memory. The zero value is
// ready; it is not safe for concurrent use.
type Latencies struct {
	values   []float64     // nil once buckets are in use
	buckets  map[int]int64 // by floor(log(x)/log(bucketRatio))
	n        int64
	sum      float64
	min, max float64
}

// LatencySummary describes latencies in seconds. A quantile p is the smallest value
// with at least the fraction p of all values at or below it (type 1 of Hyndman and
// Fan 1996): an observed value, exact up to 4,096 values and within 0.5 % beyond.
type LatencySummary struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min_seconds"`
	Mean  float64 `json:"mean_seconds"`
	P50   float64 `json:"p50_seconds"`
	P90   float64 `json:"p90_seconds"`
	P99   float64 `json:"p99_seconds"`
	Max   float64 `json:"max_seconds"`
}

// Add records one latency. A time that is not finite, or below zero, is an error.
func (l *Latencies) Add(seconds float64) error {
	if !(seconds >= 0) || math.IsInf(seconds, 0) {
		return fmt.Errorf("timing: latency of %v s", seconds)
	}
	if l.n == 0 {
		l.min, l.max = seconds, seconds
	}
	l.n++
	l.sum += seconds
	l.min, l.max = min(l.min, seconds), max(l.max, seconds)
	if l.buckets == nil && len(l.values) < exactLatencies {
		l.values = append(l.values, seconds)
		return nil
	}
	if l.buckets == nil {
		l.buckets = map[int]int64{}
		for _, v := range l.values {
			l.buckets[bucket(v)]++
		}
		l.values = nil
	}
	l.buckets[bucket(seconds)]++
	return nil
}

// Summary describes the latencies recorded so far, or returns ErrNoLatency.
func (l *Latencies) Summary() (LatencySummary, error) {
	if l.n == 0 {
		return LatencySummary{}, ErrNoLatency
	}
	quantile := l.bucketQuantile
	if l.buckets == nil {
		sorted := slices.Sorted(slices.Values(l.values))
		quantile = func(p float64) float64 { return sorted[rank(p, l.n)-1] }
	}
	return LatencySummary{
		Count: l.n, Min: l.min, Mean: l.sum / float64(l.n), Max: l.max,
		P50: quantile(0.50), P90: quantile(0.90), P99: quantile(0.99),
	}, nil
}

func (l *Latencies) bucketQuantile(p float64) float64 {
	keys := make([]int, 0, len(l.buckets))
	for k := range l.buckets {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	left := rank(p, l.n)
	for _, k := range keys {
		if left -= l.buckets[k]; left <= 0 {
			if k == zeroBucket {
				return l.min
			}
			middle := math.Pow(bucketRatio, float64(k)) * (1 + bucketRatio) / 2
			return min(l.max, max(l.min, middle))
		}
	}
	return l.max
}

// rank returns the position, from 1, of the quantile p in n sorted values.
func rank(p float64, n int64) int64 {
	return max(1, min(n, int64(math.Ceil(p*float64(n)-1e-9))))
}

const zeroBucket = math.MinInt32

func bucket(x float64) int {
	if x == 0 {
		return zeroBucket
	}
	return int(math.Floor(math.Log(x) / math.Log(bucketRatio)))
}
