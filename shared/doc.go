// Package shared is the library the five Foretime tools stand on. Each package
// imports only those before it:
//
//	stats → crash → file → registry → uncertainty → uncertainty/coveragetest → record → dataset → timing → regression → regression/linear → regression/tree → regression/neural → chart → slurmtest
//
// [github.com/foretime/foretime/shared/timing] observes,
// [github.com/foretime/foretime/shared/dataset] keeps rows,
// [github.com/foretime/foretime/shared/regression] fits and predicts,
// [github.com/foretime/foretime/shared/uncertainty] says how far a prediction
// can be trusted, [github.com/foretime/foretime/shared/record] keeps what came of
// it, [github.com/foretime/foretime/shared/chart] draws,
// [github.com/foretime/foretime/shared/file] writes what outlives a program,
// and cli, registry and crash are the manners of a command; slurmtest starts a
// real Slurm for tests.
package shared
