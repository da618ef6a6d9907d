// Package scripttest tests a command as a user types it, with testscript.
//
// It decides what a script finds: the program itself, the command
//
//	code N PROGRAM [ARG...]
//
// which runs a program and wants exit code N,
//
//	interrupt INT|TERM PROGRAM [ARG...]
//
// which runs one that would go on for minutes, sends it a signal while it works,
// and wants it gone in two seconds of processor time with nothing left, the conditions [data] (there is
// real data in FORETIME_DATA), [race] (built with the race detector) and
// [PROGRAM] (installed here), and a HOME of its own. A script that names a folder in
// SCRIPTTEST_MACHINE invents the machine: the program reads proc, sys and etc there. With -update, cmp writes
// what was printed into the script. It refuses a folder without scripts.
// [Guide] does what a Markdown file tells a reader to type.
package scripttest
