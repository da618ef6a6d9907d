package slurm

import (
	"fmt"
	"path/filepath"
	"testing"
)

func TestAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "asked")
	if all, err := ReadAsked(path); err != nil || all != nil {
		t.Errorf("no file: %v, %v", all, err)
	}
	for i := range 3 {
		if _, err := (Asked{fmt.Sprint(i), 10, 60}).Append(path); err != nil {
			t.Fatal(err)
		}
	}
	all, err := ReadAsked(path)
	if err != nil || len(all) != 3 || all[2] != (Asked{"2", 10, 60}) {
		t.Errorf("%v, %v", all, err)
	}
}
