// Package mark finds the progress of a program in its output.
//
// Numbers of lines that look alike but for their numbers are the values of one place. A
// place whose numbers grow is a counter. A counter has a unit, which is the nearest word,
// and a total: next to it ("3/90", "3 of 90"), a percentage, named by another line
// ("max_steps = 90"), or given by the caller. A counter that begins again, or that stands
// inside of one that has not moved, counts a part of the run; together with the outer one
// it reads like an odometer. Of the counters left the one counts whose marks grow
// steadily, still come, and cover most of the time (Reader.Describe names it). A counter
// at its total says nothing of the end of the run: only Reader.End does.
package mark
