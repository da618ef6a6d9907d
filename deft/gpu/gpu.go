package gpu

import "embed"

// Files holds run_model.py, checks.py and input.json, the experiment of two detectors.
// os.CopyFS writes them to a directory from which Python runs them.
//
//go:embed run_model.py checks.py input.json
var Files embed.FS
