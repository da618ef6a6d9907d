package cli

// BuiltinRates returns the built-in rates, for tests in cli_test.
func BuiltinRates() []byte { return builtInRates }
