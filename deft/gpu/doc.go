// Package gpu carries the client of a real GPU: run_model.py, which runs one
// torchvision model with random weights as Deft's own client did, without a
// patched torchvision, without downloads; and checks.py, which runs the checks of
// README.md.
//
// It refuses to know where Python or PyTorch are: that is the caller's
// environment. README.md holds the commands that check the hook on a GPU.
//
//	folder := filepath.Join(scratch, "gpu")
//	if err := os.CopyFS(folder, gpu.Files); err != nil {
//		return err
//	}
//	job := exec.Command("python3", filepath.Join(folder, "run_model.py"), "model.json", "0", "90", "--sync-model-load")
package gpu
