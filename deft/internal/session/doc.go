// Package session is the shared memory through which the owner of a policy and
// the clients on one GPU, processes under libdeft.so, talk without a lock.
//
// It decides how the region is laid out (byte for byte that of
// hook/src/session.h), who may write which word, who is alive, and how either
// side is woken. It refuses to map what is no session of this version and
// size, a plain file that other users could change or, by truncating it, turn
// into a fatal signal, and to believe a process id without its start time.
//
// The owner writes one [Directive] for each client: stop at the gate,
// synchronize every so many launches, keep at most so many in flight. A client
// obeys while the owner is alive and beats; a dead owner's directives do not
// count.
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
