// Package doctor tells whether libdeft sees what a program does on the GPU.
//
// It decides, from what the clients of a session did, on one verdict: launches
// were seen, or which of four reasons stands against it, loudly, with what
// would mend it. It refuses to take silence for health: a program of which the
// hook saw no launch is a failure, whatever the reason.
//
//	s, err := session.Create(session.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	cmd := exec.CommandContext(ctx, "python3", "train.py")
//	cmd.Env = append(os.Environ(), hook.Preload(lib, ""), doctor.JoinAtLoad, s.Env(3))
//	cmd.ExtraFiles = []*os.File{s.File()}
//	clients, err := doctor.Watch(s, cmd)
//	fmt.Println(doctor.Judge(clients).Verdict)
package doctor
