package readme

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

// The README's block must be what the stored results say, digits aside.
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
	if diff := cmp.Diff(shape(want), shape(block)); diff != "" {
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

func TestShape(t *testing.T) {
	if a, b := shape("x  ----  1.5 s\n"), shape("x ------   -22e+05 s\n"); a != b {
		t.Errorf("%q and %q differ", a, b)
	}
	if shape("error 5 %") == shape("errors 5 %") {
		t.Error("words are masked too")
	}
}

var (
	numbers = regexp.MustCompile(`-?[0-9][0-9.]*(e[-+][0-9]+)?`)
	rules   = regexp.MustCompile(`-{2,}`)
	blanks  = regexp.MustCompile(` +`)
)

// shape masks what changes from one measurement to the next: numbers, and the
// column widths that follow from them.
func shape(block string) string {
	block = rules.ReplaceAllString(block, "--")
	block = numbers.ReplaceAllString(block, "N")
	return blanks.ReplaceAllString(block, " ")
}
