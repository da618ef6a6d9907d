package wait

import "math"

// toScale maps seconds to the scale on which rules are averaged and trees are fitted:
// between that of hours, where the longest waits decide alone, and that of their
// logarithms, where they do not count.
func toScale(seconds float64) float64 { return math.Pow(max(seconds, 0)/60+1, power) }

// fromScale returns the seconds of a value of toScale.
func fromScale(v float64) float64 { return 60 * (math.Pow(max(v, 1), 1/power) - 1) }

// power gave the least error of 0.2, 0.3, 0.5 and 1 on the first part of three logs.
const power = 0.3

// logMinutes returns the logarithm of minutes, and of one more: the scale of features.
func logMinutes(seconds float64) float64 { return math.Log1p(max(seconds, 0) / 60) }

// unknown is the value of what is not known yet.
var unknown = math.NaN()

// tail returns the last n values.
func tail[T any](values []T, n int) []T { return values[max(len(values)-n, 0):] }

// mean returns the mean, 0 of nothing.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}
