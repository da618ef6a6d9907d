package slurm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// lines is a file of one JSON object per line, to which lines are only ever
// added. What follows the last line feed is a line that was never finished;
// opening the file cuts it off.
type lines struct {
	f    *os.File
	torn bool // a write failed half-way: nothing may follow it
}

func openLines[T any](path string, each func(line int, v T) error) (*lines, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	for i, text := range bytes.Split(b[:end], []byte("\n")) {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var v T
		err := json.Unmarshal(text, &v)
		if err == nil {
			err = each(i+1, v)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	if err = f.Truncate(int64(end)); err == nil {
		_, err = f.Seek(int64(end), io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &lines{f: f}, nil
}

// append writes a line; durable says that it must be on the disk on return.
func (l *lines) append(v any, durable bool) error {
	if l.torn {
		return fmt.Errorf("%s: an earlier line could not be written", l.f.Name())
	}
	b, err := marshalLine(v)
	if err != nil {
		return err
	}
	_, err = l.f.Write(b)
	if err == nil && durable {
		err = l.f.Sync()
	}
	l.torn = err != nil
	return err
}

func (l *lines) close() error { return l.f.Close() }
