// Package cli is the skeleton every Foretime command stands on.
//
// It decides for its caller: results go to stdout and everything else to
// stderr; -h prints to stdout and exits 0; a failure prints one line,
// "program: what: where: why", and exits 1; wrong usage, a required flag that
// is not given too, exits 2; Ctrl-C, SIGTERM and a lost terminal cancel the
// command's context, and a second Ctrl-C or SIGTERM kills; --version names the
// commit. It refuses to draw a progress bar where no person is looking, and to
// let a panic reach the user.
package cli
