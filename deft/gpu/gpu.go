package gpu

import "embed"

// Files are run_model.py, checks.py and pair.json, the experiment of two
// detectors: os.CopyFS puts them where Python finds them.
//
//go:embed run_model.py checks.py pair.json
var Files embed.FS
