// Package httpapi is edgeprof as an HTTP service: the original's POST /api/profiling, and
// an API that ranks all devices for a model file with intervals and reasons, and
// writes the manifest that places the model.
//
// It limits the cost of each request (bytes, time, concurrent uploads), reads the source of
// devices once for all requests that wait, and replaces the model between two requests. Every
// error is a problem document (RFC 9457) that names the invalid fields; without a fresh device
// there is no answer. The package does not log: it reports requests through
// [Settings.Observe].
//
// At / is a page for browsers: plain HTML, CSS and JavaScript, embedded without a build
// step. Its headers forbid the browser to load anything from elsewhere.
//
//	service, err := httpapi.New(httpapi.Settings{Devices: devices, Load: load, Now: time.Now})
//	if err != nil {
//		return err
//	}
//	return http.ListenAndServe(":7001", service.Handler())
package httpapi
