// Package suite runs the project's Go tests and says in one line how they
// ended: passed, failed, and skipped, each skipped test by name with what it
// lacked. It refuses to call a run without tests a success.
package suite
