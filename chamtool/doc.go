// Package chamtool holds a callback tool for the Chameleon MPI+OpenMP runtime.
// Its packages, in the order data flows through them: abi (what crosses from C
// to Go), ring (one thread's events), task (events understood as tasks),
// perfmodel (their times learned), session (all of that for one rank), tasklog
// and report (what is kept). The library itself is cmd/libchamtool; package
// host is a program to try it with.
package chamtool
