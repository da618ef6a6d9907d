// Package cli is the common skeleton of the Foretime commands.
//
// Results go to stdout and everything else to stderr. -h prints to stdout and exits
// 0; a failure prints one line, "program: what: where: why", and exits 1; wrong
// usage, a missing required flag included, exits 2. Ctrl-C, SIGTERM and a lost
// terminal cancel the command's context; a second Ctrl-C or SIGTERM kills the
// process. --version prints the commit. Progress bars appear on terminals only, and
// no panic reaches the user.
//
// [Output] prints every answer. A command passes it a value, and a page of lines
// and tables made from it: --json prints the value, --csv the first table with all
// digits, --plot the chart. A page rounds a prediction to the digits that its
// interval supports: see [Text], [Seconds] and [Share]. [Warn] merges warnings that
// differ only in a name or number.
//
// [Settings] describe a machine, a log, rules or a service: a struct filled from a
// file of sections and by --set. Flags are for the question itself, at most 16 per
// command, the important ones [First] in its help.
package cli
