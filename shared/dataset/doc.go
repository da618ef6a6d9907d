// Package dataset moves typed rows between memory and the files that other
// tools read: CSV, TSV, JSON lines and Parquet.
//
// A row is a struct whose exported fields carry a tag with the column name. The
// package sets how a cell is written (RFC 3339 times, the shortest floats that read
// back equal) and how a file is quoted. A bad row becomes a diagnostic with file and
// line, and reading continues. NaN and infinities are errors in both directions, and
// so is a missing column. Column types are never guessed, nor is an empty cell: a
// number that may be missing is a pointer field.
//
//	type Run struct {
//		Job     string    `dataset:"job"`
//		Start   time.Time `dataset:"start"`
//		Epochs  int       `dataset:"epochs"`
//		Seconds float64   `dataset:"seconds"`
//		Watts   *float64  `dataset:"watts"` // may be empty or absent
//	}
//
//	func main() {
//		runs, err := dataset.Load[Run]("runs.csv", dataset.Options{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, d := range runs.Diagnostics {
//			log.Print(d) // runs.csv:7: column "epochs": "ten" is not an integer
//		}
//		fmt.Println(runs.Counts) // 120 read, 119 used, 1 dropped
//		if err := dataset.Save("runs.parquet", runs.Rows, dataset.Options{}); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// A field of type []float64 tagged `dataset:",rest"` takes every column that
// no other field names, in file order: the feature columns of a wide table.
// The fields of an embedded struct are columns at its position.
// A tag `dataset:"name,optional"` lets the column be absent; the field then
// keeps its zero value. For tables larger than memory, Reader and Writer stream
// row by row.
package dataset
