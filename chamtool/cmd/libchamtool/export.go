package main

// #include <stdint.h>
// struct process;
// struct settings;
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"
	"unsafe"
)

// guard keeps a panic from the host program: the tool says so once and is off.
func guard(where string) {
	if p := recover(); p != nil {
		disable()
		say(fmt.Sprintf("chamtool: %s failed, the tool is off: %v\n", where, p))
		if os.Getenv("CHAMTOOL_VERBOSE") == "1" {
			say(string(debug.Stack()) + "\n")
		}
	}
}

//export chamtool_go_wait
func chamtool_go_wait() {}

//export chamtool_go_start
func chamtool_go_start(p *C.struct_process, s *C.struct_settings) (ok C.int) {
	defer guard("start")
	if start(unsafe.Pointer(p), unsafe.Pointer(s)) {
		return 1
	}
	return 0
}

//export chamtool_go_stop
func chamtool_go_stop() {
	defer guard("stop")
	stop()
}

//export chamtool_go_load
func chamtool_go_load(words *C.uint64_t, local, stolen C.int32_t) (load C.int32_t) {
	load = local + stolen // what the library counts itself
	defer guard("load")
	all := unsafe.Slice((*uint64)(unsafe.Pointer(words)), int(local+stolen))
	return C.int32_t(loadOf(all[:local], all[local:]))
}

//export chamtool_go_select
func chamtool_go_select(load *C.int32_t, tokens *C.uint64_t, local C.int32_t, chosen *C.int32_t, to *C.int32_t) (n C.int32_t) {
	defer guard("select")
	own := unsafe.Slice((*uint64)(unsafe.Pointer(tokens)), int(local))
	return C.int32_t(choose(ints(load, C.int32_t(ranks())), own, ints(chosen, local), ints(to, local)))
}

//export chamtool_go_seconds
func chamtool_go_seconds(token C.uint64_t) (s C.double) {
	defer guard("seconds")
	return C.double(secondsOf(uint64(token)))
}

//export chamtool_go_train
func chamtool_go_train(iteration, mode C.int32_t) (ok C.int) {
	defer guard("train")
	if train(int(iteration), int(mode)) {
		return 1
	}
	return 0
}

//export chamtool_go_predict
func chamtool_go_predict(iteration, mode C.int32_t, values *C.double, room C.int32_t) (n C.int32_t) {
	defer guard("predict")
	if values == nil || room <= 0 {
		return 0
	}
	return C.int32_t(predict(int(iteration), int(mode), unsafe.Slice((*float64)(unsafe.Pointer(values)), int(room))))
}

//export chamtool_go_tasks_per_rank
func chamtool_go_tasks_per_rank(iteration C.int32_t) (n C.int32_t) {
	defer guard("tasks per rank")
	return C.int32_t(tasksPerRank(int(iteration)))
}

// ints returns C's array as a slice; it is C's memory.
func ints(p *C.int32_t, n C.int32_t) []int32 {
	if p == nil || n <= 0 {
		return nil
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(p)), int(n))
}
