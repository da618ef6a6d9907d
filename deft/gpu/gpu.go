package gpu

import _ "embed"

// RunModel holds run_model.py, the program that runs a model.
//
//go:embed run_model.py
var RunModel []byte
