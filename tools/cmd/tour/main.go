// Command tour builds the tools, runs them end to end on small real inputs
// and shows what came out: one table on stdout, out/tour/results.json, and
// out/tour/index.html with the plots. `make tour` runs it; arguments, if any,
// are the modules to visit.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/foretime/foretime/tools/tour"
	"github.com/foretime/foretime/tools/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, modules []string) error {
	ws, err := workspace.Find(".")
	if err != nil {
		return err
	}
	out := filepath.Join(ws.Root, "out", "tour")
	if err := os.RemoveAll(out); err != nil { // a tour starts from nothing
		return err
	}
	stage := &tour.Stage{Root: ws.Root, Bin: filepath.Join(ws.Root, "out", "bin"), Out: out, Log: os.Stderr}
	results, err := tour.Run(ctx, stage, modules...)
	if err != nil {
		return err
	}
	if err := results.Save(out); err != nil {
		return err
	}
	return results.WriteTable(os.Stdout)
}
