// Package collection measures real inferences and stores them as rows, with the
// machine's state.
//
// A row's time is the median of a burst of inferences after some that warm up, under
// a background load if the setting has one. Rows are appended as they are measured,
// and an interrupted or killed run continues where it stopped. A setting that the
// machine does not have, such as a CPU to pin to, is an error.
package collection
