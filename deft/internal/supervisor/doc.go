// Package supervisor applies a policy to the live clients of a session: it converts their
// slots into the input of package policy, and the policy's directives into gates.
//
// It runs the policy at every ring of the session's doorbell, at the time that the policy
// named, and every 20 ms in any case, which is also its heartbeat to the clients. A client
// that the settings do not name gets the terms of its slot. Device time that the driver does
// not report is that of the finished kernels, if their times are known, or else the hook's
// estimate.
//
//	s, err := session.Create(session.Options{JobMode: session.JobMarked})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	v := supervisor.New(s, policy.NewPriority(policy.Settings{}), supervisor.Settings{})
//	// start the clients, then:
//	v.Begin()
//	v.Run(ctx) // until ctx is done
//	for name, c := range v.Totals() {
//		fmt.Println(name, c.Launches, c.Syncs, c.Stall)
//	}
package supervisor
