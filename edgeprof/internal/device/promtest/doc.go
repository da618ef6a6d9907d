// Package promtest runs a real Prometheus and real node_exporters for tests, on
// loopback ports that are free and with their state in the test's own folder.
// It decides when each is up, and stops all of them when the test ends. It
// skips the test where they are not installed.
//
//	cluster := promtest.Start(t, map[string]string{"rpi-1": agentAddress})
//	cluster.Busy("rpi-1", 0.75)
package promtest
