package session

import (
	"strconv"
	"time"
)

// Membership holds the settings with which a program joins a session.
type Membership struct {
	Session     string // path of the session
	Name        string
	Priority    int
	Weight      int // 0: that of the environment, or 1
	Gang        string
	Deadline    time.Duration // of a job; 0 none
	MemoryQuota uint64        // bytes on each device; 0 none
}

// Environ returns the variables that the hook reads. They replace those of a program in
// which deft exec itself runs.
func (m Membership) Environ() []string {
	environ := []string{
		"DEFT_SESSION=" + m.Session, "DEFT_NAME=" + m.Name, "DEFT_GANG=" + m.Gang, "DEFT_PRIORITY=" + strconv.Itoa(m.Priority),
		"DEFT_SLO_MS=" + strconv.FormatInt(m.Deadline.Milliseconds(), 10), "DEFT_MEMORY_QUOTA=" + strconv.FormatUint(m.MemoryQuota, 10),
	}
	if m.Weight > 0 {
		environ = append(environ, "DEFT_WEIGHT="+strconv.Itoa(m.Weight))
	}
	return environ
}
