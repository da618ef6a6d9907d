package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/dataset"
)

func read(t testing.TB, text string) *Workload {
	t.Helper()
	w, err := ReadRecords(strings.NewReader(text), "in")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func diagnostics(w *Workload) []string {
	var lines []string
	for _, d := range w.Diagnostics {
		lines = append(lines, d.Error())
	}
	return lines
}

// generated returns a job as a record of the simulator's generator has.
func generated(id int, user string, arrival, cpuError, gpuError float64) Record {
	return Record{
		ID: id, User: user, Arrival: arrival, Name: fmt.Sprint(id), Iterations: 1,
		On: [Devices]Demand{CPU: {32, 15, 50, cpuError, 0}, GPU: {1, 2, 25, gpuError, 0}},
	}
}

func TestRead(t *testing.T) {
	text := `% a comment
# 7
1 7 1 14 queue5
stage -1 32.0 15.0 50.0 1.0 2.0 25.0 1 -0.25 0.5
0

# 3
1 3 1 0 user0 9
stage -1.0 32 15 50 1 2 25 1
0
`
	got := read(t, text)
	first, second := generated(3, "user0", 0, 0, 0), generated(7, "queue5", 14, -0.25, 0.5)
	if diff := cmp.Diff([]Record{first, second}, got.Jobs); diff != "" {
		t.Error(diff)
	}
	if got.Counts != (dataset.Counts{Read: 2, Used: 2}) || len(got.Diagnostics) > 0 {
		t.Errorf("%v %v", got.Counts, got.Diagnostics)
	}
	// Reported time = time * (1 + error), as IRFsim's MLJob.readDags has it.
	if c, g := got.Jobs[1].Reported(CPU), got.Jobs[1].Reported(GPU); c != 37.5 || g != 37.5 {
		t.Errorf("reported %v and %v, want 37.5", c, g)
	}
}

func TestReadShortJobLines(t *testing.T) {
	const stage = "\nstage -1 1 1 5 1 1 2 1\n0\n"
	for _, test := range []struct {
		line string
		want Record
	}{
		{"1", Record{ID: 1, Iterations: 1, User: "default"}},
		{"1 5", Record{ID: 5, Iterations: 1, User: "default"}},
		{"1 5 3", Record{ID: 5, Iterations: 3, User: "default"}},
		{"1\t5   3 2.5", Record{ID: 5, Iterations: 3, Arrival: 2.5, User: "default"}},
		{"1 5 3 2 bursty0", Record{ID: 5, Iterations: 3, Arrival: 2, User: "bursty0"}},
	} {
		w := read(t, test.line+stage)
		if len(w.Jobs) != 1 {
			t.Errorf("%q: %v", test.line, w.Diagnostics)
			continue
		}
		got := w.Jobs[0]
		got.On = [Devices]Demand{}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q: %s", test.line, diff)
		}
	}
}

func TestReadStagesAndEdges(t *testing.T) {
	w := read(t, "# two stages\n2 1 1 0 q\na -1 4 1 10 1 1 inf 3\nb -1 8 1 20 1 1 5 1 0.5 0\n1\na b ata\n")
	if len(w.Jobs) != 1 {
		t.Fatal(w.Diagnostics)
	}
	j := w.Jobs[0]
	if j.Seconds(CPU) != 50 || j.Reported(CPU) != 60 || !math.IsInf(j.Seconds(GPU), 1) || j.On[CPU].Units != 8 {
		t.Errorf("cpu %v (%v reported), gpu %v, units %v", j.Seconds(CPU), j.Reported(CPU), j.Seconds(GPU), j.On[CPU].Units)
	}
}

func TestReadBadRecords(t *testing.T) {
	const good = "# good\n1 99 1 0 q\nstage -1 1 1 5 1 1 2 1\n0\n"
	for _, test := range []struct{ text, want string }{
		{"# x\n1 1 1 ARRIVAL_TIME q\nstage -1 1 1 5 1 1 2 1\n0\n", `in:2: arrival: "ARRIVAL_TIME" is not a number`},
		{"# x\n1 1 1 -3 q\nstage -1 1 1 5 1 1 2 1\n0\n", "in:4: job 1: arrival is not a time"},
		{"# x\n1 1 1 0 q\nstage -1 1 1 inf 1 1 inf 1\n0\n", "in:4: job 1: can run on no device"},
		{"# x\n1 1 1 0 q\nstage -1 1 1 0 1 1 2 1\n0\n", "in:4: job 1: time is not above zero"},
		{"# x\n1 1 1 0 q\nstage -1 1 1 5 1 1 2 1 -1 0\n0\n", "in:4: job 1: time is not above zero"},
		{"# x\n2 1 1 0 q\na -1 1 1 5 1 1 2 1\nb -1 1 1 0 1 1 2 1\n0\n", "in:5: job 1: time is not above zero"},
		{"# x\n1 1 1 0 q\nstage -1 1 1 nan 1 1 2 1\n0\n", `in:3: field 5 of the stage: "nan" is not a number`},
		{"# x\n1 1 1 0 q\nstage -1 inf 1 5 1 1 2 1\n0\n", `in:3: field 3 of the stage: "inf" is not a number`},
		{"# x\n1 1 1 0 q\nstage -1 1 1 5 1 1 2 0\n0\n", "in:3: number of tasks: no work"},
		{"# x\n1 1 1 0 q\nstage -1 1 1 5 1 1 2\n0\n", "in:3: a stage line has 9 or 11 fields, not 8"},
		{"# x\n1 1 1 0 q\nstage -1 1 1 5 1 1 2 1 0.5\n0\n", "in:3: a stage line has 9 or 11 fields, not 10"},
		{"# x\n0 1 1 0 q\n0\n", "in:2: number of stages: no work"},
		{"# x\n1 1 1 0 q s 3\n", "in:2: a job line has 1 to 6 fields, not 7"},
		{"# x\n1 1 1 0 q\na -1 1 1 5 1 1 2 1\n", "in:4: a new record begins before the number of edges of the last one"},
		{"# x\n1 1 1 0 q\n", "in:3: a new record begins before the stages of the last one"},
		{"# x\n99999999 1 1 0 q\n", `in:2: number of stages: "99999999" is not a number from 0 to 65536`},
		{good, "in:6: job 99: job id occurs twice"},
	} {
		w := read(t, test.text+good)
		if test.text == good {
			test.want = "in:5: job 99: job id occurs twice"
		}
		if diff := cmp.Diff([]string{test.want}, diagnostics(w)); diff != "" {
			t.Errorf("%q: %s", test.text, diff)
		}
		if len(w.Jobs) != 1 || w.Jobs[0].ID != 99 || w.Counts != (dataset.Counts{Read: 2, Used: 1, Dropped: 1}) {
			t.Errorf("%q: the good record was not read: %v", test.text, w.Counts)
		}
	}
	for _, text := range []string{"", "\n%\n"} {
		if w := read(t, text); len(w.Jobs) != 0 || w.Counts.Read != 0 {
			t.Errorf("%q: %v", text, w.Counts)
		}
	}
	if w := read(t, "# cut short\n1 1 1 0 q\n"); len(w.Diagnostics) != 1 || w.Counts.Dropped != 1 {
		t.Errorf("%v %v", w.Counts, w.Diagnostics)
	}
	if _, err := ReadRecords(strings.NewReader(strings.Repeat("x", maxLine+1)), "in"); err == nil {
		t.Error("a line without end was read")
	}
}

func drawRecord(id int) *rapid.Generator[Record] {
	word := rapid.StringMatching(`[a-z][a-z0-9_\-]{0,5}`)
	seconds := rapid.OneOf(rapid.Float64Range(1e-3, 1e6), rapid.Just(math.Inf(1)))
	return rapid.Custom(func(t *rapid.T) Record {
		j := Record{
			ID: id, User: word.Draw(t, "user"), Arrival: rapid.Float64Range(0, 1e6).Draw(t, "arrival"),
			Name: rapid.StringMatching(`[a-z]([a-z ]{0,4}[a-z])?`).Draw(t, "name"), Iterations: rapid.IntRange(0, 9).Draw(t, "iterations"),
		}
		for d := range j.On[:Other] {
			j.On[d] = Demand{rapid.Float64Range(0, 64).Draw(t, "units"), rapid.Float64Range(0, 64).Draw(t, "memory"), seconds.Draw(t, "seconds"), rapid.Float64Range(-0.9, 2).Draw(t, "error"), 0}
		}
		return j
	})
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []Record
		for i := range rapid.IntRange(0, 5).Draw(t, "jobs") {
			if j := drawRecord(i).Draw(t, "job"); j.Check() == nil {
				jobs = append(jobs, j)
			}
		}
		w := Workload{Jobs: jobs}
		w.sort()
		var b bytes.Buffer
		if err := WriteRecords(&b, w.Jobs); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRecords(&b, "in")
		if err != nil || len(got.Diagnostics) > 0 {
			t.Fatal(err, got.Diagnostics)
		}
		if diff := cmp.Diff(w.Jobs, got.Jobs); len(w.Jobs) > 0 && diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	for name, change := range map[string]func(*Record){
		"two words":    func(j *Record) { j.User = "two words" },
		"empty user":   func(j *Record) { j.User = "" },
		"comment":      func(j *Record) { j.User = "#u" },
		"two lines":    func(j *Record) { j.Name = "a\nb" },
		"no time":      func(j *Record) { j.On[CPU].Seconds = 0 },
		"not a demand": func(j *Record) { j.On[CPU].Units = math.NaN() },
		"no arrival":   func(j *Record) { j.Arrival = math.Inf(1) },
	} {
		j := generated(1, "q", 0, 0, 0)
		change(&j)
		if err := WriteRecords(&bytes.Buffer{}, []Record{j}); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("# 0\n1 0 1 0 queue0\nstage -1 32.0 20.0 150.0 1.0 2.0 75.0 1 -0.07 0.02\n0\n"))
	f.Add([]byte("%c\n2 4\na 0 1 1 inf 1 1 2 2\nb 0 1 1 1 1 1 inf 2\n1\na b ata\n#\n#\n1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := ReadRecords(bytes.NewReader(text), "in")
		if err != nil {
			return
		}
		if c := w.Counts; c.Read != c.Used+c.Dropped || c.Used != len(w.Jobs) || c.Dropped != len(w.Diagnostics) {
			t.Fatalf("counts do not add up: %v", c)
		}
		var b bytes.Buffer
		if err := WriteRecords(&b, w.Jobs); err != nil {
			return // names that only a hand-written file can have
		}
		again, err := ReadRecords(&b, "in")
		if err != nil || len(again.Diagnostics) > 0 {
			t.Fatal(err, again.Diagnostics)
		}
		for i := range again.Jobs {
			if w.Jobs[i].Name == "" {
				again.Jobs[i].Name = ""
			}
		}
		if diff := cmp.Diff(w.Jobs, again.Jobs); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestReadReport(t *testing.T) {
	text := `{"job":"lenet","devices":{"cpu":{"wall_seconds":{"value":110,"low":1,"high":2},"actual":[{"wall_seconds":90,"cpu_seconds":1},{"wall_seconds":110}]},"gpu":{"error":"no device"}}}
{"job":"mlp","user":"ann","arrival_seconds":5,"devices":{"cpu":{"wall_seconds":{"value":20}},"gpu":{"wall_seconds":{"value":4}}}}`
	array := "[" + strings.Replace(text, "}\n{", "},{", 1) + "]"
	for _, in := range []string{text, array} {
		w, err := ReadReport(strings.NewReader(in), "in")
		if err != nil || len(w.Jobs) != 2 || len(w.Diagnostics) > 0 {
			t.Fatal(err, w)
		}
		a, b := w.Jobs[0], w.Jobs[1]
		if a.Name != "lenet" || a.User != "default" || a.Seconds(CPU) != 100 || math.Abs(a.Reported(CPU)-110) > 1e-9 || !math.IsInf(a.Seconds(GPU), 1) {
			t.Errorf("%+v", a)
		}
		if b.User != "ann" || b.Arrival != 5 || b.Reported(CPU) != 20 || b.Seconds(GPU) != 4 {
			t.Errorf("%+v", b)
		}
		if len(w.Warnings) != 1 || !errors.Is(w.Warnings[0], ErrUnproven) {
			t.Errorf("warnings %v", w.Warnings)
		}
	}
	w, err := ReadReport(strings.NewReader(`{} 5 {"devices":{"cpu":{"error":"x"}}} {"devices":{"cpu":{"wall_seconds":{"value":0}}}}`), "in")
	if err != nil || w.Counts != (dataset.Counts{Read: 4, Dropped: 4}) {
		t.Errorf("%v %v", err, w)
	}
	for _, text := range []string{"{", "[{]", "# 1\n"} {
		if _, err := ReadReport(strings.NewReader(text), "in"); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// The figures are those of the simulator's generator: 10 x 1000 jobs, 5 at a
// time, 2000 gaps from 5 to 29 with mean 15.03; its 3 classes are drawn alike.
func TestGenerate(t *testing.T) {
	w, err := Generator{Seed: 1, ErrorSD: 0.1}.Generate()
	if err != nil {
		t.Fatal(err)
	}
	users, classes := map[string]int{}, map[float64]int{}
	var gaps, errs, squares float64
	for i, j := range w.Jobs {
		if err := j.Check(); err != nil {
			t.Fatal(err)
		}
		users[j.User]++
		classes[j.Seconds(GPU)]++
		if j.Seconds(CPU) != 2*j.Seconds(GPU) {
			t.Fatalf("job %d is not twice as fast on a GPU", j.ID)
		}
		e := j.On[CPU].Error
		errs += e
		squares += e * e
		if i == 0 {
			continue
		}
		gap := j.Arrival - w.Jobs[i-1].Arrival
		if (i%5 == 0) != (gap != 0) || gap != 0 && (gap < 5 || gap > 29 || gap != math.Trunc(gap)) {
			t.Fatalf("job %d comes %v s after the one before", i, gap)
		}
		gaps += gap
	}
	n := float64(len(w.Jobs))
	if len(w.Jobs) != 10_000 || len(users) != 10 || users["queue0"] != 1000 || len(classes) != 3 {
		t.Errorf("%d jobs, users %v, classes %v", len(w.Jobs), users, classes)
	}
	if got := gaps / 1999; math.Abs(got-15.03) > 0.35 { // 4 standard errors of sqrt(15.03/1999)
		t.Errorf("mean gap %v", got)
	}
	m := errs / n
	if sd := math.Sqrt(squares/n - m*m); math.Abs(m) > 0.004 || math.Abs(sd-0.1) > 0.003 { // 4 standard errors
		t.Errorf("error mean %v, sd %v", m, sd)
	}
	again, _ := Generator{Seed: 1, ErrorSD: 0.1}.Generate()
	if !cmp.Equal(w.Jobs, again.Jobs) {
		t.Error("the same seed gave other jobs")
	}
	other, _ := Generator{Seed: 1, ErrorSD: 0.3, Spread: 0.5, Users: 2, Jobs: 10}.Generate()
	if len(other.Jobs) != 20 || other.Jobs[3].Seconds(CPU) == 2*other.Jobs[3].Seconds(GPU) {
		t.Errorf("%+v", other.Jobs)
	}
	for _, g := range []Generator{{Users: -1}, {Jobs: 2e9}, {ErrorSD: math.NaN()}, {Spread: math.Inf(1)}} {
		if _, err := g.Generate(); err == nil {
			t.Errorf("%+v was generated", g)
		}
	}
}

// The records know two kinds of devices: a job of another is not written.
func TestWriteRefusesOthers(t *testing.T) {
	j := Record{ID: 1, User: "u", On: [Devices]Demand{{Seconds: 1}, {Seconds: 1}, {Seconds: 2}}}
	if err := WriteRecords(io.Discard, []Record{j}); err == nil || !strings.Contains(err.Error(), "job 1: records hold cpu and gpu alone") {
		t.Error(err)
	}
}
