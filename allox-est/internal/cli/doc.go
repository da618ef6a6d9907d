// Package cli holds the commands of allox-est, one file each. It reads flags and
// prints tables, JSON and progress; the domain packages compute the results.
package cli
