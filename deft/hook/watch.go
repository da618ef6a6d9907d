package hook

import (
	"os/exec"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/shared/crash"
)

// JoinAtLoad is the setting that makes every program under libdeft a client,
// those included that never come to the driver.
const JoinAtLoad = "DEFT_JOIN=load"

// Watch runs cmd to its end in the session s, of which this process is the
// owner, and returns all clients there were, in the order in which they ended;
// those that still run come last. The error is that of cmd.
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
