package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// External data is read where the model says, and nowhere else.
func TestCheckExternal(t *testing.T) {
	message := func(to []byte, field protowire.Number, inside []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), inside)
	}
	whole := func(to []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), v)
	}
	model := func(location, offset, length string) []byte {
		w := message(whole(whole(nil, 1, 2), 2, uint64(Float32)), 8, []byte("w")) // dims, type, name
		for _, e := range [][2]string{{"location", location}, {"offset", offset}, {"length", length}} {
			w = message(w, 13, message(message(nil, 1, []byte(e[0])), 2, []byte(e[1])))
		}
		return message(nil, 7, message(nil, 5, whole(w, 14, 1)))
	}
	outside := t.TempDir()
	dir := filepath.Join(outside, "model")
	path := filepath.Join(dir, "m.onnx")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m.bin", "model/m.bin", "model/sub/m.bin"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte("before12345678after"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out.bin": "../m.bin", "way": outside, "in.bin": "sub/m.bin"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, location, offset string
		want                   error
	}{
		{"beside", "m.bin", "6", nil},
		{"above", "../m.bin", "6", ErrWeights},
		{"absolute", filepath.Join(dir, "m.bin"), "6", ErrWeights},
		{"a link outside", "out.bin", "6", ErrWeights},
		{"through a linked directory", "way/m.bin", "6", ErrWeights},
		{"down and up", "sub/../../m.bin", "6", ErrWeights},
		{"a link inside", "in.bin", "6", nil},
		{"in a directory below", "sub/m.bin", "6", nil},
		{"a directory", "sub", "6", ErrWeights},
		{"a pipe", "pipe", "6", ErrWeights},
		{"a device", "/dev/zero", "6", ErrWeights},
		{"none", "", "6", ErrWeights},
		{"missing", "none.bin", "6", ErrWeights},
		{"no number", "m.bin", "six", ErrSyntax},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, model(tt.location, tt.offset, "8"), 0o644); err != nil {
				t.Fatal(err)
			}
			m, err := ReadFile(path)
			if err == nil {
				err = CheckExternal(path, m)
			}
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
		})
	}
}
