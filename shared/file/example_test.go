package file_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/shared/file"
)

func ExampleWrite() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "forecast.txt")
	err = file.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "12.5 s")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(path)
	fmt.Print(string(text))
	if err != nil {
		log.Fatal(err)
	}
	// Output: 12.5 s
}

func ExampleEncodeJSON() {
	if err := file.EncodeJSON(os.Stdout, map[string]any{"unit": "s", "range": "<1"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {
	//   "range": "<1",
	//   "unit": "s"
	// }
}

// Opening a log reads it and cuts off a half-written last line of a killed process.
func ExampleOpenLog() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "runs.jsonl")
	if err := os.WriteFile(path, []byte("{\"run\":1}\n{\"ru"), 0o600); err != nil {
		log.Fatal(err)
	}
	l, err := file.OpenLog(path, file.Lines{Read: func(line []byte) error {
		fmt.Printf("read %s\n", line)
		return nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Torn, "bytes cut off")
	if err := l.AppendJSON(map[string]int{"run": 2}); err != nil {
		log.Fatal(err)
	}
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output:
	// read {"run":1}
	// 4 bytes cut off
	// {"run":1}
	// {"run":2}
}
