package python

import (
	"bytes"
	_ "embed"
)

//go:embed deft.py
var module []byte

// Module is deft.py.
func Module() []byte { return bytes.Clone(module) }
