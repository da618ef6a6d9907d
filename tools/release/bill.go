package release

import (
	"debug/buildinfo"
	"fmt"
)

// Bill is a program's bill of materials, a subset of CycloneDX 1.5
// (https://cyclonedx.org/docs/1.5/json/).
type Bill struct {
	BOMFormat   string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    Metadata    `json:"metadata"`
	Components  []Component `json:"components"`
}

// Metadata names the subject of a bill.
type Metadata struct {
	Component Component `json:"component"`
}

// Component is a program, or a module that it contains.
type Component struct {
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	PURL     string    `json:"purl"`
	Licences []Granted `json:"licenses,omitempty"`
}

// Granted is an SPDX expression.
type Granted struct {
	Expression string `json:"expression"`
}

// ReadBill returns the bill of materials of a Go program: the modules that it
// contains, Go's standard library included.
func ReadBill(program, version string, licences map[string]Licence) (*Bill, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	component := func(kind, path, version string) Component {
		c := Component{Type: kind, Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
		if l, ok := licences[path]; ok {
			c.Licences = []Granted{{l.ID}}
		}
		return c
	}
	b := &Bill{BOMFormat: "CycloneDX", SpecVersion: "1.5", Version: 1}
	b.Metadata.Component = component("application", info.Path, version)
	b.Components = []Component{component("library", "std", info.GoVersion)}
	for _, m := range info.Deps {
		b.Components = append(b.Components, component("library", m.Path, m.Version))
	}
	return b, nil
}
