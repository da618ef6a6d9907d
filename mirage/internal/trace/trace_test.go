package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// header of the Mirage layouts, as published.
const header = "       JobID    JobName    UID               Start              Submit                 End   Priority TimelimitR ExitCode   NNodes\n" +
	"------------ ---------- ------ ------------------- ------------------- ------------------- ---------- ---------- -------- --------\n"

func line(fields ...string) string { return strings.Join(fields, "\t") + "\n" }

// plainRow is a job of one hour that waited a minute.
var plainRow = line("7", "train", "00042", "2023-01-10T12:01:00", "2023-01-10T12:00:00", "2023-01-10T13:01:00", "1182", "120", "0:0", "2")

func TestRead(t *testing.T) {
	plain := Job{ID: "7", User: "00042", Submit: 1673373600, Start: 1673373660, End: 1673377260, Limit: 7200, Nodes: 2, Priority: 1182}
	tests := []struct {
		name     string
		text     string
		want     []Job
		bad      []string // part of each diagnostic, with its line
		warnings int
		err      error
	}{
		{name: "count line and tabs", text: "3\n" + header + plainRow, want: []Job{plain}},
		{name: "padded spaces, trailing space", text: header + strings.ReplaceAll(strings.TrimSpace(plainRow), "\t", "   ") + " \n", want: []Job{plain}},
		{name: "CRLF and byte-order mark", text: "\ufeff3\r\n" + strings.ReplaceAll(header+plainRow, "\n", "\r\n"), want: []Job{plain}},
		{name: "wrong count", text: "30\n" + header + plainRow, want: []Job{plain}, warnings: 1},
		{name: "no final newline", text: "3\n" + header + strings.TrimSpace(plainRow), want: []Job{plain}},
		{
			name: "a stray field", // as in row 746545 of the published trace
			text: "4\n" + header + plainRow + line("8", "x", "xaa", "00326", "2023-01-10T12:01:00", "2023-01-10T12:00:00", "2023-01-10T13:01:00", "1", "120", "0:0", "2"),
			want: []Job{plain}, bad: []string{"f:5: 11 fields, want 10"},
		},
		{name: "cut off", text: "4\n" + header + plainRow + plainRow[:30], want: []Job{plain}, bad: []string{"f:5: 4 fields, want 10"}},
		{name: "no time", text: header + plainRow + strings.Replace(plainRow, "2023-01-10T13", "2023-13-10T13", 1), want: []Job{plain}, bad: []string{`f:4: column End: "2023-13-10T13:01:00" is not a time`}},
		{name: "no number", text: header + plainRow + strings.Replace(plainRow, "\t2\n", "\ttwo\n", 1), want: []Job{plain}, bad: []string{`f:4: column NNodes: "two" is not an integer`}},
		{name: "negative wait", text: header + plainRow + strings.Replace(plainRow, "12:00:00", "12:02:00", 1), want: []Job{plain}, bad: []string{"f:4: job 7: started 60 s before it was submitted"}},
		{name: "negative duration", text: header + plainRow + strings.Replace(plainRow, "13:01:00", "11:01:00", 1), want: []Job{plain}, bad: []string{"f:4: job 7: ended 3600 s before it started"}},
		{name: "no nodes", text: header + plainRow + strings.Replace(plainRow, "\t2\n", "\t0\n", 1), want: []Job{plain}, bad: []string{"f:4: job 7: 0 nodes"}},
		{name: "empty", text: "", err: ErrNoJobs},
		{name: "blank", text: "\n\n", err: ErrNoJobs},
		{name: "header only", text: "2\n" + header, err: ErrNoJobs},
		{name: "all rows bad", text: header + "1 2 3\n", err: ErrNoJobs},
		{name: "a column short", text: strings.ReplaceAll(header, "NNodes", "Knots") + plainRow, err: ErrColumn},
		{name: "something else", text: "hello world\n", err: ErrLayout},
		{
			name: "sacct",
			text: "JobID|JobName|User|Submit|Start|End|Timelimit|NNodes|State|Partition|QOS\n" +
				"7|train|00042|2023-01-10T18:00:00|2023-01-10T18:01:00|2023-01-10T19:01:00|02:00:00|2|COMPLETED|gpu|normal\n" +
				"7.batch|batch||2023-01-10T18:00:00|2023-01-10T18:01:00|2023-01-10T19:01:00||2|COMPLETED||\n" +
				"8|train|00042|2023-01-10T18:00:00|Unknown|Unknown|02:00:00|2|PENDING|gpu|normal\n" +
				"9|train|00042|2023-01-10T18:00:00|2023-01-10T18:01:00|2023-01-10T19:01:00|soon|2|COMPLETED|gpu|normal\n",
			want: []Job{{ID: "7", User: "00042", Partition: "gpu", Submit: 1673373600, Start: 1673373660, End: 1673377260, Limit: 7200, Nodes: 2}},
			bad:  []string{`f:5: column Timelimit: "soon" is not a time limit`},
		},
		{name: "sacct without ends", text: "JobID|Submit|Start|NNodes\n", err: ErrColumn},
		{
			name: "SWF",
			text: "; UnixStartTime: 1000\n; MaxNodes: 4\n; MaxProcs: 16\n" +
				"2 30.4 5 60 -1 -1 -1 5 -1 -1 1 3 -1 -1 -1 2 1 10\n" + // unsorted, float time, procs as requested, no limit
				"1 10 -1 60 4 -1 -1 4 120 -1 1 3 -1 -1 -1 -1 -1 -1\n" +
				"3 40 100 -1 4 -1 -1 4 120 -1 5 3 -1 -1 -1 -1 -1 -1\n" + // cancelled while pending
				"4 50 1 60 0 -1 -1 0 120 -1 1 3 -1 -1 -1 -1 -1 -1\n" + "5 x\n",
			want: []Job{
				{ID: "1", User: "3", Submit: 1010, Start: 1010, NoStart: true, End: 1070, Limit: 120, Nodes: 4},
				{ID: "2", User: "3", Partition: "2", Submit: 1030, Start: 1035, End: 1095, Limit: Unlimited, Nodes: 5},
			},
			bad: []string{"f:7: job 4: 0 nodes", "f:8: 2 fields, want 18"}, warnings: 1,
		},
		{
			name: "SWF of 21 fields, with parts",
			text: "1 10 5 60 4 -1 -1 4 120 68719476736000000 1 3 -1 -1 -1 1 3 5 {1,1,1,1} long 1:ppn=4\n" +
				"2 20 5 60 4 -1 -1 4 120 -1 1 3 -1 -1 -1 1 1 7 {1,1,1,1} long 1:ppn=4\n" +
				"2 20 5 30 4 -1 -1 4 120 -1 2 3 -1 -1 -1 1 -1 -1 {1,1,1,1} long 1:ppn=4\n" +
				"2 60 5 30 4 -1 -1 4 120 -1 3 3 -1 -1 -1 1 -1 -1 {1,1,1,1} long 1:ppn=4\n" +
				"3 30 5 60 4 -1 -1 4 120 -1 1 3 -1 -1 -1 1 -1 -1 {1,1,1,1} long 1:ppn=4\n",
			want: []Job{
				{ID: "1", User: "3", Partition: "long", Submit: 10, Start: 15, End: 75, Limit: 120, Nodes: 4},
				{ID: "2", User: "3", Partition: "long", Submit: 20, Start: 25, End: 85, Limit: 120, Nodes: 4},
				{ID: "3", User: "3", Partition: "long", Submit: 30, Start: 35, End: 95, Limit: 120, Nodes: 4},
			},
		},
		{
			name: "sacct with states, eligibility, a requeue, rows twice and two partitions",
			text: "JobID|User|Submit|Eligible|Start|End|Timelimit|NNodes|State|Partition\n" +
				"1|u|2023-01-10T18:00:00|2023-01-10T19:00:00|2023-01-10T19:01:00|2023-01-10T20:00:00|02:00:00|1|COMPLETED|gpu\n" +
				"2|u|2023-01-10T18:00:00|2023-01-10T18:00:00|2023-01-11T18:00:00|2023-01-11T18:00:00|02:00:00|1|CANCELLED by 7|gpu\n" +
				"3|u|2023-01-10T18:00:00|2023-01-10T18:00:00|2023-01-10T18:01:00|2023-01-10T18:31:00|02:00:00|1|CANCELLED by 7|cpu\n" +
				"4|u|2023-01-10T18:00:00|2023-01-10T18:00:00|2023-01-10T18:01:00|2023-01-10T18:31:00|02:00:00|1|RUNNING|gpu\n" +
				"5|u|2023-01-10T18:00:00|Unknown|2023-01-10T18:01:00|2023-01-10T18:31:00|02:00:00|1|NODE_FAIL|gpu\n" +
				"5|u|2023-01-10T18:00:00|Unknown|2023-01-10T18:41:00|2023-01-10T18:51:00|02:00:00|1|COMPLETED|gpu\n" +
				"5|u|2023-01-10T18:00:00|Unknown|2023-01-10T18:41:00|2023-01-10T18:51:00|02:00:00|1|COMPLETED|gpu\n",
			want: []Job{
				{ID: "3", User: "u", Partition: "cpu", Submit: 1673373600, Start: 1673373660, End: 1673375460, Limit: 7200, Nodes: 1},
				{ID: "5", User: "u", Partition: "gpu", Submit: 1673373600, Start: 1673373660, End: 1673375460, Limit: 7200, Nodes: 1},
				{ID: "5+1673376060", User: "u", Partition: "gpu", Submit: 1673375460, Start: 1673376060, End: 1673376660, Limit: 7200, Nodes: 1},
				{ID: "1", User: "u", Partition: "gpu", Held: 3600, Submit: 1673377200, Start: 1673377260, End: 1673380800, Limit: 7200, Nodes: 1},
			},
			warnings: 2,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tt.text), "f", Options{})
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tt.want, got.Jobs); diff != "" {
				t.Errorf("jobs (-want +got):\n%s", diff)
			}
			var bad []string
			for _, b := range got.Bad {
				bad = append(bad, b.Error())
			}
			if diff := cmp.Diff(tt.bad, bad); diff != "" {
				t.Errorf("bad rows (-want +got):\n%s", diff)
			}
			if len(got.Warnings) != tt.warnings {
				t.Errorf("warnings %v, want %d", got.Warnings, tt.warnings)
			}
		})
	}
}

// TestSummerTime: jobs that run through a change of the clock are as long as
// they were, and in the repeated hour the reading is taken that keeps the
// duration within the limit.
func TestSummerTime(t *testing.T) {
	tests := []struct {
		name               string
		submit, start, end string
		minutes            string
		want               int64 // duration, seconds
	}{
		{"spring", "2023-03-12T00:00:00", "2023-03-12T01:00:00", "2023-03-12T04:00:00", "120", 2 * 3600},
		{"autumn", "2022-11-05T23:00:00", "2022-11-06T00:00:00", "2022-11-06T04:00:00", "300", 5 * 3600},
		{"repeated hour, first", "2022-11-06T00:00:00", "2022-11-06T01:30:00", "2022-11-06T03:30:00", "180", 3 * 3600},
		{"repeated hour, second", "2022-11-06T00:00:00", "2022-11-06T01:30:00", "2022-11-06T03:30:00", "120", 2 * 3600},
		{"both in the repeated hour", "2022-11-06T00:00:00", "2022-11-06T01:40:00", "2022-11-06T01:20:00", "120", 40 * 60},
		{"submitted in the first, started in the second", "2022-11-06T01:50:00", "2022-11-06T01:30:00", "2022-11-06T01:40:00", "120", 10 * 60},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(header+line("1", "n", "u", tt.start, tt.submit, tt.end, "0", tt.minutes, "0:0", "1")), "f", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := got.Jobs[0].Duration(); d != tt.want {
				t.Errorf("duration %d s, want %d s", d, tt.want)
			}
		})
	}
}

// TestNaiveSeconds compares with the time package.
func TestNaiveSeconds(t *testing.T) {
	for at := time.Date(1895, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2110; at = at.Add(37*time.Hour + 61*time.Second) {
		got, ok := naiveSeconds(at.Format("2006-01-02T15:04:05"))
		if !ok || got != at.Unix() {
			t.Fatalf("%v: %d, %v; want %d", at, got, ok, at.Unix())
		}
	}
	for _, s := range []string{"", "2023-02-29T00:00:00", "2023-00-01T00:00:00", "2023-01-01T24:00:00", "2023-01-01 00:00", "2023-01-0xT00:00:00"} {
		if n, ok := naiveSeconds(s); ok {
			t.Errorf("%q is read as %d", s, n)
		}
	}
}

func TestSlurmSeconds(t *testing.T) {
	// Forms and units: sbatch(1), option --time.
	for s, want := range map[string]int64{"5": 300, "5:30": 330, "1:00:00": 3600, "2-0": 172800, "2-01:30": 178200, "1-00:00:01": 86401, "": -1, "x": -1, "1:2:3:4": -1, "-5": -1} {
		got, ok := SlurmSeconds(s)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v; want %d", s, got, ok, want)
		}
	}
}

// TestWriters: what is written is read back, as far as the layout goes.
func TestWriters(t *testing.T) {
	zone, err := time.LoadLocation(DefaultZone)
	if err != nil {
		t.Fatal(err)
	}
	jobs := []Job{
		{ID: "1", User: "u", Partition: "p", Submit: 1673373600, Start: 1673373660, End: 1673377260, Limit: 7200, Nodes: 2, Priority: 1182},
		{ID: "2", User: "v", Submit: 1673373700, Start: 1673373700, End: 1673373700, Limit: 60, Nodes: 1},
	}
	lost := map[Layout][]string{
		Mirage: {"Partition"},
		SWF:    {"User", "Priority", "Partition"},
	}
	for layout, fields := range lost {
		t.Run(string(layout), func(t *testing.T) {
			var b bytes.Buffer
			var err error
			switch layout {
			case SWF:
				err = writeSWF(&b, jobs, 4)
			case Mirage:
				err = WriteMirage(&b, jobs, zone)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read(&b, "f", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Layout != layout {
				t.Errorf("layout %s, want %s", got.Layout, layout)
			}
			if diff := cmp.Diff(jobs, got.Jobs, cmpopts.IgnoreFields(Job{}, fields...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLonestar6 reads the development part of the published trace. The
// figures are those that other readers of the same file have found.
func TestLonestar6(t *testing.T) {
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data folder that FORETIME_DATA names")
	}
	got, err := Open(filepath.Join(data, "ls6-a100", "ls6-a100-2022-10_2023-02.log"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := got.Stats()
	if s.Rows != 17975 || len(got.Bad) != 0 || s.ZeroDuration != 2364 || s.OverLimit60 != 0 || s.PeakNodes != 80 || int(s.NaiveNodeHours+0.5) != 168839 {
		t.Errorf("%+v, %d bad", s, len(got.Bad))
	}
	if len(got.Warnings) > 0 {
		t.Error(got.Warnings)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("3\n" + header + plainRow))
	f.Add([]byte(header + strings.ReplaceAll(plainRow, "\t", "  ")))
	f.Add([]byte("JobID|Submit|Start|End|Timelimit|NNodes\n1|2023-01-10T18:00:00|2023-01-10T18:01:00|2023-01-10T19:01:00|1-0|2\n"))
	f.Add([]byte(bars))
	f.Add([]byte(strings.ReplaceAll(bars, "|", ",")))
	f.Add([]byte("; MaxNodes: 4\n1 10 -1 60 4 -1 -1 4 120 -1 1 3 -1 -1 -1 -1 -1 -1\n"))
	f.Add([]byte("JobID|Submit|Start|End|NNodes\n1|1|1|2000-01-10 00:00:00|1\n2|1|||1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Read(bytes.NewReader(text), "f", Options{})
		if err != nil {
			return
		}
		for i := range got.Jobs {
			j := &got.Jobs[i]
			if j.Wait() < 0 || j.Duration() < 0 || j.Nodes < 1 || j.Limit < 0 || i > 0 && j.Submit < got.Jobs[i-1].Submit {
				t.Fatalf("unusable job %+v", j)
			}
		}
		for i := range got.Open {
			if j := &got.Open[i]; j.End != Never || j.Start < j.Submit || j.NoStart != (j.Start == Never) || j.Nodes < 1 || j.Limit < 0 {
				t.Fatalf("unusable open job %+v", j)
			}
		}
		got.Stats()
		// What this package writes it reads back.
		var b bytes.Buffer
		if err := writeSWF(&b, got.Jobs, 1); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b, "f", Options{})
		if err != nil || len(again.Jobs)+len(again.Bad) != len(got.Jobs) {
			t.Fatalf("%d jobs written, %v read back: %v", len(got.Jobs), again, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("10002\n" + header)
	for range 10000 {
		text.WriteString(plainRow)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text.Bytes()), "f", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCompressed: a log that is compressed is read without being asked for.
func TestCompressed(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte("; MaxProcs: 8\n1 10 5 60 3 -1 -1 3 120 -1 1 3 -1 -1 -1 -1 -1 -1\n")); err != nil {
		t.Fatal(err)
	}
	z.Close()
	log := filepath.Join(t.TempDir(), "site.swf.gz")
	if err := os.WriteFile(log, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Open(log, Options{})
	if err != nil || got.Size != 8 || got.Unit != Processors || got.Jobs[0].Nodes != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestUnit: jobs of a log that share nodes are counted by what they hold.
func TestUnit(t *testing.T) {
	const log = `JobID|Submit|Start|End|Timelimit|NNodes|AllocTRES|ReqTRES
1|2023-01-01T00:00:00|2023-01-01T00:00:00|2023-01-01T01:00:00|60|1|billing=8,cpu=8,gres/gpu=2,mem=64G,node=1|cpu=8
2|2023-01-01T00:00:00|2023-01-01T00:00:00|2023-01-01T01:00:00|60|2||cpu=4,gres/gpu:a100=3,gres/gpu:v100=1,node=2
3|2023-01-01T00:00:00|2023-01-01T00:00:00|2023-01-01T01:00:00|60|1|cpu=1,node=1|
`
	for unit, want := range map[Unit][]int{Nodes: {1, 2, 1}, CPUs: {8, 4, 1}, GPUs: {2, 4}} {
		tr, err := Read(strings.NewReader(log), "sacct", Options{Unit: unit})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, j := range tr.Jobs {
			got = append(got, j.Nodes)
		}
		if !slices.Equal(got, want) || tr.Unit != unit || unit == GPUs && tr.Skipped["holds no gpus"] != 1 {
			t.Errorf("%s: %v, want %v; %v skipped", unit, got, want, tr.Skipped)
		}
	}
	without := strings.ReplaceAll(log, "TRES", "Resources")
	if _, err := Read(strings.NewReader(without), "sacct", Options{Unit: GPUs}); !errors.Is(err, ErrColumn) {
		t.Errorf("no column: %v", err)
	}
	if _, err := Read(strings.NewReader("1 0 0 1 1 -1 -1 1 1 -1 1 1 1 1 1 1 -1 -1\n"), "swf", Options{Unit: GPUs}); !errors.Is(err, ErrColumn) {
		t.Errorf("SWF: %v", err)
	}
	if _, err := ParseUnit("racks"); err == nil {
		t.Error("racks")
	}
}

// TestNeeds: what rows say of shared nodes.
func TestNeeds(t *testing.T) {
	for tres, want := range map[string]*Need{
		"":                                    nil,
		"node=2,billing=4":                    nil,
		"cpu=8,mem=4G,node=2,gres/gpu=2":      {CPUs: 8, GPUs: 2, MemoryMB: 4096},
		"cpu=1,mem=1500.5M":                   {CPUs: 1, MemoryMB: 1501},
		"mem=1T,gres/gpu:a100=1,gres/gpu:h=2": {GPUs: 3, MemoryMB: 1 << 20},
		"cpu=2,mem=,gres/gpu=x":               {CPUs: 2},
		"cpu=2,mem=9999999999999G":            {CPUs: 2},
	} {
		if diff := cmp.Diff(want, NeedOf(tres)); diff != "" {
			t.Errorf("%s: %s", tres, diff)
		}
	}
}

// TestParseDate: one instant in each form, those that mirage itself prints among them.
func TestParseDate(t *testing.T) {
	zone := time.FixedZone("", -6*3600)
	want := time.Date(2023, 2, 1, 8, 30, 0, 0, zone).Unix()
	for _, text := range []string{
		"2023-02-01T08:30", "2023-02-01T08:30:00", "2023-02-01 08:30", "2023-02-01 08:30:00",
		"2023-02-01T14:30:00Z", "2023-02-01 14:30:00Z", "2023-02-01 08:30:00-06:00",
	} {
		if got, err := ParseDate(text, zone); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2023-02-01 ", "2023-02-01  08:30", "2023-02-01 8:30 pm", "2023-02-01T"} {
		if got, err := ParseDate(text, zone); err == nil {
			t.Errorf("%q: %d", text, got)
		} else if !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestParseNext: the forms of a time of sbatch --begin (sbatch(1)), after Tuesday noon.
func TestParseNext(t *testing.T) {
	const bad = -1000
	at := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for text, hours := range map[string]float64{
		"13:00": 1, "03:00": 15, "12:00": 0, "03:30:36": 15.51, "noon": 0, "midnight": 12, "today": -12, "tomorrow": 12, "now": 0, "now+90": .025,
		"now+2hours": 2, "now+1day": 24, "now+1week": 168, "2026-11-25": 12, "2026-11-24T13:00": 1,
		"fika": 3, "Teatime": 4, "elevenses": 23, "4:30pm": 4.5, "4:30 PM": 4.5, "12:00am": 12, "tomorrow noon": 24, "noon tomorrow": 24, "tomorrowT10:00": 22,
		"today midnight": -12, "now-2hours": -2, "now + 2 hours": 2, "11/25/26": 12, "112526": 12, "11.25.26": 12, "11/24": -12, "11/23": 364*24 - 12, "11/25T01:00": 13,
		"now+2moons": bad, "nowhere": bad, "25:00": bad, "soon": bad, "now+": bad, "": bad, "now2": bad, "noon noon": bad, "today tomorrow": bad, "13:00pm": bad, "tuesday": bad,
	} {
		got, err := ParseNext(text, time.UTC, at.Unix())
		if (err != nil) != (hours == bad) || err == nil && float64(got-at.Unix()) != hours*3600 {
			t.Errorf("%s: %d s later, %v; want %v h", text, got-at.Unix(), err, hours)
		}
	}
}

// TestCheckSize: of a thousand jobs one that is a hundred times as large as all others at once
// says nothing of the cluster; a job of the whole machine does.
func TestCheckSize(t *testing.T) {
	jobs := make([]Job, 1000)
	for i := range jobs {
		jobs[i] = Job{ID: strconv.Itoa(i), Nodes: 2, Start: int64(100 * i), End: int64(100*i + 250)}
	}
	log := Trace{Jobs: jobs, Unit: Nodes}
	for nodes, want := range map[int]error{40: nil, 600: ErrOutlier} {
		jobs[500].Nodes = nodes
		if err := log.CheckSize(); !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), "job 500 has 600 nodes, and all others together at most 6") {
			t.Errorf("a job of %d nodes: %v", nodes, err)
		}
	}
}
