// Package supervisor applies a policy to the live clients of a session: it converts their
// slots into the input of package policy, and the policy's directives into gates.
//
// It runs the policy at every ring of the session's doorbell, at the time that the policy
// named, and every 20 ms in any case, which is also its heartbeat to the clients. A client
// that the settings do not name gets the terms of its slot. Device time that the driver does
// not report is that of the finished kernels, if their times are known, or else the hook's
// estimate.
package supervisor
