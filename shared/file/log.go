package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Errors returned when a log cannot be used.
var (
	ErrInUse   = errors.New("in use by another process") // the lock is held
	ErrForeign = errors.New("not a log of this kind")    // the first line, or the file, is of another kind
	ErrBroken  = errors.New("an earlier line could not be written")
)

// Lines holds the caller's handlers of a log's lines. Lines are passed without
// their ends (a line feed, or a carriage return and a line feed); empty lines are
// passed too, so callers can count line numbers.
type Lines struct {
	// Start returns an error if the first line does not belong to a log of the
	// caller. The file is then unchanged, and the error is wrapped with
	// [ErrForeign]. Nil accepts any first line.
	Start func(first []byte) error
	// Begin is the text that every first line begins with, such as {"at": for a log
	// of JSON. A file without a whole line is truncated if it agrees with Begin as
	// far as both go: its first line was never finished. If Begin is empty, such a
	// file is not a log of the caller.
	Begin string
	// Read is called with each whole line, the first included. An error ends the
	// reading, leaves the file unchanged, and is wrapped with file and line. Read
	// must not keep the slice. Nil ignores the lines.
	Read func(line []byte) error
}

// Log is a file to which one process at a time appends whole lines. It is not safe
// for concurrent use.
type Log struct {
	// Torn is the number of bytes of an unfinished last line that were cut off.
	Torn int
	// Unlocked is a warning that wraps [ErrNoLocks], if the log could not be
	// locked.
	Unlocked error

	file   *os.File
	end    int64
	broken bool
}

// OpenLog reads a log and opens it to append; it creates a file that does not
// exist. A line without its end, left by a process that was killed, is cut off.
// While another process has the log open, OpenLog waits a second; the error then
// wraps [ErrInUse]. For a file that is not a log of the caller, or has no whole
// line, the error wraps [ErrForeign] and the file is unchanged.
func OpenLog(path string, l Lines) (*Log, error) {
	f, made, unlocked, err := open(path)
	if err != nil {
		return nil, err
	}
	log, err := start(f, l)
	if err == nil && made {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	log.Unlocked = unlocked
	return log, nil
}

// open opens a regular file for one process, and reports whether it created it. A
// file system without locks is no error.
func open(path string) (f *os.File, made bool, unlocked, err error) {
	err = checkRegular(path)
	if errors.Is(err, ErrNotRegular) {
		return nil, false, nil, foreign(err)
	}
	made = errors.Is(err, os.ErrNotExist)
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, false, nil, err
	}
	err = Lock(f, time.Second)
	if errors.Is(err, ErrNoLocks) {
		return f, made, err, nil
	} else if err != nil {
		f.Close()
		return nil, false, nil, err
	}
	return f, made, nil, nil
}

// foreign says of what is no regular file that it is no log either.
func foreign(err error) error {
	if errors.Is(err, ErrNotRegular) {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return err
}

func start(f *os.File, l Lines) (*Log, error) {
	torn, end, err := read(f, f.Name(), l)
	if err != nil {
		return nil, err
	}
	if torn > 0 {
		if err := f.Truncate(end); err != nil {
			return nil, err
		}
	}
	_, err = f.Seek(end, io.SeekStart)
	return &Log{Torn: torn, file: f, end: end}, err
}

// ReadLog reads a log that another process may have open, and changes nothing. Torn
// is the number of bytes of an unfinished last line, which it skips. The error
// wraps [ErrForeign] for a file that is not a log of the caller.
func ReadLog(path string, l Lines) (torn int, err error) {
	f, err := OpenRegular(path)
	if err != nil {
		return 0, foreign(err)
	}
	defer f.Close()
	torn, _, err = read(f, path, l)
	return torn, err
}

// read passes all whole lines to the caller; end is the offset after the last one.
func read(r io.Reader, path string, l Lines) (torn int, end int64, err error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return 0, 0, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if len(whole) == 0 && len(data) > 0 && !l.begun(data) {
		return 0, 0, fmt.Errorf("%s: %w: no whole line in %d bytes", path, ErrForeign, len(data))
	}
	number := 0
	for line := range bytes.Lines(whole) {
		number++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if number == 1 && l.Start != nil {
			if err := l.Start(line); err != nil {
				return 0, 0, fmt.Errorf("%s: %w: %w", path, ErrForeign, err)
			}
		}
		if l.Read == nil {
			continue
		}
		if err := l.Read(line); err != nil {
			return 0, 0, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	return len(data) - len(whole), int64(len(whole)), nil
}

// begun reports whether bytes may be the beginning of a log's first line.
func (l *Lines) begun(data []byte) bool {
	n := min(len(data), len(l.Begin))
	return n > 0 && string(data[:n]) == l.Begin[:n]
}

// Append adds a line, or several with line feeds between them, in one write, and
// returns when it is on the disk. It adds a missing final line feed. A failed write
// is taken back; if that fails too, the error of every further Append wraps
// [ErrBroken].
func (l *Log) Append(line []byte) error {
	if l.broken {
		return fmt.Errorf("%s: %w", l.file.Name(), ErrBroken)
	}
	line = append(bytes.TrimSuffix(line[:len(line):len(line)], []byte("\n")), '\n')
	_, err := l.file.Write(line)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(err, l.takeBack())
	}
	l.end += int64(len(line))
	return nil
}

// takeBack truncates what a failed Append may have left.
func (l *Log) takeBack() error {
	err := l.file.Truncate(l.end)
	if err == nil {
		_, err = l.file.Seek(l.end, io.SeekStart)
	}
	l.broken = err != nil
	return err
}

// AppendJSON adds a value as one line of JSON.
func (l *Log) AppendJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", l.file.Name(), err)
	}
	return l.Append(line)
}

// Close releases the log.
func (l *Log) Close() error { return l.file.Close() }

// syncDirectory syncs the entries of a directory to the disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
