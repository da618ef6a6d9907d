package cli

import "testing"

// TestSeal: the digest of a validation changes with its content, not with its layout.
func TestSeal(t *testing.T) {
	own, err := seal([]byte(`{"model":"futures","cost_hours":{"mean":1.50},"log":"a<b"}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, same := range map[string]bool{
		`{"doubt":"half of the log is unread", "log":"a\u003cb", "model":"futures","cost_hours":{ "mean":1.50},"sha256":"00"}`: true,
		`{"model":"avg","cost_hours":{"mean":1.50},"log":"a<b"}`:                                                               false,
		`{"model":"futures","cost_hours":{"mean":1.51},"log":"a<b"}`:                                                           false,
		`{"model":"futures","cost_hours":{"mean":1.50},"log":"a<b","MODEL":"avg"}`:                                             false,
		`{"model":"futures","cost_hours":{"mean":1.50},"log":"a<b","overlap_cost":7.0}`:                                        false,
	} {
		if got, err := seal([]byte(text)); err != nil || (got == own) != same {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
