//go:build !race

package model

import "testing"

// TestNetworks is not for the race detector: it brings checkptr along, which
// the networks' backend does not pass.
func TestNetworks(t *testing.T) { trainAndReload(t, MLP, MoE, Transformer) }
