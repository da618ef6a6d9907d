// Package burner is a training job that trains nothing: it spends exactly the
// time it is told to, so that estimates can be held against the truth.
//
// It decides for its caller how noise, warm-up, drift, bursts and checkpoints
// make up the time of an epoch, the same for a seed on every machine. It
// refuses times that are negative or not finite.
package burner
