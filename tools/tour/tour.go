package tour

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Results holds the measurements of a tour, the content of results.json.
type Results struct {
	Commit   string    `json:"commit"`
	Machine  Machine   `json:"machine"`
	Seconds  float64   `json:"seconds"` // builds excluded
	Chapters []Chapter `json:"chapters"`
	Record   Record    `json:"record"`
}

// Record counts the outcomes of answers in tours of this checkout, this one
// included.
type Record struct {
	Outcomes int `json:"outcomes"` // answers with a known outcome
	Held     int `json:"held"`     // outcomes inside their interval
}

// Chapter is one tool's part of the tour.
type Chapter struct {
	Module   string   `json:"module"`
	Story    []Line   `json:"story"`    // at most three
	Commands []string `json:"commands"` // as typed
	Plots    []Plot   `json:"plots"`
	Seconds  float64  `json:"seconds"`
}

// Plot is a picture that a tool drew.
type Plot struct {
	File  string `json:"file"`  // relative to results.json
	Shows string `json:"shows"` // caption, a sentence
}

// chapter runs one tool.
type chapter struct {
	module string
	builds []build
	run    func(context.Context, *Stage) Chapter // incomplete if the stage has failed

	records bool // it records its answers and their outcomes
}

// chapters returns the chapters in the order in which they are run and shown.
func chapters() []chapter {
	return []chapter{
		{"allox-est", []build{{pkg: "./allox-est/cmd/allox-est"}}, alloxEst, true},
		{"chamtool", []build{{pkg: "./chamtool/cmd/chamtool"}, {pkg: "./chamtool/cmd/libchamtool", sharedObject: chamLibrary}}, chamTool, false},
		{"deft", []build{{pkg: "./deft/cmd/deft"}}, deft, false},
		{"edgeprof", []build{{pkg: "./edgeprof/cmd/edgeprof"}, {pkg: "./edgeprof/cmd/edgeprof-ort", optional: true}}, edgeProf, true},
		{"mirage", []build{{pkg: "./mirage/cmd/mirage"}}, mirage, false},
	}
}

// Run builds the tools and runs every chapter, or only those of the given modules.
func Run(ctx context.Context, stage *Stage, modules ...string) (*Results, error) {
	picked, err := pick(modules)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(stage.Out, 0o755); err != nil {
		return nil, err
	}
	var builds []build
	for _, c := range picked {
		builds = append(builds, c.builds...)
	}
	if err := stage.build(ctx, builds); err != nil {
		return nil, err
	}
	results := &Results{Commit: Commit(ctx, stage.Root), Machine: ReadMachine()}
	for _, c := range picked {
		start := time.Now()
		fmt.Fprintf(stage.Log, "%s\n", c.module)
		of := stage.chapter(c.module)
		done := c.run(ctx, of)
		if c.records && !of.hasFailed(nil) {
			of.record(ctx, &results.Record)
		}
		if of.err != nil {
			return nil, fmt.Errorf("%s: %w", c.module, of.err)
		}
		done.Module = c.module
		done.Commands = *of.commands
		done.Seconds = time.Since(start).Seconds()
		results.Seconds += done.Seconds
		results.Chapters = append(results.Chapters, done)
	}
	return results, nil
}

func pick(modules []string) ([]chapter, error) {
	all := chapters()
	if len(modules) == 0 {
		return all, nil
	}
	var picked []chapter
	for _, name := range modules {
		found := false
		for _, c := range all {
			if c.module == name {
				picked, found = append(picked, c), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no chapter %q", name)
		}
	}
	return picked, nil
}
