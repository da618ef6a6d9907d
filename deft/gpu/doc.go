// Package gpu carries the client of a real GPU: run_model.py, which runs one
// torchvision model with random weights as Deft's own client did, without a
// patched torchvision, without downloads.
//
// It decides where the program lies: [Write] puts it into a cache folder, under
// a name that follows from its content. It refuses to know where Python or
// PyTorch are: that is the caller's environment. README.md holds the commands
// that check the hook on a GPU.
//
//	program, err := gpu.Write(cache)
//	if err != nil {
//		return err
//	}
//	job := exec.Command("python3", program, "model.json", "0", "90", "--sync-model-load")
package gpu
