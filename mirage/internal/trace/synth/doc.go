// Package synth makes job traces that look like a real one.
//
// A [Profile] holds what is drawn from: sessions (runs of jobs that one user
// submits in a row) by hour and weekday, their length and pace, who submits
// them, the nodes and time limits asked for, how much of the limit a job
// uses, and logged priorities. [Fit] takes these figures from a trace,
// [Default] returns those of the Lonestar6 A100 queue from November 2022 to
// January 2023 (zhaozhang/Mirage, CC BY 4.0; counts and quantiles only).
//
// The package decides nothing about waits: its jobs start when they are
// submitted, until a simulation says otherwise. It refuses to draw without a
// seed; the same profile, settings and seed give the same jobs.
package synth
