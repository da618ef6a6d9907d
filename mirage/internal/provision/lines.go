package provision

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/foretime/foretime/shared/file"
)

// openLog opens a log of JSON objects that begin with a time, the first of which
// has a key, and calls each for all of them.
func openLog[T any](path, key string, each func(T) error) (*file.Log, error) {
	return file.OpenLog(path, logLines(key, each))
}

func logLines[T any](key string, each func(T) error) file.Lines {
	return file.Lines{
		Begin: `{"at":`,
		Start: func(first []byte) error {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(first, &object); err != nil {
				return err
			}
			if _, ok := object[key]; !ok {
				return fmt.Errorf("the first line has no %q", key)
			}
			return nil
		},
		Read: func(line []byte) error {
			var v T
			if len(bytes.TrimSpace(line)) == 0 {
				return nil
			}
			if err := json.Unmarshal(line, &v); err != nil {
				return err
			}
			return each(v)
		},
	}
}
