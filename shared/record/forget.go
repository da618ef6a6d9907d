package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// Forget removes the predictions of a tool under a key, and their outcomes, and
// returns the number of predictions. The key is the original text, its hash, or the
// name of a question, which selects all of its predictions.
func (b *Book) Forget(tool, key string) (int, error) {
	return b.drop(func(e Entry) bool {
		return e.Tool == tool && (e.Of == key || e.Key == key || e.Key == hashKey(key))
	})
}

// Reset removes all predictions of a tool and returns their number.
func (b *Book) Reset(tool string) (int, error) {
	return b.drop(func(e Entry) bool { return e.Tool == tool })
}

// drop removes the lines of entries. Lines that cannot be parsed are kept.
func (b *Book) drop(goes func(Entry) bool) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := os.Stat(b.Path); b.Path == "" || errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	f, err := b.lock()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b.moveAside()
	text, err := os.ReadFile(b.Path)
	if err != nil {
		return 0, err
	}
	var rest []byte
	for l := range bytes.Lines(text) {
		var e line
		if new(state).add(l) == ours && json.Unmarshal(l, &e) == nil && goes(e.Entry) {
			if e.Foretime == prediction {
				n++
			}
			continue
		}
		rest = append(rest, l...)
	}
	if n == 0 {
		return 0, nil
	}
	return n, b.replace(rest)
}

// Entries returns the predictions of a tool that are open or among the last 50
// outcomes of their question, by question.
func (b *Book) Entries(tool string) []Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh()
	var all []Entry
	for _, q := range b.known.order {
		if q.Tool != tool {
			continue
		}
		all = append(all, b.known.questions[q].recent...)
		for _, e := range b.known.open {
			if e.Question == q {
				all = append(all, e)
			}
		}
	}
	return all
}
