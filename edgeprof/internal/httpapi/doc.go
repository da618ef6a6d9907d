// Package httpapi is edgeprof as a service: the original's POST /api/profiling,
// and an API beside it that ranks all devices for a model's own file, with
// intervals and reasons, writes the manifest that places it, and splits it.
//
// It decides what each request may cost (bytes, time, uploads at once), asks the
// source of devices at most once per reading however many requests wait, and
// swaps a new model in between two requests. Every refusal is a problem document
// (RFC 9457) that names the fields at fault. It refuses to guess: no fresh
// device, no answer. It never logs; what happened comes back through
// [Settings.Observe].
//
// At / is a page for people: plain HTML, CSS and JavaScript, embedded as they are,
// without a build; its headers forbid the browser to load anything from elsewhere.
//
//	service, err := httpapi.New(httpapi.Settings{Devices: devices, Load: load, Now: time.Now})
//	if err != nil {
//		return err
//	}
//	return http.ListenAndServe(":7001", service.Handler())
package httpapi
