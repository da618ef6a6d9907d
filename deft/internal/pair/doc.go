// Package pair reads what a program launches while it has the device to itself: the
// recordings of libdeft-trace.so, and the traces that deft pair --out-dir makes of them.
//
// A [Trace] holds the launches with their times on the device, the host's pace and where the
// program waits for the device. A trace without launches, or with impossible times, is an
// error.
package pair
