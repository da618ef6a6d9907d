package diagnosis

import (
	"os/exec"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/shared/crash"
)

// JoinAtLoad makes every program under libdeft a client, including programs that never
// reach the driver.
const JoinAtLoad = "DEFT_JOIN=load"

// Watch runs cmd to its end in the session s, whose owner is this process, and returns all
// clients in the order in which they ended, then those that still run. It returns the error
// of cmd.
func Watch(s *session.Session, cmd *exec.Cmd) ([]session.Client, error) {
	var clients []session.Client
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	crash.Go(func() { ended <- cmd.Wait() })
	for bell := s.Bell(); ; bell, _ = s.Wait(bell, 20*time.Millisecond) {
		s.Beat()
		clients = append(clients, s.Reap()...)
		select {
		case err := <-ended:
			clients = append(clients, s.Reap()...)
			return append(clients, s.Clients()...), err
		default:
		}
	}
}
