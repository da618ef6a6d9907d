package cli

import (
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/foretime/foretime/shared/uncertainty"
)

// Type describes the JSON of a Go type.
type Type struct {
	Kind   string  `json:"kind"`             // object, list, map, text, time, estimate, number, integer, boolean or any
	Object string  `json:"object,omitempty"` // name of the Go type of an object
	Null   bool    `json:"null,omitempty"`   // may be null or absent
	Item   *Type   `json:"item,omitempty"`   // of a list or map
	Fields []Field `json:"fields,omitempty"` // of an object; none below an object of its type
}

// Field describes a field of an object.
type Field struct {
	Name string `json:"name"`
	Type
}

// formed is a type with a MarshalJSON of its own. JSONForm returns a value whose type describes
// what that prints.
type formed interface{ JSONForm() any }

// describeAnswers describes the types of answers, without those that are nil. Each object may
// have a doubt, see [Env.Doubt].
func describeAnswers(answers map[string]any) map[string]Type {
	described := map[string]Type{}
	for flag, answer := range answers {
		if answer == nil {
			continue
		}
		t := jsonType(dereference(reflect.TypeOf(answer)), nil)
		if t.Kind == "object" {
			t.Fields = append(t.Fields, Field{"doubt", Type{Kind: "text", Null: true}})
		}
		described[flag] = t
	}
	return described
}

// jsonKinds maps kinds of Go's types to those of JSON; all others are integers.
var jsonKinds = map[reflect.Kind]string{
	reflect.Struct: "object", reflect.Slice: "list", reflect.Array: "list", reflect.Map: "map", reflect.String: "text",
	reflect.Bool: "boolean", reflect.Float32: "number", reflect.Float64: "number", reflect.Interface: "any",
}

// jsonType describes what encoding/json prints of a type, which is part of others.
func jsonType(t reflect.Type, of []reflect.Type) Type {
	if t.Kind() == reflect.Pointer {
		d := jsonType(t.Elem(), of)
		d.Null = true
		return d
	}
	switch zero := reflect.Zero(t).Interface().(type) {
	case uncertainty.Prediction:
		return Type{Kind: "estimate"}
	case formed:
		d := jsonType(reflect.TypeOf(zero.JSONForm()), of)
		d.Object = t.Name()
		return d
	case interface{ Zone() (string, int) }: // a time.Time, or a struct with one in it
		return Type{Kind: "time"}
	case encoding.TextMarshaler:
		return Type{Kind: "text"}
	}
	d := Type{Kind: cmp.Or(jsonKinds[t.Kind()], "integer")}
	switch d.Kind {
	case "object":
		d.Object = t.Name()
		if !slices.Contains(of, t) {
			d.Fields = jsonFields(t, append(of, t))
		}
	case "list", "map":
		item := jsonType(dereference(t.Elem()), of)
		d.Item = &item
	}
	return d
}

// jsonFields describes the fields of a struct, those of embedded structs among them. A text
// or number that is left out if it is zero may be null; so may all fields below a pointer.
func jsonFields(t reflect.Type, of []reflect.Type) (fields []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for _, inner := range jsonFields(dereference(f.Type), of) {
				inner.Null = inner.Null || f.Type.Kind() == reflect.Pointer
				fields = append(fields, inner)
			}
		case f.IsExported() && name != "-":
			d := jsonType(f.Type, of)
			d.Null = d.Null || strings.HasPrefix(options, "omit") && d.Kind != "boolean" && d.Kind != "list" && d.Kind != "map"
			fields = append(fields, Field{cmp.Or(name, f.Name), d})
		}
	}
	return fields
}

// dereference returns the type that a pointer points to; other types are unchanged.
func dereference(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
