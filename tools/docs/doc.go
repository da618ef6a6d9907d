// Package docs finds what the project's documentation leaves out: an exported
// name without a comment, a package without a doc.go.
package docs
