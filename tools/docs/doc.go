// Package docs reads stored results. Its tests check the project's documentation:
// measured figures must be in a stored result, builds and tests in the docs must
// work as written, and texts must not use refused phrases.
package docs
