// Package supervisor applies a policy to the live clients of a session: it turns
// what their slots say into what package policy decides on, and its directives
// into gates.
//
// It decides when to look: at every ring of the session's doorbell, at the time
// that the policy named, and every 20 ms in any case, which is also its sign of
// life to the clients. It refuses to supervise a client it does not know:
// such a client has the terms of its slot. Device time that the driver does not
// tell is that of the kernels that are done, where their times are known; else it
// is the hook's estimate.
//
//	s, err := session.Create(session.Options{JobMode: session.JobMarked})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	v := supervisor.New(s, policy.Priority{}, supervisor.Settings{})
//	// start the clients, then:
//	v.Begin()
//	v.Run(ctx) // until ctx is done
//	for name, c := range v.Totals() {
//		fmt.Println(name, c.Launches, c.Syncs, c.Stall)
//	}
package supervisor
