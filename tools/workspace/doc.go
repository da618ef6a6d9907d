// Package workspace says which modules the project has and where they lie.
//
// The list comes from go.work, so no other place has to repeat it.
package workspace
