// Package dataset reads and writes the tables of observations that the
// Foretime tools learn from.
package dataset
