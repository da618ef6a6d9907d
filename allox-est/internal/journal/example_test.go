package journal_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// A run that was appended is there when the journal is read again.
func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "lenet.jsonl")
	j, err := journal.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := j.Append(journal.Run{Job: "a1b2", Kind: journal.Sample, Device: "cpu", Epochs: 5, Wall: 12.5}); err != nil {
		fmt.Println(err)
	}
	j.Close()
	j, err = journal.Read(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range j.Of("a1b2", journal.Sample) {
		fmt.Println(r.Epochs, "epochs in", r.Wall, "s")
	}
	// Output: 5 epochs in 12.5 s
}
