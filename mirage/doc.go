// Package mirage will decide when a service that outlives a batch queue's time limit
// submits its successor. Nothing is built yet.
package mirage
