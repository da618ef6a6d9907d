package main

// The decisions that the library asks for; see the packages balance and
// forecast. Without them it hears what it would have done itself.

func loadOf(tasks, stolen []int32) int { return len(tasks) + len(stolen) }

func offload(counts, load []int32, local int) {}

func choose(load, tasks, ids, to []int32) int { return 0 }

func train(iteration, mode int) bool { return false }

func predict(iteration, mode int, values []float64) int { return 0 }

func tasksPerRank(iteration int) int { return 0 }

func (c *consumer) parquet() {}
