package gpu

import "embed"

// Files are run_model.py, checks.py and input.json, the experiment of two
// detectors: os.CopyFS puts them where Python finds them.
//
//go:embed run_model.py checks.py input.json
var Files embed.FS
