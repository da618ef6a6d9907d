// Package progress finds the progress of a program in its output.
//
// Lines that differ only in their numbers belong together, and a number at one place in
// them that grows is a counter. A counter has a unit, which is the nearest word, and a
// total: next to it ("3/90", "3 of 90"), a percentage, named by another line
// ("max_steps = 90"), or given by the caller. A counter that begins again, or that moves
// while another one does not, counts a part of the run and is the fraction of the outer
// one. Of the other counters the Reader chooses the one whose marks grow steadily, still
// come, and cover most of the time (Reader.Describe names it). A counter at its total does
// not mean that the run has ended: only Reader.End does.
package progress
