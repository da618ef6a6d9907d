//go:build !race

package model

import "testing"

// TestMixture is not for the race detector: it brings checkptr along, which
// the network's backend does not pass.
func TestMixture(t *testing.T) { trainAndReload(t, "moe") }
