// Package tools holds the project's own checks and the tour; see its commands.
package tools
