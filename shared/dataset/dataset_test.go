package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

var formats = []Format{CSV, TSV, JSONLines, Parquet}

// every has a column of each kind.
type every struct {
	Text   string     `dataset:"text"`
	Int    int        `dataset:"int"`
	Small  int8       `dataset:"small"`
	Uint   uint16     `dataset:"uint"`
	Float  float64    `dataset:"float"`
	Single float32    `dataset:"single"`
	Bool   bool       `dataset:"bool"`
	Time   time.Time  `dataset:"time"`
	Addr   netip.Addr `dataset:"addr"`
	Maybe  *float64   `dataset:"maybe"`
	When   *time.Time `dataset:"when"`
	Count  *int       `dataset:"count"`
	Skip   string     `dataset:"-"`
	Rest   []float64  `dataset:",rest"`
}

func drawTime(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(-9e9, 9e9).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC()
}

func drawEvery(rest int) *rapid.Generator[every] {
	finite := rapid.Float64().Filter(func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) })
	return rapid.Custom(func(t *rapid.T) every {
		e := every{
			Text:   rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("\r\n\",\t ax\uFEFF")))).Draw(t, "text"),
			Int:    rapid.Int().Draw(t, "int"),
			Small:  rapid.Int8().Draw(t, "small"),
			Uint:   rapid.Uint16().Draw(t, "uint"),
			Float:  finite.Draw(t, "float"),
			Single: rapid.Float32().Filter(func(x float32) bool { return !math.IsInf(float64(x), 0) && x == x }).Draw(t, "single"),
			Bool:   rapid.Bool().Draw(t, "bool"),
			Time:   drawTime(t),
			Addr:   netip.AddrFrom4([4]byte{10, 0, 0, rapid.Byte().Draw(t, "addr")}),
			Rest:   rapid.SliceOfN(finite, rest, rest).Draw(t, "rest"),
		}
		if rapid.Bool().Draw(t, "has maybe") {
			x := finite.Draw(t, "maybe")
			e.Maybe = &x
		}
		if rapid.Bool().Draw(t, "has when") {
			x := drawTime(t)
			e.When = &x
		}
		if rapid.Bool().Draw(t, "has count") {
			x := rapid.Int().Draw(t, "count")
			e.Count = &x
		}
		return e
	})
}

func write[T any](t failer, f Format, o Options, rows []T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter[T](&b, f, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read[T any](f Format, o Options, text string) (*Table[T], error) {
	r, err := NewReader[T](strings.NewReader(text), "in", f, o)
	if err != nil {
		return nil, err
	}
	return ReadAll(r)
}

var sameAddr = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func TestRoundTrip(t *testing.T) {
	for _, f := range formats {
		for _, headerless := range []bool{false, true} {
			t.Run(fmt.Sprintf("format=%v/headerless=%v", f, headerless), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					names := [][]string{{}, {"r1"}, {"z", "comma, quote \" and\nline", "a"}}[rapid.IntRange(0, 2).Draw(t, "names")]
					rows := rapid.SliceOfN(drawEvery(len(names)), 0, 6).Draw(t, "rows")
					o := Options{NoHeader: headerless, RestColumns: names}
					text := write(t, f, o, rows)
					if again := write(t, f, o, rows); !bytes.Equal(text, again) {
						t.Fatal("the same rows gave other bytes")
					}
					if !headerless {
						o.RestColumns = nil
					}
					got, err := read[every](f, o, string(text))
					if err != nil {
						t.Fatalf("%v\n%q", err, text)
					}
					if len(got.Diagnostics) > 0 || got.Counts != (Counts{len(rows), len(rows), 0}) {
						t.Fatalf("%v %v\n%q", got.Counts, got.Diagnostics, text)
					}
					if diff := cmp.Diff(rows, got.Rows, sameAddr); len(rows) > 0 && diff != "" {
						t.Fatalf("%s\n%q", diff, text)
					}
				})
			})
		}
	}
}

// failer is the part of testing.T that write needs; rapid.T has it too.
type failer interface {
	Helper()
	Fatal(...any)
}

type job struct {
	Name    string   `dataset:"name"`
	Epochs  int      `dataset:"epochs"`
	Seconds float64  `dataset:"seconds"`
	Watts   *float64 `dataset:"watts"`
	Note    string   `dataset:"note,optional"`
}

func TestTextRead(t *testing.T) {
	watts := 3.5
	for _, test := range []struct {
		name, text  string
		format      Format
		options     Options
		rows        []job
		diagnostics []string
	}{
		{name: "plain", text: "name,epochs,seconds\na,1,2.5\n", rows: []job{{Name: "a", Epochs: 1, Seconds: 2.5}}},
		{name: "no final line end", text: "name,epochs,seconds\na,1,2.5", rows: []job{{Name: "a", Epochs: 1, Seconds: 2.5}}},
		{name: "CRLF and byte order mark", text: "\uFEFFname,epochs,seconds\r\na,1,2.5\r\n", rows: []job{{Name: "a", Epochs: 1, Seconds: 2.5}}},
		{name: "other order, extra column, blanks", text: "seconds, watts ,x,name,epochs\n 2.5 ,3.5,?,a,1\n\n", rows: []job{{Name: "a", Epochs: 1, Seconds: 2.5, Watts: &watts}}},
		{name: "header only", text: "name,epochs,seconds\n"},
		{name: "quoted", text: "name,epochs,seconds\n\"a \"\"b\"\", c\r\nd\",\"1\",2\n", rows: []job{{Name: "a \"b\", c\r\nd", Epochs: 1, Seconds: 2}}},
		{
			name: "bad rows", text: "name,epochs,seconds,watts\na,1\nb,ten,1,\nc,1,NaN,\n\"d\ne\",1,2,x\nf,,1,\ng\"h,1,2,\n\"i\"j,1,2,\nk,1,1e999,\nl,1,2,\n",
			rows: []job{{Name: "l", Epochs: 1, Seconds: 2}},
			diagnostics: []string{
				`in:2: 2 fields, want 4`, `in:3: column "epochs": "ten" is not an integer`,
				`in:4: column "seconds": "NaN" is not a finite number`, `in:5: column "watts": "x" is not a finite number`,
				`in:7: column "epochs": empty`, `in:8: a quote inside an unquoted field`,
				`in:9: text after a closing quote`, `in:10: column "seconds": "1e999" is not a finite number`,
			},
		},
		{
			name: "a quote never closed", text: "name,epochs,seconds\na,1,2\n\"b,1,2\nc,1,2\n",
			rows: []job{{Name: "a", Epochs: 1, Seconds: 2}}, diagnostics: []string{"in:3: a quote that is never closed: lines 3 to 4 are lost"},
		},
		{
			name: "headerless TSV", format: TSV, options: Options{NoHeader: true}, text: "a\t1\t2\t\tn\nb\t1\t2\n",
			rows: []job{{Name: "a", Epochs: 1, Seconds: 2, Note: "n"}}, diagnostics: []string{"in:2: 3 fields, want 5"},
		},
		{
			name: "JSON lines", format: JSONLines,
			text: `{"name":"a","epochs":1,"seconds":2.5,"watts":3.5,"more":[1]}` + "\r\n\n" + `{"name":"b","epochs":1.5,"seconds":1}` + "\n[]\n" +
				`{"name":"c","seconds":1}` + "\n" + `{"name":1,"epochs":1,"seconds":1}` + "\n" + `{"name":"d","epochs":"1","seconds":1}` + "\n" +
				`{"name":"e","epochs":null,"seconds":1}` + "\n" + `{"name":"f","epochs":1,"seconds":1,"watts":null}` + "\n" + `{"name":"g","ep`,
			rows: []job{{Name: "a", Epochs: 1, Seconds: 2.5, Watts: &watts}, {Name: "f", Epochs: 1, Seconds: 1}},
			diagnostics: []string{
				`in:3: column "epochs": "1.5" is not an integer`, `in:4: not a JSON object: []`, `in:5: column "epochs": missing`,
				`in:6: column "name": 1 is not text`, `in:7: column "epochs": "1" is not an integer`, `in:8: column "epochs": empty`,
				`in:10: not a JSON object: {"name":"g","ep`,
			},
		},
		{name: "empty JSON lines", format: JSONLines},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := read[job](test.format, test.options, test.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.rows, got.Rows); diff != "" {
				t.Error(diff)
			}
			var diagnostics []string
			for _, d := range got.Diagnostics {
				diagnostics = append(diagnostics, d.Error())
			}
			if diff := cmp.Diff(test.diagnostics, diagnostics); diff != "" {
				t.Error(diff)
			}
			want := Counts{len(test.rows) + len(test.diagnostics), len(test.rows), len(test.diagnostics)}
			if got.Counts != want {
				t.Errorf("counts %v, want %v", got.Counts, want)
			}
		})
	}
}

func TestReaderErrors(t *testing.T) {
	for _, test := range []struct {
		name, text string
		format     Format
		want       error
	}{
		{"empty", "", CSV, ErrMissingColumn},
		{"missing column", "name,epochs\n", CSV, ErrMissingColumn},
		{"duplicate column", "name,epochs,epochs\n", CSV, ErrDuplicateColumn},
		{"unknown format", "", Format(9), ErrFormat},
		{"UTF-16", "\xff\xfen\x00", CSV, nil},
		{"no Parquet", "PAR1 but no", Parquet, nil},
		{"empty Parquet", "", Parquet, nil},
	} {
		_, err := read[job](test.format, Options{}, test.text)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
	_, err := NewReader[job](broken{}, "in", CSV, Options{})
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("broken reader: %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// TestEmbedded checks that columns of an embedded struct take its place, in every
// format.
func TestEmbedded(t *testing.T) {
	type Work struct {
		MACs  int64  `dataset:"macs"`
		Bytes *int64 `dataset:"bytes"`
	}
	type row struct {
		Name string `dataset:"name"`
		Work
		Seconds float64 `dataset:"seconds"`
	}
	for _, format := range []Format{CSV, JSONLines, Parquet} {
		var b bytes.Buffer
		w, err := NewWriter[row](&b, format, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := row{"conv", Work{7, nil}, 0.5}
		if err := errors.Join(w.Write(want), w.Close()); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); format == CSV && text != "name,macs,bytes,seconds\nconv,7,,0.5\n" {
			t.Errorf("%q", text)
		}
		r, err := NewReader[row](&b, "rows", format, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := ReadAll(r); err != nil || len(all.Rows) != 1 || all.Rows[0] != want {
			t.Errorf("%s: %+v, %v", format, all, err)
		}
	}
}

func TestRowTypes(t *testing.T) {
	check := func(name string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	o := Options{}
	_, err := read[int](CSV, o, "a\n")
	check("not a struct", err, ErrRowType)
	_, err = read[struct{}](CSV, o, "a\n")
	check("no columns", err, ErrRowType)
	_, err = read[struct{ A int }](CSV, o, "a\n")
	check("no tag", err, ErrRowType)
	_, err = read[struct {
		A time.Duration `dataset:"a"`
	}](CSV, o, "a\n")
	check("duration", err, ErrRowType)
	_, err = read[struct {
		A *string `dataset:"a"`
	}](CSV, o, "a\n")
	check("pointer to text", err, ErrRowType)
	_, err = read[struct {
		A []int `dataset:"a"`
	}](CSV, o, "a\n")
	check("slice", err, ErrRowType)
	_, err = read[struct {
		A int `dataset:"a,always"`
	}](CSV, o, "a\n")
	check("option", err, ErrRowType)
	_, err = read[struct {
		A []int `dataset:",rest"`
	}](CSV, o, "a\n")
	check("rest", err, ErrRowType)
	_, err = read[struct {
		A int `dataset:"a"`
		B int `dataset:"a"`
	}](CSV, o, "a\n")
	check("twice", err, ErrDuplicateColumn)
	_, err = read[struct {
		A int `dataset:"a"`
		b int
	}](CSV, o, "a\n")
	check("an unexported field without a tag", err, nil)
	_, err = read[struct {
		A int `dataset:"a"`
		b int `dataset:"b"`
	}](CSV, o, "a\n")
	check("an unexported field with a tag", err, ErrRowType)
	_, err = read[struct {
		R []float64 `dataset:",rest"`
		S []float64 `dataset:",rest"`
	}](CSV, o, "a\n")
	check("two rests", err, ErrRowType)
	_, err = read[struct {
		R []float64 `dataset:"r,rest"`
	}](CSV, o, "a\n")
	check("a rest with a name", err, ErrRowType)
	_, err = read[struct {
		A int       `dataset:"a"`
		R []float64 `dataset:",rest"`
	}](CSV, o, "a,b,c\n1,2,3\n")
	check("a rest", err, nil)
	type wide struct {
		A int       `dataset:"a"`
		R []float64 `dataset:",rest"`
	}
	_, err = NewWriter[wide](&bytes.Buffer{}, CSV, o)
	check("rest without names", err, ErrMissingColumn)
	_, err = NewWriter[wide](&bytes.Buffer{}, CSV, Options{RestColumns: []string{"a"}})
	check("rest named like a column", err, ErrDuplicateColumn)
	_, err = NewWriter[job](&bytes.Buffer{}, CSV, Options{RestColumns: []string{"x"}})
	check("rest without field", err, ErrRowType)
	_, err = NewWriter[job](&bytes.Buffer{}, Format(-1), o)
	check("format", err, ErrFormat)
}

func TestWriterRefuses(t *testing.T) {
	for _, f := range formats {
		w, err := NewWriter[job](&bytes.Buffer{}, f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []float64{math.NaN(), math.Inf(1)} {
			if err := w.Write(job{Seconds: x}); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), `column "seconds"`) {
				t.Errorf("%v: %v: got %v", f, x, err)
			}
		}
		wide, err := NewWriter[struct {
			R []float64 `dataset:",rest"`
		}](&bytes.Buffer{}, f, Options{RestColumns: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := wide.Write(struct {
			R []float64 `dataset:",rest"`
		}{[]float64{math.NaN()}}); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%v: rest: got %v", f, err)
		}
		if err := wide.Write(struct {
			R []float64 `dataset:",rest"`
		}{}); err == nil {
			t.Errorf("%v: a row without its rest was written", f)
		}
	}
	w, err := NewWriter[job](&bytes.Buffer{}, JSONLines, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(job{Name: "\xff"}); err == nil {
		t.Error("bytes that are not UTF-8 were written as JSON")
	}
}

func TestRejectAndLimit(t *testing.T) {
	text := "name,epochs,seconds\n" + strings.Repeat("a,1,2\nb,x,2\n", 150)
	r, err := NewReader[job](strings.NewReader(text), "in", CSV, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; r.Scan(); n++ {
		if n == 2 { // line 4
			r.Reject("too young")
		}
	}
	if r.Err() != nil || r.Counts() != (Counts{300, 149, 151}) || len(r.Diagnostics()) != 100 || r.Diagnostics()[1].Error() != "in:4: too young" {
		t.Errorf("%v %v %v", r.Err(), r.Counts(), r.Diagnostics())
	}
	if got := r.Counts().String(); got != "300 read, 149 used, 151 dropped" {
		t.Error(got)
	}
}

func TestRecordTooLong(t *testing.T) {
	long := strings.Repeat("x", maxRecord)
	text := "name,epochs,seconds\n" + long + ",1,2\n\"" + long + "\"\na,1,2\n\"open\n" + long + "\nb,1,2\n"
	got, err := read[job](CSV, Options{}, text)
	if err != nil {
		t.Fatal(err)
	}
	if got.Counts != (Counts{5, 2, 3}) || got.Rows[0].Name != "a" || got.Rows[1].Name != "b" {
		t.Errorf("%v %v", got.Counts, got.Diagnostics)
	}
}

func TestHeaderlessRestTakesItsWidthFromTheFirstRow(t *testing.T) {
	type wide struct {
		Name string    `dataset:"name"`
		X    []float64 `dataset:",rest"`
	}
	got, err := read[wide](CSV, Options{NoHeader: true}, "a,1,2\nb,3\nc,4,5\nd,6,x\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]wide{{"a", []float64{1, 2}}, {"c", []float64{4, 5}}}, got.Rows); diff != "" {
		t.Error(diff)
	}
	if len(got.Diagnostics) != 2 {
		t.Error(got.Diagnostics)
	}
}

func TestSaveAndLoad(t *testing.T) {
	rows := []job{{Name: "a", Epochs: 3, Seconds: 0.1}, {Name: "b", Epochs: 4, Seconds: 1e-300}}
	for _, ending := range []string{".csv", ".TSV", ".jsonl", ".ndjson", ".parquet"} {
		path := filepath.Join(t.TempDir(), "jobs"+ending)
		if err := Save(path, rows, Options{}); err != nil {
			t.Fatal(err)
		}
		got, err := Load[job](path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, got.Rows); diff != "" {
			t.Errorf("%s: %s", ending, diff)
		}
	}
	if err := Save("jobs.xls", rows, Options{}); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if _, err := Load[job]("jobs.xls", Options{}); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if _, err := Load[job](filepath.Join(t.TempDir(), "none.csv"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestParquetConvertsWidthsOnly(t *testing.T) {
	type stored struct {
		N int     `dataset:"n"`
		X float64 `dataset:"x"`
		S string  `dataset:"s"`
	}
	text := write(t, Parquet, Options{}, []stored{{5, 1.5, "a"}, {300, 1e300, "b"}})
	got, err := read[struct {
		N int8    `dataset:"n"`
		X float32 `dataset:"x"`
	}](Parquet, Options{}, string(text))
	if err != nil || got.Counts != (Counts{2, 1, 1}) || got.Rows[0].N != 5 || got.Rows[0].X != 1.5 {
		t.Errorf("%v %+v", err, got)
	}
	if got.Diagnostics[0].Error() != `in:2: column "n": 300 is not an integer` {
		t.Error(got.Diagnostics[0])
	}
	wrong, err := read[struct {
		S int `dataset:"s"`
	}](Parquet, Options{}, string(text))
	if err != nil || wrong.Counts.Dropped != 2 {
		t.Errorf("text was read as a number: %v %+v", err, wrong)
	}
	if _, err := read[job](Parquet, Options{}, string(text)); !errors.Is(err, ErrMissingColumn) {
		t.Error(err)
	}
}

func TestMeasuredTable(t *testing.T) {
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs FORETIME_DATA")
	}
	f, err := os.Open(filepath.Join(data, "samoa-osc", "osc-dataset-without-limiter-r0.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewReader[struct {
		X []float64 `dataset:",rest"`
	}](f, f.Name(), TSV, Options{NoHeader: true})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ReadAll(r)
	if err != nil || table.Counts.Used == 0 || len(table.Rows[0].X) != 50 {
		t.Fatalf("%v %v %v", err, table.Counts, table.Diagnostics)
	}
	t.Log(table.Counts)
}

// TestOneEmptyColumn checks that an empty cell alone on its line is not read as an
// empty line.
func TestOneEmptyColumn(t *testing.T) {
	type one struct {
		Text string `dataset:"text"`
	}
	type maybe struct {
		Watts *float64 `dataset:"watts"`
	}
	for _, f := range formats {
		text := write(t, f, Options{}, []one{{"a"}, {""}, {"b"}})
		if got, err := read[one](f, Options{}, string(text)); err != nil || !cmp.Equal(got.Rows, []one{{"a"}, {""}, {"b"}}) {
			t.Errorf("%v: %v %v\n%s", f, err, got, text)
		}
		text = write(t, f, Options{}, []maybe{{}, {}})
		if got, err := read[maybe](f, Options{}, string(text)); err != nil || len(got.Rows) != 2 || got.Rows[1].Watts != nil {
			t.Errorf("%v: %v %v\n%s", f, err, got, text)
		}
	}
}

// TestParquetOfOthers reads files of other writers: timestamps in other units,
// narrower numbers, nested and repeated columns.
func TestParquetOfOthers(t *testing.T) {
	type theirs struct {
		Milli int64   `parquet:"milli,timestamp(millisecond)"`
		Micro int64   `parquet:"micro,timestamp(microsecond)"`
		N     int32   `parquet:"n"`
		X     float32 `parquet:"x,optional"`
		List  []int32 `parquet:"list,list"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []theirs{{1500, -1500000, 7, 0.5, []int32{1, 2}}, {0, 0, 8, 0, nil}}); err != nil {
		t.Fatal(err)
	}
	type ours struct {
		Milli time.Time `dataset:"milli"`
		Micro time.Time `dataset:"micro"`
		N     int       `dataset:"n"`
		X     *float64  `dataset:"x"`
	}
	half := 0.5
	got, err := read[ours](Parquet, Options{}, b.String())
	want := []ours{{time.Unix(1, 5e8).UTC(), time.Unix(-2, 5e8).UTC(), 7, &half}, {time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC(), 8, nil}}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Error(diff)
	}
	if _, err := read[struct {
		List []float64 `dataset:",rest"`
		N    int       `dataset:"n"`
	}](Parquet, Options{RestColumns: []string{"list"}}, b.String()); err == nil {
		t.Error("a nested column was read")
	}
}
