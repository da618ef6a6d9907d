// Package daemon is the long-lived owner of a session that any program of the
// user joins: it applies a policy, which may be changed while programs run.
//
// It decides where a session of a name lies, that it has one owner at a time,
// that an owner which was killed is followed by another on the same session,
// and when an owner that nobody needs ends. It refuses a folder that other
// users can write to, and a second owner.
//
//	at, err := daemon.At("/dev/shm/deft-1000", "sim")
//	if err != nil {
//		return err
//	}
//	d, err := daemon.Start(at, daemon.Settings{Policy: "priority", Linger: 10 * time.Second})
//	if err != nil {
//		return err
//	}
//	return d.Run(ctx) // until ctx is done, a client asks it to stop, or nobody is left
package daemon
