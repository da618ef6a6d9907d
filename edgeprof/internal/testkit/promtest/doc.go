// Package promtest runs a real Prometheus and real node_exporters for tests, on free
// loopback ports and with their state in the test's own directory. It waits until each is
// ready and stops all of them when the test ends. The test is skipped if they are not
// installed.
//
//	cluster := promtest.Start(t, map[string]string{"rpi-1": agentAddress})
//	cluster.Busy("rpi-1", 0.75)
package promtest
