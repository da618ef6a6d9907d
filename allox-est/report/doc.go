// Package report puts estimates, and what whole runs showed, into the form
// that people and programs read.
//
// It decides for its caller what a report holds and how its JSON and its table
// look. It refuses nothing: a device without an estimate is told with its
// reason. The same journal gives the same bytes.
//
// A complete program:
//
//	r := report.New(spec, []string{"cpu", "gpu"}, j, estimate.Settings{})
//	r.Validate(j) // beside whole runs
//	json.NewEncoder(os.Stdout).Encode(r)
package report
