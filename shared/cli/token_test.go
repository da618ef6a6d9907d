package cli

import (
	"strings"
	"testing"
)

// A variable that is set to nothing is a mistake, not the wish to serve everyone.
func TestEmptyTokenVariable(t *testing.T) {
	t.Setenv("HELLO_TOKEN", "")
	if _, err := Token(OSEnv(), "", "HELLO_TOKEN"); err == nil || !strings.Contains(err.Error(), "$HELLO_TOKEN is empty") {
		t.Errorf("got %v", err)
	}
	t.Setenv("HELLO_TOKEN", "secret")
	if token, err := Token(OSEnv(), "", "HELLO_TOKEN"); err != nil || token() != "secret" {
		t.Errorf("got %v", err)
	}
	if token, err := Token(OSEnv(), "", "NO_TOKEN_AT_ALL"); err != nil || token() != "" {
		t.Errorf("without the variable: %v", err)
	}
}
