// Package scripttest tests a command as a user types it, with testscript.
//
// A script has the program itself, the command
//
//	code N PROGRAM [ARG...]
//
// which runs a program and requires exit code N,
//
//	interrupt INT|TERM PROGRAM [ARG...]
//
// which runs a program that would run for minutes, sends it a signal while it works,
// and requires that it ends within two seconds of processor time and leaves no process,
// the conditions [data] (real data in FORETIME_DATA), [race] (built with the race
// detector) and [PROGRAM] (installed here), and a HOME of its own. A script that sets
// SCRIPTTEST_MACHINE to a directory replaces the machine: the program reads proc, sys
// and etc there. With -update, cmp writes the printed text into the script. A directory
// without scripts is an error. [Guide] runs the commands of a Markdown file.
package scripttest
