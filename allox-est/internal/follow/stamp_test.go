package follow

import (
	"fmt"
	"strings"
	"testing"
)

// TestStampsOfLines checks the kind of a line's time and its seconds.
func TestStampsOfLines(t *testing.T) {
	for line, want := range map[string]string{
		"1970-01-02 00:00:01 x": "1 86401", "1970/01/02T00:00:01.25": "1 86401.25", "1970-01-02_01:02:03,5": "1 90123.5", "model time 2001-01-01_06:00:00": "0 0", "12 2001-01-01 06:00:00": "3 21600", "[12] 1970-01-02 00:00:01": "1 86401",
		`{"time": 1700000000.5}`: "2 1.7000000005e+09", `{"ts":1700000000}`: "2 1.7e+09", `{"created": 1700000000, "x": "10:00:00"}`: "2 1.7e+09", `{"time": 1300000000}`: "0 0",
		"5/9 [01:02<00:05]": "5 62", "5/9 [1:02:03<00:05]": "5 3723", "5/9 [00:00<?": "5 0",
		"elapsed: 5.5 s": "4 5.5", "elapsed_time: 01:02:03": "4 3723", "wall = 2:03": "4 123", "time_elapsed | 7.0": "4 7",
		"10:11:12 x": "3 36672", "[10:11:12.5] x": "3 36672.5", "23:59:59": "3 86399", "24:00:00": "0 0", "10:60:00": "0 0", "110:11:12 x": "0 0", "x": "0 0", "": "0 0",
		strings.Repeat("x", 111) + " 10:11:12": "3 36672", strings.Repeat("x", 112) + " 10:11:12": "0 0",
	} {
		kind, seconds := readStamp(line)
		if got := fmt.Sprint(kind, " ", seconds); got != want {
			t.Errorf("%.60q: %s, want %s", line, got, want)
		}
	}
}

// TestClocksOfLogs checks the times of lines by their stamps, and stamps that go back.
func TestClocksOfLogs(t *testing.T) {
	day := func(seconds int) string {
		return fmt.Sprintf("%02d:%02d:%02d x", seconds/3600%24, seconds/60%60, seconds%60)
	}
	date := func(seconds int) string { return "1970-01-02 " + day(seconds)[:8] }
	for name, tt := range map[string]struct {
		lines []string
		want  []float64
	}{
		"one after the other":        {[]string{"x", day(100), "x", day(103), "y"}, []float64{-1, 0, 0, 3, 3}},
		"past midnight":              {[]string{day(86390), day(86400 + 5)}, []float64{0, 15}},
		"half a day back":            {[]string{date(50000), date(50001), date(50000 - 43201)}, []float64{0, 1, 1}},
		"at most half a day":         {[]string{day(43200), day(0)}, []float64{0, 0}},
		"more than half a day":       {[]string{day(43201), day(0)}, []float64{0, 43199}},
		"a surer kind":               {[]string{day(100), day(110), date(500), date(505)}, []float64{0, 10, 10, 15}},
		"a less sure kind":           {[]string{date(100), day(900), date(107)}, []float64{0, 0, 7}},
		"a bar that begins again":    {[]string{"[00:05<", "[00:09<", "[00:02<", "[00:04<"}, []float64{0, 4, 6, 8}},
		"five seconds out of order":  {[]string{date(100), date(110), date(105), date(111)}, []float64{0, 10, 10, 11}},
		"of another clock":           {[]string{date(100), date(110), date(104), date(112)}, []float64{0, 10, 4, 12}},
		"an hour ahead for one line": {[]string{date(100), date(3700), date(101), date(102)}, []float64{0, 3600, 1, 2}},
		"set back by a minute":       {[]string{date(200), date(240), date(180), date(181)}, []float64{0, 40, 40, 40}},
		"set back by more":           {[]string{date(200), date(240), date(179), date(180)}, []float64{0, 40, 40, 41}},
	} {
		var c clock
		var got []float64
		for _, line := range tt.lines {
			got = append(got, c.time(line))
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
