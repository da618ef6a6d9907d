package dataset

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fuzzText reads text as a table of jobs. For any text the counts add up, and the
// rows read are unchanged after writing and reading them again.
func fuzzText(t *testing.T, f Format, text []byte) {
	r, err := NewReader[job](bytes.NewReader(text), "in", f, Options{})
	if err != nil {
		return
	}
	table, err := ReadAll(r)
	if err != nil {
		return
	}
	if c := table.Counts; c.Read != c.Used+c.Dropped || c.Used != len(table.Rows) || c.Dropped < len(table.Diagnostics) {
		t.Fatalf("counts do not add up: %v, %d rows, %d diagnostics", c, len(table.Rows), len(table.Diagnostics))
	}
	again, err := read[job](f, Options{}, string(write(t, f, Options{}, table.Rows)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table.Rows, again.Rows); diff != "" {
		t.Fatal(diff)
	}
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("name,epochs,seconds,watts,note\na,1,2.5,,\n\"b \"\"q\"\"\r\nx\",2,1e-3,4,n\r\n"))
	f.Add([]byte("\uFEFFnote,seconds,epochs,name\n,0x1p-2,-0,\"\n"))
	f.Add([]byte("\"name\",epochs,seconds\n\"a\"b,1\na\"b,1,2"))
	f.Fuzz(func(t *testing.T, text []byte) { fuzzText(t, CSV, text) })
}

func FuzzJSONLines(f *testing.F) {
	f.Add([]byte(`{"name":"a","epochs":1,"seconds":2.5,"watts":null,"note":"\u2028"}` + "\n{\n[]\nnull\n"))
	f.Add([]byte(`{"name":"a","name":"b","epochs":-0,"seconds":1E400}`))
	f.Fuzz(func(t *testing.T, text []byte) { fuzzText(t, JSONLines, text) })
}

// TestParquetCutShort checks that a damaged file gives an error: no rows, no panic
// of the library.
func TestParquetCutShort(t *testing.T) {
	text := write(t, Parquet, Options{}, []job{{Name: "a", Epochs: 1, Seconds: 2}, {Name: "b", Epochs: 3}})
	for n := range text {
		if got, err := read[job](Parquet, Options{}, string(text[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes read as %+v", n, len(text), got)
		}
	}
}
