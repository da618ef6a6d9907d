package cli

// BuiltinRates are for tests of other packages.
var BuiltinRates = builtinRates
