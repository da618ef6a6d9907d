package tree

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
)

// plain is a decoded document as encoding/json would have it, but that null,
// true and false among numbers are the numbers they are read as.
func plain(v any) any {
	switch v := v.(type) {
	case doubles:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = x
			if math.IsNaN(x) {
				list[i] = nil
			}
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = plain(x)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, x := range v {
			object[name] = plain(x)
		}
		return object
	}
	return v
}

// numeric has true and false as 1 and 0 in lists of nothing but numbers, true,
// false and null.
func numeric(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			v[name] = numeric(x)
		}
	case []any:
		all := true
		for i, x := range v {
			v[i] = numeric(x)
			switch v[i].(type) {
			case nil, bool, float64:
			default:
				all = false
			}
		}
		for i, x := range v {
			if b, ok := x.(bool); ok && all {
				v[i] = 0.0
				if b {
					v[i] = 1.0
				}
			}
		}
	}
	return v
}

// What this package reads is what encoding/json reads, and nothing more.
func FuzzReadJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -2.5e-3 , null , true , false ] , "b" : "x\"y\\" } `, `{"a":[1,"b",[2],{"c":null}]}`,
		`[[],[[]],"",{"":""}]`, `[true,"]"]`, `[1,"]",2]`, `"é\ud83d"`, `1e400`, `[1,1e400]`, `[1,]`, `{"a":1,"a":[2]}`, `-0`, `[nul]`, ``, `[1`, `true`, `false `,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want any
		theirs := json.Unmarshal(data, &want)
		got, err := readJSON(data)
		if (err == nil) != (theirs == nil) || err != nil && !errors.Is(err, ErrModel) {
			t.Fatalf("error %v, encoding/json says %v", err, theirs)
		}
		if err == nil && !reflect.DeepEqual(plain(got), numeric(want)) {
			t.Fatalf("read %#v, want %#v", got, want)
		}
	})
}
