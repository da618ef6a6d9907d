// Package host builds and runs a program of the Chameleon library's shape: a C
// program, embedded here, whose threads create and run tasks and drive every
// callback of a tool, in both dialects of the tools interface and, with MPI,
// over several ranks.
//
// It decides how the program is compiled: with a C compiler alone it speaks
// the upstream dialect, with a C++ compiler the patched one as well. It
// refuses to build what the machine has no compiler for: the error is
// [ErrNoCompiler].
//
//	program, err := host.Build(ctx, dir, host.Options{})
//	if err != nil {
//		return err
//	}
//	stdout, _, err := program.Output(ctx, host.Run{Tool: "libchamtool.so", Args: []string{"--threads", "4"}})
//	fmt.Println(stdout) // a JSON object for each rank
package host
