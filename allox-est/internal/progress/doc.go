// Package progress finds the progress of a program in its output.
//
// Lines are cut into numbers with the words next to them. Lines that differ only in their
// numbers belong together, and a number at one place in them is a counter. Each counter gets a
// total: next to it ("3/90", "3 of 90"), a percentage, announced by another line
// ("max_steps = 90", "480 nsteps", "Run 90 steps"), or given by the caller. A score, of the
// reason for its total, its words and how often it moved, decides which counter is the run's
// (Reader.Describe names it); the log's own remaining or finishing time competes with them.
// A counter that begins again when another one grows is the fraction of that one's unit.
//
// The package refuses what the output does not say: without a total there are no marks, only
// Candidates. A counter at its total does not mean that the run has ended: only Reader.End does.
package progress
