package main

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

//export chamtool_go_answer
func chamtool_go_answer(question unsafe.Pointer) {
	defer guard("a decision")
	if c := running.Load(); c != nil {
		c.answer(question)
	}
}
