// Package collection measures real inferences, and keeps what they were
// measured under.
//
// It decides how a row's time is taken: the median of a burst of inferences,
// beside a background load where the setting has one, after some that warm up.
// Rows are appended as they come and a run that was broken off, however that
// happened, goes on where it stopped. It refuses a setting that the machine does
// not have.
package collection
