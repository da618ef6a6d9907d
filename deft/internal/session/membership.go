package session

import (
	"strconv"
	"time"
)

// Membership holds the settings with which a program joins a session. A zero field is left
// to the hook's default.
type Membership struct {
	Session     string // path of the session
	Name        string
	Priority    int
	Weight      int
	Gang        string
	Deadline    time.Duration // of a job
	MemoryQuota uint64        // bytes on each device
}

// Environ returns the variables that the hook reads.
func (m Membership) Environ() []string {
	environ := []string{"DEFT_SESSION=" + m.Session, "DEFT_NAME=" + m.Name, "DEFT_GANG=" + m.Gang, "DEFT_PRIORITY=" + strconv.Itoa(m.Priority)}
	set := func(name string, value uint64) {
		if value > 0 {
			environ = append(environ, name+"="+strconv.FormatUint(value, 10))
		}
	}
	set("DEFT_WEIGHT", uint64(max(0, m.Weight)))
	set("DEFT_SLO_MS", uint64(m.Deadline.Milliseconds()))
	set("DEFT_MEMORY_QUOTA", m.MemoryQuota)
	return environ
}
