package provision

import (
	"errors"
	"testing"

	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// TestDoubts: what hides the queue or will never start is said, once each.
func TestDoubts(t *testing.T) {
	for text, want := range map[string]bool{"none": false, "accounts,jobs,users": true, "usage": false, "jobs": true} {
		k, err := slurmview.ParseController([]byte("AccountingStorageType = (null)\nMessageTimeout = 1 sec\nMinJobAge = 1 sec\nPrivateData             = " + text + "\n"))
		if err != nil || k.Private != want {
			t.Errorf("PrivateData = %s: %v, %v", text, k.Private, err)
		}
	}
	var warned []error
	p := &Provisioner{doubted: map[string]bool{}, s: Settings{Request: Request{Nodes: 50}, Warn: func(err error) { warned = append(warned, err) }}}
	for range 2 {
		p.doubt(slurmview.ErrPrivate)
		_ = p.stuck(&Link{Number: 1}, &slurmview.Job{ID: 7, State: "PENDING", Reason: "Resources"})
		_ = p.stuck(&Link{Number: 1}, &slurmview.Job{ID: 7, State: "RUNNING", Reason: "BadConstraints"})
		if err := p.stuck(&Link{Number: 1}, &slurmview.Job{ID: 7, State: "PENDING", Reason: "PartitionTimeLimit"}); err != nil {
			t.Error(err)
		}
	}
	if len(warned) != 2 || !errors.Is(warned[0], slurmview.ErrPrivate) || !errors.Is(warned[1], ErrNeverStarts) {
		t.Errorf("%v", warned)
	}
}
