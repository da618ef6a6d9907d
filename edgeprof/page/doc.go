// Package page is what a person sees of the service: the devices with their load
// now, and a place to drop a model, which answers with the ranking, its
// intervals and its reasons.
//
// It is plain HTML, CSS and JavaScript, embedded as it is: no build, and nothing
// loaded from elsewhere, which its headers forbid to the browser too. It decides
// nothing; every number comes from the API beside it.
//
//	http.ListenAndServe(":7001", page.Handler())
package page
