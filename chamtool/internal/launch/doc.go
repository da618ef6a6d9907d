// Package launch prepares a program to run under the tool: it finds libchamtool.so, finds
// out which OpenMP runtime the program uses, and makes the environment in which that
// runtime loads the tool.
//
// Programs built by clang use LLVM's runtime, which loads tools by itself. Those built by
// gcc use libgomp, which loads none: LLVM's runtime, which has the same interface, is
// preloaded instead. Programs of the Chameleon library have a variable of their own.
package launch
