// Package workspace finds the modules of the project and their directories in
// go.work.
package workspace
