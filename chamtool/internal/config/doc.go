// Package config defines the tool's configuration: a list of environment variables, each
// with a default, and their values.
//
// A run never fails because of its configuration: an unusable value gives a warning that
// names the variable, and the default is used. The caller provides the lookup of variables.
package config
