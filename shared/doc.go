// Package shared is the common library of the five Foretime tools. Each package
// imports only those before it:
//
//	plural → stats → crash → file → registry → access → uncertainty → record → dataset → timing → regression → regression/linear → regression/tree → regression/neural → chart
//
// [github.com/foretime/foretime/shared/timing] observes,
// [github.com/foretime/foretime/shared/dataset] stores rows,
// [github.com/foretime/foretime/shared/regression] fits and predicts,
// [github.com/foretime/foretime/shared/uncertainty] computes intervals,
// [github.com/foretime/foretime/shared/record] keeps predictions and their outcomes,
// [github.com/foretime/foretime/shared/chart] draws,
// [github.com/foretime/foretime/shared/file] writes files and logs; cli, registry and
// crash are shared by all commands, access by those that serve HTTP; plural writes
// counts; test kits are below testkit.
package shared
