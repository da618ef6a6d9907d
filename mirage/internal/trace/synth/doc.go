// Package synth generates job traces that resemble a real one.
//
// A [Profile] holds the distributions: sessions (runs of jobs that one user submits in a
// row) by hour and weekday, their length and pace, their users, nodes and time limits,
// the used fraction of the limit, and logged priorities. [Default] returns those of the Lonestar6 A100 queue from November 2022 to
// January 2023 (zhaozhang/Mirage, CC BY 4.0; counts and quantiles only).
//
// The jobs start when they are submitted; a simulation adds the waits. The same profile,
// settings and seed give the same jobs.
package synth
