// Package docs finds what the project's documentation leaves out: an exported
// name without a comment, a package without a doc.go, a measured figure that no
// stored result holds; and a build or a test that it tells people to type and that
// cannot work.
package docs
