// Package shared is the library the five Foretime tools stand on.
//
// Its packages: [github.com/foretime/foretime/shared/timing] observes,
// [github.com/foretime/foretime/shared/dataset] keeps rows,
// [github.com/foretime/foretime/shared/regression] fits and predicts with
// doubt, [github.com/foretime/foretime/shared/chart] draws, and
// [github.com/foretime/foretime/shared/cli] is the manners of a command.
package shared
