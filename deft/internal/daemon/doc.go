// Package daemon is the long-lived owner of a session that any program of the user joins: it
// applies a policy, which can be changed while programs run.
//
// A named session has one owner at a time. A killed owner is followed by another on the same
// session; an owner ends when no program needs it. A directory that other users can write to
// ([ErrDirectory]) and a second owner ([ErrOwned]) are errors.
//
//	at, err := daemon.At("/dev/shm/deft-1000", "sim")
//	if err != nil {
//		return err
//	}
//	d, err := daemon.Start(at, daemon.Settings{Policy: "priority", Linger: 10 * time.Second})
//	if err != nil {
//		return err
//	}
//	return d.Run(ctx) // until ctx is done, a client stops it, or no program is left
package daemon
