// Package requests logs the requests to an HTTP service. It is apart from package cli,
// so commands that serve nothing do not contain a router.
package requests
