package task

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// blockTasks is the number of consecutive tokens that share a block.
const blockTasks = 64

// open holds the tasks that have not ended, by token. A thread's tokens follow
// each other, so the tasks lie in blocks of neighbours, which share the caches.
type open[M any] struct {
	blocks map[uint64]*block[M] // by token / blockTasks
	spare  []*block[M]
	n      int
}

// block is the tasks of blockTasks tokens.
type block[M any] struct {
	key       uint64
	openTasks uint64 // a bit for each task that is open
	tasks     [blockTasks]Task[M]
}

// get returns the task of a token, or nil where none is open.
func (o *open[M]) get(token uint64) *Task[M] {
	b := o.blocks[token/blockTasks]
	if b == nil || b.openTasks>>(token%blockTasks)&1 == 0 {
		return nil
	}
	return &b.tasks[token%blockTasks]
}

// add opens a token's task, which holds the last contents of its slot.
func (o *open[M]) add(token uint64) *Task[M] {
	key := token / blockTasks
	b := o.blocks[key]
	if b == nil {
		if n := len(o.spare); n > 0 {
			b, o.spare = o.spare[n-1], o.spare[:n-1]
		} else {
			b = new(block[M])
		}
		b.key = key
		o.blocks[key] = b
	}
	before := bits.OnesCount64(b.openTasks)
	b.openTasks |= 1 << (token % blockTasks)
	o.n += bits.OnesCount64(b.openTasks) - before
	return &b.tasks[token%blockTasks]
}

// remove closes a token's task.
func (o *open[M]) remove(token uint64) {
	key := token / blockTasks
	b := o.blocks[key]
	if b == nil || b.openTasks>>(token%blockTasks)&1 == 0 {
		return
	}
	o.n--
	if b.openTasks &^= 1 << (token % blockTasks); b.openTasks == 0 {
		delete(o.blocks, key)
		o.spare = append(o.spare, b)
	}
}

// countMask selects the bits of a block's key that count the tasks of one thread.
const countMask = 1<<34 - 1

// forget closes the tasks that their threads created first, in whole blocks, until at most a
// number are open, and returns how many it closed. It spares the blocks of some tokens.
func (o *open[M]) forget(most int, spare []uint64) (closed int) {
	keys := slices.SortedFunc(maps.Keys(o.blocks), func(a, b uint64) int { return cmp.Compare(a&countMask, b&countMask) })
	for _, key := range keys {
		if o.n <= most {
			break
		}
		if slices.ContainsFunc(spare, func(token uint64) bool { return token/blockTasks == key }) {
			continue
		}
		b := o.blocks[key]
		n := bits.OnesCount64(b.openTasks)
		closed = closed + n
		o.n = o.n - n
		b.openTasks = 0
		delete(o.blocks, key)
		o.spare = append(o.spare, b)
	}
	return closed
}
