package samples

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/shared/pickle"
)

// What Python pickles by protocol 2, without its memo.
func seq(open, end string, items ...string) string { return open + strings.Join(items, "") + end }

func list(items ...string) string { return seq("](", "e", items...) }

func ints(values ...int) string {
	var items []string
	for _, v := range values {
		items = append(items, "J"+string([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}))
	}
	return seq("(", "t", items...)
}

func pair(history, reward string) string { return seq("(", "t", history, reward) }

// historyOf has the same queue at every step, with a predecessor that waited and
// ran so many seconds.
func historyOf(wait, ran int) string {
	snapshot := list(
		list(ints(60, 2, 7, 0), ints(30, 1, 1000, 0)), list(ints(60, 3, 20, 59)),
		ints(2880, 2, wait, ran), ints(2880, 2, 0, 0))
	return list(strings.Repeat(snapshot, Steps))
}

func write(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data_0.pickle")
	if err := os.WriteFile(path, []byte("\x80\x02"+data+"."), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoadOriginal: two episodes, as a dictionary and merged to a list, the first
// probe of which came before the predecessor ran.
func TestLoadOriginal(t *testing.T) {
	const reward = "G\xc0\xac\x20\x00\x00\x00\x00\x00" // -3600.0
	one := list(pair(historyOf(60, 0), reward), pair(historyOf(600, 3600), reward), pair(historyOf(600, 172800), "K\x05"))
	two := list(pair(historyOf(10, 50), reward))
	want := []Sample{
		{Episode: 0, Probe: 1, Decision: 1000 + 600 + 3600, PredStart: 1600, PredEnd: 1600 + 172800, SuccStart: 1600 + 172800 - 3600, Reward: -3600, PendingJobs: 2, MeanWait: 20, HistoryEnd: 1600 + 172800 - 3600},
		{Episode: 0, Probe: 2, Decision: 1600 + 172800, PredStart: 1600, PredEnd: 1600 + 172800, SuccStart: 1605 + 172800, Reward: 5, PendingJobs: 2, MeanWait: 20, HistoryEnd: 1605 + 172800},
		{Episode: 1, Probe: 0, Decision: 15400 + 60, PredStart: 15410, PredEnd: 15410 + 172800, SuccStart: 15410 + 172800 - 3600, Reward: -3600, PendingJobs: 2, MeanWait: 20, HistoryEnd: 15410 + 172800 - 3600},
	}
	merged := one[:len(one)-1] + two[2:]
	for name, data := range map[string]string{"episodes": "}(K\x00" + one + "K\x01" + two + "u", "merged": merged} {
		set, dropped, err := LoadOriginal(write(t, data), 1000, 14400, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if dropped != 1 || !set.Original || set.Manifest.Plan.Episodes != 2 || set.Manifest.Plan.Service != (chain.Service{Nodes: 2, Limit: 172800}) {
			t.Errorf("%s: %d dropped, %+v", name, dropped, set.Manifest)
		}
		var l Lens
		snapshot := l.Take([]Pending{{60, 2, 7}, {30, 1, 1000}}, []Running{{60, 3, 20, 59}})
		for i := range set.Samples {
			s := &set.Samples[i]
			row := append(snapshot[:], 2880, 2, float64(s.PredStart-int64(s.Episode)*14400-1000), float64(s.Decision-s.PredStart), 2880, 2, 0, 0)
			if diff := cmp.Diff(row, s.X[143*Features:]); diff != "" || len(s.X) != Steps*Features {
				t.Errorf("%s, sample %d: %s", name, i, diff)
			}
			s.X = nil
		}
		if diff := cmp.Diff(want, set.Samples); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLoadOriginalErrors(t *testing.T) {
	good := historyOf(1, 1)
	for name, data := range map[string]string{
		"a number": "K\x05", "no pair": list("K\x05"), "a reward of text": list(pair(good, "X\x01\x00\x00\x00a")), "an endless reward": list(pair(good, "G\x7f\xf0\x00\x00\x00\x00\x00\x00")),
		"a short history": list(pair(list(ints(1)), "K\x05")), "a job of three": list(pair(strings.Replace(good, ints(60, 2, 7, 0), ints(60, 2, 7), 1), "K\x05")),
		"jobs that are none": list(pair(strings.Replace(good, list(ints(60, 3, 20, 59)), "N", 1), "K\x05")), "an episode of text": "}(X\x01\x00\x00\x00a" + list() + "u",
	} {
		if _, _, err := LoadOriginal(write(t, data), 0, 1, nil); !errors.Is(err, ErrOriginal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := LoadOriginal(write(t, "cposix\nsystem\n"), 0, 1, nil); !errors.Is(err, pickle.ErrFormat) || !strings.Contains(err.Error(), "offset 2") {
		t.Errorf("a command: %v", err)
	}
}
