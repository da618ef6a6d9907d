//go:build deadcode

package main

// init calls the functions exported to C: deadcode, which analyses Go only, would
// report them and all that only they call.
func init() {
	chamtool_go_start(nil, nil)
	chamtool_go_stop()
	chamtool_go_load(nil, 0, 0)
	chamtool_go_select(nil, nil, 0, nil, nil)
	chamtool_go_seconds(0)
	chamtool_go_train(0, 0)
	chamtool_go_predict(0, 0, nil, 0)
	chamtool_go_tasks_per_rank(0)
}
