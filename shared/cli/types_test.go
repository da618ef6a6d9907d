package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/shared/uncertainty"
)

// TestJSONType describes every kind of field, in the forms that encoding/json gives them.
func TestJSONType(t *testing.T) {
	type part struct {
		Share float64 `json:"share"`
	}
	type later struct{ time.Time }
	type whole struct {
		part
		*removed
		Name   string                 `json:"name,omitempty"`
		On     bool                   `json:"on,omitempty"`
		Rows   []*part                `json:"rows,omitempty"`
		By     map[string]int         `json:"by"`
		At     later                  `json:"at,omitzero"`
		Wait   uncertainty.Prediction `json:"wait"`
		Scale  uncertainty.Scale      `json:"scale"`
		More   *whole                 `json:"more"`
		Secret string                 `json:"-"`
		hidden int
	}
	object := Type{Kind: "object", Object: "part", Fields: []Field{{"share", Type{Kind: "number"}}}}
	want := map[string]Type{"": {Kind: "object", Object: "whole", Fields: []Field{
		{"share", Type{Kind: "number"}},
		{"removed", Type{Kind: "integer", Null: true}},
		{"name", Type{Kind: "text", Null: true}},
		{"on", Type{Kind: "boolean"}},
		{"rows", Type{Kind: "list", Item: &object}},
		{"by", Type{Kind: "map", Item: &Type{Kind: "integer"}}},
		{"at", Type{Kind: "time", Null: true}},
		{"wait", Type{Kind: "estimate"}},
		{"scale", Type{Kind: "text"}},
		{"more", Type{Kind: "object", Object: "whole", Null: true}},
		{"doubt", Type{Kind: "text", Null: true}},
	}}}
	if diff := cmp.Diff(want, describeAnswers(map[string]any{"": whole{hidden: 1}, "follow": nil})); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
}

// TestUndeclaredAnswer checks that a test fails where a command prints an answer of a type
// that it did not declare.
func TestUndeclaredAnswer(t *testing.T) {
	var stdout bytes.Buffer
	env := NewEnv(nil, &stdout, &stdout)
	o := Output{json: true, answers: map[string]any{"": []removed{}, "list": Field{}, "keep": nil}}
	for _, answer := range []any{&Field{}, removed{}} { // one of a list
		if err := o.Print(env, answer, nil); err != nil {
			t.Error(err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an undeclared type was accepted")
		}
	}()
	_ = o.Print(env, "text", nil) // it panics
}
