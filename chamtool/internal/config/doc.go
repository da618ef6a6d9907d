// Package config is the tool's configuration: a list of environment variables,
// each with a default, and the values they were given.
//
// It decides that a run never fails over its configuration: an absurd value is
// a warning that names the variable, and the default stands. It refuses to read
// the environment itself: the caller gives the lookup.
package config
