// Command libchamtool is the tool as the Chameleon library loads it. Build it
// with
//
//	go build -buildmode=c-shared -o libchamtool.so ./chamtool/cmd/libchamtool
//
// and name it in CHAMELEON_TOOL_LIBRARIES. It supports the interface of the Chameleon library
// and that of the library patched for load prediction, and detects which of the two loads it.
//
// Worker threads run C only; they never enter Go. Go reads their
// rings (consumer.go) and answers the communication thread (decision.go). Every
// function that C calls recovers from a panic, switches the tool off, and
// returns what the library would do without it.
package main

func main() {}
