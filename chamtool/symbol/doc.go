// Package symbol names the functions of a program's files so that the name means
// the same function on every rank and in every run, and no other one after the
// program was built anew.
//
// It decides what tells builds apart: the build id that the linker wrote, or a
// checksum of the code where there is none. It refuses to guess a name: an
// address inside a function, or in a file without symbols, has none.
package symbol
