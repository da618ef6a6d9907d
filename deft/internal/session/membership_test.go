package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Every variable but the weight is set, or one of an outer program would count.
func TestEnviron(t *testing.T) {
	want := []string{"DEFT_SESSION=s", "DEFT_NAME=", "DEFT_GANG=", "DEFT_PRIORITY=0", "DEFT_SLO_MS=0", "DEFT_MEMORY_QUOTA=0"}
	if diff := cmp.Diff(want, Membership{Session: "s"}.Environ()); diff != "" {
		t.Error(diff)
	}
	full := Membership{Session: "s", Name: "n", Priority: -2, Weight: 3, Gang: "g", Deadline: 50 * time.Millisecond, MemoryQuota: 1 << 40}
	want = []string{"DEFT_SESSION=s", "DEFT_NAME=n", "DEFT_GANG=g", "DEFT_PRIORITY=-2", "DEFT_SLO_MS=50", "DEFT_MEMORY_QUOTA=1099511627776", "DEFT_WEIGHT=3"}
	if diff := cmp.Diff(want, full.Environ()); diff != "" {
		t.Error(diff)
	}
}
