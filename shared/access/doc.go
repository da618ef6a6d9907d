// Package access names, observes and authorises the requests to an HTTP service.
//
//	r := chi.NewRouter()
//	log := access.Log{Now: time.Now, Done: show, Fail: fail}
//	r.Use(log.Handler)
//	r.With(access.Bearer(token, refuse)).Get("/answer", answer)
//
// It writes no log itself: the command that serves receives each finished [Request].
package access
