package device

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/file"
)

// File is a JSON list of devices, read again at each call.
type File struct{ Path string }

var _ Source = File{}

// Devices reads the file. A device that cannot be right is excluded with its
// reason; unknown keys, names that come twice and text that is no JSON are
// errors.
func (f File) Devices(context.Context) ([]Device, []Exclusion, error) {
	data, err := file.ReadAll(f.Path)
	if err != nil {
		return nil, nil, err
	}
	var all []Device
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		line := 1 + bytes.Count(data[:min(int64(len(data)), d.InputOffset())], []byte("\n"))
		return nil, nil, fmt.Errorf("%s:%d: %w", f.Path, line, err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return nil, nil, fmt.Errorf("%s: %w: more text after the list of devices", f.Path, ErrInvalid)
	}
	var used []Device
	var excluded []Exclusion
	seen := map[string]bool{}
	for _, dev := range all {
		if seen[dev.Node] && dev.Node != "" {
			return nil, nil, fmt.Errorf("%s: %w: node %s is listed twice", f.Path, ErrInvalid, dev.Node)
		}
		seen[dev.Node] = true
		if err := dev.Check(); err != nil {
			excluded = append(excluded, Exclusion{dev.Node, err.Error()})
			continue
		}
		used = append(used, dev)
	}
	slices.SortFunc(used, func(a, b Device) int { return strings.Compare(a.Node, b.Node) })
	return used, excluded, nil
}
