package trace

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bars is one job that ran, one that runs, one that waits, an array that does, and
// one that is held, as sacct prints them.
const bars = `JobID|User|State|Reason|Submit|Start|End|TimelimitRaw|NNodes|AllocTRES
1|ann|COMPLETED|None|2023-01-10T18:00:00|2023-01-10T18:01:00|2023-01-10T19:01:00|120|2|cpu=8,mem=4G,node=2
2|bob|RUNNING|None|2023-01-10T18:10:00|2023-01-10T18:30:00|Unknown|60|1|cpu=8,mem=4G,node=1
3|bob|PENDING|Priority|2023-01-10T18:20:00|Unknown|Unknown|60|1|
4_[5-6]|ann|PENDING|Resources|2023-01-10T18:25:00|2023-01-12T00:00:00|Unknown|60|1|
5|ann|PENDING|Dependency|2023-01-10T18:26:00|Unknown|Unknown|60|1|
`

func read(t *testing.T, text string, o Options) *Trace {
	t.Helper()
	got, err := Read(strings.NewReader(text), "f", o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestQueue: rows of jobs that wait or run are the queue at the log's end.
func TestQueue(t *testing.T) {
	got := read(t, bars, Options{})
	two := &Need{CPUs: 8, MemoryMB: 4096}
	want := []Job{
		{ID: "2", User: "bob", Submit: 1673374200, Start: 1673375400, End: Never, Limit: 3600, Nodes: 1, Need: two},
		{ID: "3", User: "bob", Submit: 1673374800, Start: Never, End: Never, NoStart: true, Limit: 3600, Nodes: 1},
		{ID: "4_[5-6]", User: "ann", Submit: 1673375100, Start: Never, End: Never, NoStart: true, Limit: 3600, Nodes: 1},
		{ID: "4_[5-6]", User: "ann", Submit: 1673375100, Start: Never, End: Never, NoStart: true, Limit: 3600, Nodes: 1},
	}
	if diff := cmp.Diff(want, got.Open); diff != "" {
		t.Error(diff)
	}
	if s := got.Stats(); s.Pending != 3 || s.Running != 1 || s.PeakNodes != 3 || got.Skipped["held"] != 1 {
		t.Errorf("%+v, %v", s, got.Skipped)
	}
	if got.End() != got.Jobs[0].End || len(got.All()) != 5 || got.All()[1].ID != "2" {
		t.Errorf("the last thing happened at %d; %v", got.End(), got.All())
	}
	without := read(t, strings.ReplaceAll(bars, "State|Reason", "Shape|Cause"), Options{}) // as the times tell
	if len(without.Jobs) != 1 || len(without.Open) != 4 {
		t.Errorf("without states: %v, %v", without.Jobs, without.Open)
	}
}

// TestForms: what sacct may be asked to print, and what becomes of it on the way, is
// the same log.
func TestForms(t *testing.T) {
	var cells [][]string
	for line := range strings.Lines(bars) {
		cells = append(cells, strings.Split(strings.TrimSpace(line), "|"))
	}
	form := func(between string, cell func(row, column int, text string) string) string {
		var b strings.Builder
		for i, row := range cells {
			for k, c := range row {
				if k > 0 {
					b.WriteString(between)
				}
				b.WriteString(cell(i, k, c))
			}
			b.WriteByte('\n')
			if between == " " && i == 0 {
				b.WriteString(strings.TrimSpace(strings.Repeat(strings.Repeat("-", 26)+" ", len(row))) + "\n")
			}
		}
		return b.String()
	}
	as := func(time func(unix int64) string) func(int, int, string) string {
		return func(row, column int, text string) string {
			if naive, ok := naiveSeconds(text); ok {
				return time(naive)
			}
			return text
		}
	}
	same := func(_, _ int, text string) string { return text }
	want := read(t, bars, Options{})
	for name, text := range map[string]string{
		"commas":  form(",", same),
		"quoted":  form(",", func(_, _ int, text string) string { return `"` + text + `"` }),
		"tabs":    form("\t", same),
		"aligned": form(" ", func(_, _ int, text string) string { return fmt.Sprintf("%26s", text) }),
		"epochs":  form("|", as(func(unix int64) string { return fmt.Sprint(unix) })),
		"offsets": form("|", as(func(unix int64) string {
			return strings.Replace(civil(unix+3600), "Z", "+0100", 1)
		})),
		"RFC 3339": form("|", as(func(unix int64) string {
			return strings.Replace(civil(unix-7200), "Z", "-02:00", 1)
		})),
		"--parsable and CRLF": strings.ReplaceAll(bars, "\n", "|\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, text, Options{})
			if diff := cmp.Diff(want.Jobs, got.Jobs); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want.Open, got.Open); diff != "" {
				t.Error(diff)
			}
			if len(got.Bad) > 0 {
				t.Error(got.Bad)
			}
		})
	}
}

// TestNames: ids of any size, and ids that are words, are names, so that no row is lost.
func TestNames(t *testing.T) {
	var b bytes.Buffer
	for i := range 300 {
		user := []string{"9223372036854775807", "18446744073709551615", "ea82be"}[i%3]
		fmt.Fprintf(&b, "7%019d %d 5 60 4 -1 -1 4 120 -1 1 %s 12345678901234567890 -1 big%s 3 -1 -1\n", i, 10*i, user, user)
	}
	got := read(t, b.String(), Options{})
	if s := got.Stats(); len(got.Jobs) != 300 || len(got.Bad) != 0 || s.Users != 3 || got.Doubt != "" {
		t.Errorf("%d jobs, %v bad, %+v, %q", len(got.Jobs), got.Bad, s, got.Doubt)
	}
	b.WriteString(strings.Repeat("x 9 5 60 4 -1 -1 4 never -1 1 7 -1 -1 -1 -1 -1 -1\n", 4))
	if got = read(t, b.String(), Options{}); !strings.HasPrefix(got.Doubt, "4 of 304 rows cannot be used, most of them as line 301: column 9") {
		t.Errorf("%q", got.Doubt)
	}
}

// TestLimitsElsewhere checks that the header names the field of the limit, which is unknown otherwise.
func TestLimitsElsewhere(t *testing.T) {
	const row = "1 10 5 60 4 67 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n"
	for text, want := range map[string]int64{row: Unlimited, "; Note: field 6 is the requested time\n" + row: 67} {
		got := read(t, text, Options{})
		if l := got.Jobs[0].Limit; l != want || len(got.Warnings) == 0 && want != 67 {
			t.Errorf("%s: %d, want %d; %v", text, l, want, got.Warnings)
		}
		var b bytes.Buffer
		if err := writeSWF(&b, got.Jobs, 4); err != nil {
			t.Fatal(err)
		}
		if again := read(t, b.String(), Options{}); again.Jobs[0].Limit != want {
			t.Errorf("%s: written and read again %d, want %d", text, again.Jobs[0].Limit, want)
		}
	}
}

// TestAboveTheMachine: more in use than there is is told.
func TestAboveTheMachine(t *testing.T) {
	got := read(t, "; MaxProcs: 3\n1 10 0 60 4 -1 -1 4 120 -1 1 1 1 -1 -1 -1 -1 -1\n", Options{})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Error(), "4 processors are in use at once, but the log gives the cluster only 3") {
		t.Error(got.Warnings)
	}
}

func civil(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }
