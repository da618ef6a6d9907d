// Package crash makes a panic in any goroutine end as an error would: in one
// clear line.
//
// It decides what becomes of a panic: in a Group it is the group's error, in
// Go it goes to the function that Handle installed, and without one it stays
// the panic it was, stack and all, as in tests. It refuses to go on after a
// panic as if nothing had been. Goroutines are started here and nowhere else.
package crash
