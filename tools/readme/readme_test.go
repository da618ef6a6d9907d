package readme

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

// TestReadmeShowsTheStoredResults checks that the README's block matches the stored
// results to the digit.
func TestReadmeShowsTheStoredResults(t *testing.T) {
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(ws.Root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block, err := Block(string(text))
	if err != nil {
		t.Fatal(err)
	}
	toured, tested, err := Load("measured/tour.json", "measured/test.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Render(toured, tested)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, block); diff != "" {
		t.Errorf("README.md does not show the stored results; run make readme (-stored +README):\n%s", diff)
	}
}

func TestReplace(t *testing.T) {
	text := "a\n" + begin + "old\n" + end + "z\n"
	got, err := Replace(text, "new $1\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := "a\n" + begin + "new $1\n" + end + "z\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := Replace("no block", "x"); !errors.Is(err, ErrNoBlock) {
		t.Errorf("got %v, want ErrNoBlock", err)
	}
}

func TestCount(t *testing.T) {
	var got Tested
	for _, events := range []string{
		`{"Time":"2026-11-23T06:00:00Z","Action":"start","Package":"m"}
{"Time":"2026-11-23T06:00:01Z","Action":"pass","Package":"m","Test":"TestA"}
{"ImportPath":"m","Action":"build-output","Output":"x"}
{"Time":"2026-11-23T06:00:02Z","Action":"skip","Package":"m","Test":"TestB"}
{"Time":"2026-11-23T06:00:10Z","Action":"pass","Package":"m"}`,
		`{"Time":"2026-11-23T07:00:00Z","Action":"fail","Package":"m","Test":"TestC"}
{"Time":"2026-11-23T07:00:05Z","Action":"skip","Package":"n"}`,
	} {
		if err := got.Count(strings.NewReader(events)); err != nil {
			t.Fatal(err)
		}
	}
	if want := (Tested{Passed: 1, Failed: 1, Skipped: 1, Seconds: 15}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := got.Count(strings.NewReader("{")); err == nil {
		t.Error("a torn file is counted without a word")
	}
}
