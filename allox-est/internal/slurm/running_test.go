package slurm

import (
	"errors"
	"testing"
	"time"
)

// The records are as scontrol of Slurm 22.05 prints them, shortened.
func TestParseRunning(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Running
		bad  bool
	}{
		{"JobId=12 JobName=train a net UserId=ann(1000) JobState=RUNNING Reason=None Dependency=(null) RunTime=1-02:03:04 TimeLimit=2-00:00:00 StartTime=2031-06-12T10:00:00 StdErr=/home/ann/my logs/slurm-12.out StdOut=/home/ann/my logs/slurm-12.out Power=\n",
			Running{"RUNNING", "/home/ann/my logs/slurm-12.out", 26*time.Hour + 3*time.Minute + 4*time.Second, 48 * time.Hour}, false},
		{"JobId=12 JobState=PENDING RunTime=00:00:00 TimeLimit=UNLIMITED StdOut=/x", Running{"PENDING", "/x", 0, 0}, false},
		{"JobId=12 JobState=RUNNING RunTime=00:01 TimeLimit=UNLIMITED", Running{}, true},
		{"", Running{}, true},
	} {
		got, err := parseRunning(tt.text)
		if tt.bad != errors.Is(err, ErrSlurm) || !tt.bad && got != tt.want {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
	}
}
