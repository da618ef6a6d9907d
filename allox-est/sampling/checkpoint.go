package sampling

import (
	"fmt"
	"os"

	"github.com/foretime/foretime/allox-est/journal"
)

// checkpoint makes the folder for a run's checkpoints; empty where the job keeps
// none.
func (s *Sampler) checkpoint(step Step) (string, error) {
	if !s.Spec.KeepsCheckpoints() {
		return "", nil
	}
	if err := os.MkdirAll(s.Checkpoints, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(s.Checkpoints, fmt.Sprintf("%s-%s-%d-", s.Spec.Name, step.Device, step.Epochs))
}

// keep keeps the checkpoint of a sample in place of those of shorter ones.
func (s *Sampler) keep(run *journal.Run, checkpoint string) error {
	if left, err := os.ReadDir(checkpoint); err != nil || len(left) == 0 || run.Kind != journal.Sample {
		return os.RemoveAll(checkpoint)
	}
	before := Resumable(s.Journal.Of(s.key(run.Device), journal.Sample))
	if before != nil && before.Epochs > run.Epochs {
		return os.RemoveAll(checkpoint)
	}
	run.Checkpoint = checkpoint
	if before == nil {
		return nil
	}
	return os.RemoveAll(before.Checkpoint)
}

// Resumable is the longest of the runs whose checkpoint is there; nil if none is.
func Resumable(runs []journal.Run) *journal.Run {
	var best *journal.Run
	for i, r := range runs {
		if r.Checkpoint == "" || best != nil && best.Epochs >= r.Epochs {
			continue
		}
		if _, err := os.Stat(r.Checkpoint); err == nil {
			best = &runs[i]
		}
	}
	return best
}
