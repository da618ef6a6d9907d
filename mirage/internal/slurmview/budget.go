package slurmview

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/foretime/foretime/mirage/internal/trace"
)

// budget is a sum of minutes that a group of jobs may use.
type budget struct {
	name             string
	used, most, need int64 // minutes
	known            bool  // used is
}

// budgets returns the budgets of a level that a job draws on.
func (l *limits) budgets(v level, s *subject) (all []budget) {
	most := trace.Amounts(v.columns["GrpTRESMins"])
	if seconds, ok := trace.SlurmSeconds(v.columns["GrpWall"]); ok && seconds > 0 {
		most["wall"] = seconds / 60
	}
	for _, name := range slices.Sorted(maps.Keys(most)) {
		each, given := s.amounts[name]
		if name == "wall" || !given && name == "billing" {
			each = 1
		}
		if each == 0 {
			continue
		}
		used, err := strconv.ParseFloat(l.minutes[v.name][name], 64)
		all = append(all, budget{name + " minutes of " + v.name, int64(used), most[name], each * s.seconds / 60, err == nil})
	}
	return all
}

// doubts names the limits of a job that are not modelled: budgets that may not be enough, and
// limits on minutes that are still to run.
func (l *limits) doubts(s *subject) (doubts []string) {
	for _, v := range l.levels(s) {
		for _, b := range l.budgets(v, s) {
			switch {
			case !b.known:
				doubts = append(doubts, "what is used up of the budget "+b.name)
			case b.used < b.most && b.used+b.need > b.most:
				doubts = append(doubts, fmt.Sprintf("the budget %s (%d of %d minutes are used up)", b.name, b.used, b.most))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(trace.Amounts(v.columns["GrpTRESRunMins"]))) {
			if s.amounts[name] > 0 || name == "billing" {
				doubts = append(doubts, "GrpTRESRunMins "+name+" of "+v.name)
			}
		}
	}
	return doubts
}
