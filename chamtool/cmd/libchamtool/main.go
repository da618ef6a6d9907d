// Command libchamtool is the tool as the Chameleon library loads it. Build it
// with
//
//	go build -buildmode=c-shared -o libchamtool.so ./chamtool/cmd/libchamtool
//
// and name it in CHAMELEON_TOOL_LIBRARIES. With -tags chamtool_patched, which
// needs a C++ compiler, it also speaks the interface of the library that was
// extended for load prediction; which of the two it is loaded into it finds
// out by itself.
//
// What worker threads run is C (tool.c); they never enter Go. Go reads their
// rings (consumer.go) and answers the communication thread (export.go). Every
// function that C calls recovers from a panic, switches the tool off, and
// returns what the library would do without it.
package main

func main() {}
