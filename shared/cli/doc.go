// Package cli is the skeleton every Foretime command stands on.
//
// It decides for its caller: results go to stdout and everything else to
// stderr; -h prints to stdout and exits 0; a failure prints one line,
// "program: what: where: why", and exits 1; wrong usage, a required flag that
// is not given too, exits 2; Ctrl-C, SIGTERM and a lost terminal cancel the
// command's context, and a second Ctrl-C or SIGTERM kills; --version names the
// commit. It refuses to draw a progress bar where no person is looking, and to
// let a panic reach the user.
//
// [Output] is the one printer: a command makes a value, and a page of lines and
// tables from it; --json prints the value, --csv the first table with all its
// digits, --plot the chart. A page rounds by itself, a prediction to the digits
// that its interval bears: see [Text], [Seconds] and [Share]. [Warn] folds
// warnings that say the same of several things.
//
// [Settings] is the one way to set what describes a machine, a log, rules or a
// service: a struct, filled from a file of sections and by --set. Flags are for
// what is asked, at most 15 a command, the ones that matter [First] in its help.
package cli
