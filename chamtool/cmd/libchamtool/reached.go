//go:build deadcode

package main

// init calls the functions exported to C: deadcode, which analyses Go only, would
// report them and all that only they call.
func init() {
	chamtool_go_wait()
	chamtool_go_start(nil, nil)
	chamtool_go_stop()
	chamtool_go_answer(nil)
}
