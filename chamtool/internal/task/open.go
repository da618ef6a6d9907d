package task

import (
	"cmp"
	"maps"
	"slices"
)

// open holds the tasks that have not ended, by token.
type open[M any] struct {
	tasks map[uint64]*Task[M]
	spare []*Task[M]
}

// get returns the task of a token, or nil where none is open.
func (o *open[M]) get(token uint64) *Task[M] { return o.tasks[token] }

// add opens a token's task, which holds what a task that was closed left.
func (o *open[M]) add(token uint64) *Task[M] {
	task := o.tasks[token]
	if task != nil {
		return task
	}
	if n := len(o.spare); n > 0 {
		task, o.spare = o.spare[n-1], o.spare[:n-1]
	} else {
		task = new(Task[M])
	}
	o.tasks[token] = task
	return task
}

// remove closes a token's task.
func (o *open[M]) remove(token uint64) {
	if task := o.tasks[token]; task != nil {
		delete(o.tasks, token)
		o.spare = append(o.spare, task)
	}
}

// countMask selects the bits of a token that count the tasks of one thread.
const countMask = 1<<40 - 1

// forget closes the tasks that their threads created first, until at most a number are open,
// and returns how many it closed. It spares some tokens.
func (o *open[M]) forget(most int, spare []uint64) (closed int) {
	tokens := slices.SortedFunc(maps.Keys(o.tasks), func(a, b uint64) int { return cmp.Compare(a&countMask, b&countMask) })
	for _, token := range tokens {
		if len(o.tasks) <= most {
			break
		}
		if slices.Contains(spare, token) {
			continue
		}
		o.remove(token)
		closed++
	}
	return closed
}
