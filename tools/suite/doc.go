// Package suite runs the project's Go tests and says in one line how they
// ended: passed, failed, and skipped, each skipped test by name with what it
// lacked. It refuses to call a run without tests a success.
//
//	out, _ := os.Create("log")
//	r, err := suite.Run(ctx, ws.Root, []string{"-race", "work"}, out)
//	r.WriteTo(os.Stdout)
//	if !r.OK() { os.Exit(1) }
package suite
