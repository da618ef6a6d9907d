// Package gpu embeds the Python program for a real GPU: run_model.py runs one torchvision
// model with random weights as Deft's own client did, without a patched torchvision and
// without downloads. The caller provides Python and PyTorch.
//
// The checks of README.md, checks.py, are run from a checkout.
//
//	script := filepath.Join(scratch, "run_model.py")
//	if err := os.WriteFile(script, gpu.RunModel, 0o600); err != nil {
//		return err
//	}
//	job := exec.Command("python3", script, "model.json", "0", "90", "--sync-model-load")
package gpu
