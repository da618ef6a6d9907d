package cli

import (
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
		{"wait", Type{Kind: "object", Object: "Prediction", Fields: []Field{
			{"value", Type{Kind: "number"}}, {"low", Type{Kind: "number", Null: true}}, {"high", Type{Kind: "number", Null: true}}, {"level", Type{Kind: "number", Null: true}},
		}}},
		{"scale", Type{Kind: "text"}},
		{"more", Type{Kind: "object", Object: "whole", Null: true}},
		{"doubt", Type{Kind: "text", Null: true}},
	}}}
	if diff := cmp.Diff(want, describeAnswers(map[string]any{"": whole{hidden: 1}, "follow": nil})); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
}

// TestUndeclaredAnswer checks that an answer of a type that its command did not declare is
// a mistake of the program.
func TestUndeclaredAnswer(t *testing.T) {
	o := Output{answers: map[string]any{"": []removed{}, "list": recording{}}}
	o.checkDeclared(&recording{})
	o.checkDeclared(removed{}) // one of a list
	defer func() {
		if recover() == nil {
			t.Error("an undeclared type was accepted")
		}
	}()
	o.checkDeclared("text")
}
