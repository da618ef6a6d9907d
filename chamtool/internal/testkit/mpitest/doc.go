// Package mpitest runs a test with each MPI that is installed.
//
// Debian installs several next to each other, as mpicc.openmpi and mpicc.mpich; the
// plain names belong to one of them.
package mpitest
