// Package cc compiles embedded C sources into a file in a cache directory, with the
// machine's C compiler, once.
//
// A product's path is DIR/HASH/NAME, with the hash of the sources, the arguments and the
// compiler itself. A new version of the program therefore never uses an old product, and two
// versions do not conflict. Any number of processes may request the same product at once:
// each compiles in a directory of its own, and the first to rename it into place wins. A
// process that dies before that leaves nothing that another process would use.
//
// A release contains its products for each processor ([Prebuilt]) and needs no compiler.
//
// Without a compiler the error is [ErrNoCompiler]; sources that do not compile are a
// [*CompileError] with the compiler's output.
package cc
