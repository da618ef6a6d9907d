package timing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/foretime/foretime/shared/file"
)

// History is a log of readings, one short line each, that many programs and
// machines may share. It is bounded: after [mostReadings] lines the log becomes the
// older half, FILE.1.jsonl, and replaces the previous one.
type History struct {
	Path    string // ends in .jsonl
	Machine string // any text that identifies this machine; its hash is stored
}

// mostReadings is the largest number of lines of one of the two files.
const mostReadings = 1000

// work identifies the two pieces of work; readings of other work are not
// comparable.
const work = "yardstick-1"

// entry is a line of the log.
type entry struct {
	Yardstick string `json:"yardstick"`
	Machine   string `json:"machine"`
	Reading
}

// Add adds a reading. It creates the directory if necessary.
func (h History) Add(r Reading) (err error) {
	if err := os.MkdirAll(filepath.Dir(h.Path), 0o700); err != nil {
		return err
	}
	lines := 0
	log, err := file.OpenLog(h.Path, entries(func([]byte) { lines++ }))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	r.At = r.At.UTC()
	if err := log.AppendJSON(entry{work, h.machine(), r}); err != nil || lines+1 < mostReadings {
		return err
	}
	// A process that waits for the lock meanwhile adds its line to the older half.
	return os.Rename(h.Path, h.older())
}

// Readings returns this machine's readings, oldest first. An invalid line is
// skipped; the error gives its number, and the other readings are returned with it.
func (h History) Readings() (readings []Reading, err error) {
	for _, path := range []string{h.older(), h.Path} {
		number := 0
		if info, failure := os.Stat(path); failure == nil && !info.Mode().IsRegular() {
			err = errors.Join(err, fmt.Errorf("%s: %w: not a regular file", path, file.ErrForeign))
			continue
		}
		_, failure := file.ReadLog(path, entries(func(line []byte) {
			number++
			var e entry
			switch bad := json.Unmarshal(line, &e); {
			case bad != nil:
				err = errors.Join(err, fmt.Errorf("%s:%d: not a reading: %w", path, number, bad))
			case e.Yardstick == work && e.Machine == h.machine() && e.valid():
				readings = append(readings, e.Reading)
			}
		}))
		if !errors.Is(failure, fs.ErrNotExist) {
			err = errors.Join(err, failure)
		}
	}
	return readings, err
}

func (h History) older() string { return strings.TrimSuffix(h.Path, ".jsonl") + ".1.jsonl" }

func (h History) machine() string {
	sum := sha256.Sum256([]byte(h.Machine))
	return hex.EncodeToString(sum[:4])
}

func entries(read func(line []byte)) file.Lines {
	return file.Lines{
		Begin: `{"yardstick":`,
		Start: func(first []byte) error {
			var e entry
			if err := json.Unmarshal(first, &e); err != nil {
				return err
			}
			if e.Yardstick == "" {
				return errors.New("no yardstick is named")
			}
			return nil
		},
		Read: func(line []byte) error { read(line); return nil },
	}
}
