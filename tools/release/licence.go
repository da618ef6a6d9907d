package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Licence is the licence of a module.
type Licence struct {
	ID       string // SPDX identifier
	Text     string // text of all its licence files
	Indirect bool   // only other modules use it
}

// ErrLicence is returned when a module has no known licence.
var ErrLicence = errors.New("no known licence")

// Licences returns, by path, the licences of the third-party modules that packages
// of the module in dir, or their tests, use.
func Licences(ctx context.Context, dir string) (map[string]Licence, error) {
	list := command{dir: dir, name: "go", env: []string{"GOWORK=off"}}
	out, err := list.run(ctx, "list", "-deps", "-test", "-json=Module", "./...")
	if err != nil {
		return nil, err
	}
	licences := map[string]Licence{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				Path, Dir string
				Indirect  bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return licences, nil
		} else if err != nil {
			return nil, fmt.Errorf("what go list printed: %w", err)
		}
		if p.Module == nil || strings.HasPrefix(p.Module.Path, prefix) {
			continue
		}
		if _, known := licences[p.Module.Path]; known {
			continue
		}
		l, err := licenceIn(p.Module.Dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Module.Path, err)
		}
		l.Indirect = p.Module.Indirect
		licences[p.Module.Path] = l
	}
}

// licenceIn reads the licence files at the root of a module.
func licenceIn(dir string) (l Licence, err error) {
	for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "NOTICE*", "licenses/*"} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is well formed
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return l, err
			}
			l.Text += string(text) + "\n"
		}
	}
	l.ID = identifier(l.Text)
	if l.ID == "" {
		return l, fmt.Errorf("%s: %w", dir, ErrLicence)
	}
	return l, nil
}

// identifier recognises licences by sentences that only they contain; several are
// joined with AND, "" is none.
func identifier(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), ",", "")
	var found []string
	for _, l := range []struct{ id, sentence, without string }{
		{"Apache-2.0", "Apache License Version 2.0", ""},
		{"BSD-2-Clause", "Redistributions in binary form must reproduce", "Neither the name"},
		{"BSD-3-Clause", "Neither the name", ""},
		{"CC-BY-4.0", "Creative Commons Attribution 4.0", ""},
		{"FTL OR GPL-2.0-or-later", "choice of exactly one of the following two licenses", ""},
		{"ISC", "Permission to use, copy modify and/or distribute", ""},
		{"MIT", "Permission is hereby granted free of charge", ""},
		{"MPL-2.0", "Mozilla Public License Version 2.0", ""},
		{"OFL-1.1", "SIL OPEN FONT LICENSE", ""},
	} {
		if strings.Contains(text, l.sentence) && (l.without == "" || !strings.Contains(text, l.without)) {
			found = append(found, l.id)
		}
	}
	return strings.Join(found, " AND ")
}
