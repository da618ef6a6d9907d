// Package host builds and runs a test program that calls a tool as the Chameleon library
// does: a C program, embedded here, whose threads create and run tasks and drive every
// callback of a tool, in both dialects of the tools interface and, with MPI, over several
// ranks.
//
// With a C compiler alone the program supports the upstream dialect, with a C++ compiler the
// patched one too. Without a compiler the error is [ErrNoCompiler].
//
//	program, err := host.Build(ctx, dir, host.Options{})
//	if err != nil {
//		return err
//	}
//	stdout, _, err := program.Output(ctx, host.Run{Tool: "libchamtool.so", Args: []string{"--threads", "4"}})
//	fmt.Println(stdout) // a JSON object for each rank
package host
