package cli

import "github.com/foretime/foretime/edgeprof/internal/prediction"

// BuiltinRates returns the built-in rates, for tests in cli_test.
func BuiltinRates() ([]byte, error) {
	_, data, err := (&prediction.Catalog{Builtin: builtin}).Content("")
	return data, err
}
