// Package session is the shared memory through which the owner of a policy and the clients
// on one GPU, processes under libdeft.so, communicate without a lock.
//
// It defines the layout of the region (byte for byte that of hook/src/session.h), the writer
// of each word, which processes are alive, and how either side is woken. It does not map a
// file of another version or size, or a plain file that other users could change or truncate
// (which would kill the process by a signal), and it checks a process id together with its
// start time.
//
// The owner writes one [Directive] per client: stop at the gate, synchronize every N
// launches, keep at most N in flight. A client follows directives only while the owner's
// heartbeat is recent.
//
//	s, err := session.Create(session.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	cmd := exec.Command("program")
//	cmd.ExtraFiles = []*os.File{s.File()}
//	cmd.Env = append(os.Environ(), "LD_PRELOAD=libdeft.so", s.Env(3))
//	cmd.Start()
//	for bell := s.Bell(); ; bell, _ = s.Wait(bell, 20*time.Millisecond) {
//		s.Beat()
//		for _, c := range s.Clients() {
//			s.Direct(c.Slot, session.Directive{Closed: c.Priority == 0 && urgent(s)})
//		}
//		for _, gone := range s.Reap() {
//			fmt.Println(gone.Name, gone.Launches)
//		}
//	}
package session
