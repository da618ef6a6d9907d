package cli

import (
	"testing"

	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// The help of each command fits in a head, and the program takes its examples.
func TestExamples(t *testing.T) { scripttest.Examples(t, New) }
