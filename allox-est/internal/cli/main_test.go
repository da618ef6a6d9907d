package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/foretime/foretime/shared/testkit/scripttest"
)

// TestMain makes the command a program that scripts execute: estimating starts
// jobs, and the example jobs are the command itself.
func TestMain(m *testing.M) { scripttest.Main(m, "allox-est", New, nil) }

// TestScripts runs testdata/script as a user types it.
func TestScripts(t *testing.T) { scripttest.Run(t, testscript.Params{}) }
