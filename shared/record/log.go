package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/plural"
)

// Kinds of lines.
const (
	prediction  = "prediction"
	outcomeKind = "outcome"
	version     = 1
)

// line is a line of the log: an entry, or the [outcome] of an earlier one.
type line struct {
	Foretime string `json:"foretime"`    // prediction or outcome
	Version  int    `json:"v,omitempty"` // 0 is 1
	Entry
	Made time.Time `json:"made,omitzero"` // of an outcome
}

// outcome is a line that a later reader joins to its entry.
type outcome struct {
	Foretime string `json:"foretime"`
	Question
	Key     string    `json:"key"`
	At      time.Time `json:"at"`
	Made    time.Time `json:"made"` // when the prediction was made
	Outcome float64   `json:"outcome"`
}

// kind says who can read a line of the log.
type kind int

const (
	ours  kind = iota
	newer      // a later version of the tools: the line is kept
	bad        // nobody
)

// add parses a line and adds it to the state.
func (s *state) add(text []byte) kind {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return unreadable(text)
	}
	switch {
	case l.Foretime == "":
		return bad
	case l.Version > version || l.Foretime != prediction && l.Foretime != outcomeKind:
		return newer
	case l.Key == "" || l.At.IsZero():
		return bad
	case l.Foretime == prediction:
		if !(l.Factor > 0) || math.IsInf(l.Factor, 0) {
			return bad
		}
		s.addPrediction(l.Entry)
	case l.Outcome == nil || checkOutcome(*l.Outcome) != nil:
		return bad
	default:
		s.addOutcome(l)
	}
	return ours
}

// unreadable returns the kind of a line with unknown fields.
func unreadable(text []byte) kind {
	var head struct {
		Foretime string `json:"foretime"`
		Version  int    `json:"v"`
	}
	if json.Unmarshal(text, &head) == nil && (head.Version > version || head.Foretime != "" && head.Foretime != prediction && head.Foretime != outcomeKind) {
		return newer
	}
	return bad
}

// place is the position up to which a file was read.
type place struct {
	file os.FileInfo // nil if no file was read
	end  int64
}

// refresh reads the lines added to the file since the last call, and moves
// unreadable lines aside.
func (b *Book) refresh() {
	if b.Path == "" {
		return
	}
	f, err := openRegular(b.Path, os.O_RDONLY)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.warnUnusable(err)
		} else if b.from.file != nil { // removed by its user
			b.known, b.from = state{}, place{}
		}
		return
	}
	defer f.Close()
	if damaged, err := b.read(f); err != nil {
		b.warnUnusable(err)
	} else if damaged {
		b.repair()
	}
}

// warnUnusable warns that the file cannot be used, once until it can be used again.
func (b *Book) warnUnusable(err error) {
	if !b.failed {
		b.failed = true
		b.warnings = append(b.warnings, fmt.Errorf("%w: nothing is kept on disk", err))
	}
}

// change reads the file's latest lines, then adds the lines that next returns to
// the file and to memory.
func (b *Book) change(next func() []any) {
	var f *os.File
	var err error
	if b.Path != "" {
		f, err = b.lock()
	}
	if f != nil {
		defer func() { f.Close() }()
		var damaged bool
		if damaged, err = b.read(f); err == nil && damaged {
			b.moveAside()
			f.Close()
			if f, err = b.lock(); err == nil {
				_, err = b.read(f)
			}
		}
	}
	var text []byte
	for _, l := range next() {
		one, encode := json.Marshal(l)
		if encode != nil {
			b.warn(encode)
			return
		}
		text = append(append(text, one...), '\n')
	}
	for l := range bytes.Lines(text) {
		b.known.add(l)
	}
	if f != nil && err == nil && len(text) > 0 {
		err = b.write(f, text)
	}
	if err != nil {
		b.warnUnusable(err)
		return
	}
	b.failed = false
}

// write adds lines at the end; a partly written line is taken back.
func (b *Book) write(f *os.File, text []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end := info.Size()
	if end > b.from.end { // an unfinished line that could not be moved aside
		text = append([]byte("\n"), text...)
	}
	if _, err = f.WriteAt(text, end); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	b.from.end = end + int64(len(text))
	return nil
}

// patience returns the time for which a book waits for the other users of its file, each of whom
// has the lock for one line: many, or a slow disk, take seconds. After an error it is short: a lock
// that nobody gives back takes a service so long once, and then a second for each answer.
func (b *Book) patience() time.Duration {
	if b.failed {
		return time.Second
	}
	return 15 * time.Second
}

// lock opens the file for this process alone, and creates it if it does not exist.
func (b *Book) lock() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return nil, err
	}
	for {
		f, err := openRegular(b.Path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		if err := file.Lock(f, b.patience()); errors.Is(err, file.ErrNoLocks) {
			b.warn(err)
		} else if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		held, err1 := f.Stat()
		now, err2 := os.Stat(b.Path)
		if err1 == nil && err2 == nil && os.SameFile(held, now) {
			return f, nil
		}
		f.Close() // another process moved lines aside meanwhile
	}
}

// openRegular opens a file that is no directory, device or pipe.
func openRegular(path string, flag int) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return os.OpenFile(path, flag, 0o600)
}

// read parses the whole lines after the last position. Damaged reports unreadable
// lines, or an end without a line feed.
func (b *Book) read(f *os.File) (damaged bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if b.from.file == nil || !os.SameFile(b.from.file, info) || info.Size() < b.from.end {
		b.known, b.from = state{}, place{file: info}
	}
	text, err := io.ReadAll(io.NewSectionReader(f, b.from.end, info.Size()-b.from.end))
	if err != nil {
		return false, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for l := range bytes.Lines(whole) {
		damaged = b.known.add(l) == bad || damaged
	}
	b.from.end += int64(len(whole))
	return damaged || len(whole) < len(text), nil
}

// repair moves unreadable lines aside. Without the lock, what looks damaged may be
// a line that another process is writing.
func (b *Book) repair() {
	f, err := b.lock()
	if err != nil {
		b.warnUnusable(err)
		return
	}
	defer f.Close()
	b.moveAside()
}

// moveAside moves the unreadable lines to a file of their own, Path with .bad, and
// reads the rest. The caller holds the lock.
func (b *Book) moveAside() {
	text, err := os.ReadFile(b.Path)
	if err != nil {
		b.warnUnusable(err)
		return
	}
	var good, aside []byte
	count := 0
	for l := range bytes.Lines(text) {
		if new(state).add(l) != bad && bytes.HasSuffix(l, []byte("\n")) {
			good = append(good, l...)
			continue
		}
		count++
		aside = append(append(aside, bytes.TrimSuffix(l, []byte("\n"))...), '\n')
	}
	if count == 0 {
		return
	}
	if err := errors.Join(addTo(b.Path+".bad", aside), b.replace(good)); err != nil {
		b.warn(fmt.Errorf("skipped %s that cannot be read: %w", plural.Count(count, "line"), err))
		return
	}
	b.warn(fmt.Errorf("%s: %s could not be read: moved to %s.bad", b.Path, plural.Count(count, "line"), filepath.Base(b.Path)))
}

func addTo(path string, text []byte) error {
	f, err := openRegular(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// replace rewrites the file with other lines.
func (b *Book) replace(text []byte) error {
	err := file.Write(b.Path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	b.known, b.from = state{}, place{}
	if err != nil {
		return err
	}
	f, err := openRegular(b.Path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = b.read(f)
	return err
}
