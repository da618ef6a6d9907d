// Package gpu embeds the Python programs for a real GPU: run_model.py runs one torchvision
// model with random weights as Deft's own client did, without a patched torchvision and
// without downloads; checks.py runs the checks of README.md.
//
// The caller provides Python and PyTorch. README.md lists the commands that check the hook
// on a GPU.
//
//	dir := filepath.Join(scratch, "gpu")
//	if err := os.CopyFS(dir, gpu.Files); err != nil {
//		return err
//	}
//	job := exec.Command("python3", filepath.Join(dir, "run_model.py"), "model.json", "0", "90", "--sync-model-load")
package gpu
