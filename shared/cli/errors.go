package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// ErrorText returns the text of an error for users. It replaces the texts of Go's
// parsers of JSON, YAML, numbers and flags, which name functions and types of the program.
func ErrorText(err error) string {
	text := err.Error()
	put := func(library error, plain string) { text = strings.Replace(text, library.Error(), plain, 1) }
	if e := (*pflag.InvalidValueError)(nil); errors.As(err, &e) {
		put(e, flagText(e))
	}
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		put(e, syntaxText(e))
	}
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		put(e, typeText(e))
	}
	if e := (*strconv.NumError)(nil); errors.As(err, &e) {
		put(e, numberText(e))
	}
	if e := (*yaml.TypeError)(nil); errors.As(err, &e) {
		put(e, yamlText(e))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		put(io.ErrUnexpectedEOF, "it ends early")
	}
	return text
}

// In an error of the YAML parser yamlType matches a value of the wrong type, and yamlField
// an unknown entry.
var (
	yamlType  = regexp.MustCompile("cannot unmarshal !!\\w+ (`.*?` )?into (\\S+)")
	yamlField = regexp.MustCompile(`field (.*) not found in type .*$`)
)

func yamlText(e *yaml.TypeError) string {
	wants := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "string": "a text", "time.Duration": "a duration such as 90s or 1h30m"}
	var texts []string
	for _, text := range e.Errors {
		text = yamlField.ReplaceAllString(text, "no such entry: $1")
		texts = append(texts, yamlType.ReplaceAllStringFunc(text, func(found string) string {
			parts := yamlType.FindStringSubmatch(found)
			want := wants[parts[2]]
			switch {
			case strings.HasPrefix(parts[2], "[]"):
				want = "a list"
			case want == "":
				want = "a section of names and values"
			}
			return strings.TrimSuffix(fmt.Sprintf("want %s, found %s", want, strings.Trim(parts[1], "` ")), ", found ")
		}))
	}
	return strings.Join(texts, "; ")
}

func flagText(e *pflag.InvalidValueError) string {
	name, cause := "--"+e.GetFlag().Name, e.Unwrap()
	if number := (*strconv.NumError)(nil); errors.As(cause, &number) {
		return fmt.Sprintf("%s: %v", name, cause)
	}
	if strings.HasPrefix(cause.Error(), "time: ") {
		return fmt.Sprintf("%s: %q is not a duration such as 90s or 1h30m", name, e.GetValue())
	}
	if strings.Contains(cause.Error(), e.GetValue()) {
		return fmt.Sprintf("%s: %v", name, cause)
	}
	return fmt.Sprintf("%s %q: %v", name, e.GetValue(), cause)
}

// unexpectedCharacter matches the character that a JSON parser did not expect.
var unexpectedCharacter = regexp.MustCompile(`^invalid character ('.*'|'\\?'') `)

func syntaxText(e *json.SyntaxError) string {
	if found := unexpectedCharacter.FindStringSubmatch(e.Error()); found != nil {
		return fmt.Sprintf("not JSON: unexpected %s at byte %d", found[1], e.Offset)
	}
	return fmt.Sprintf("not JSON: it ends early, at byte %d", e.Offset)
}

func typeText(e *json.UnmarshalTypeError) string {
	found, number, _ := strings.Cut(e.Value, " ") // "number 1.5"
	want := describeType(e.Type)
	if e.Type.Kind() == reflect.Struct || e.Type.Kind() == reflect.Map {
		want = "an object"
	}
	text := fmt.Sprintf("want %s, found %s", want, map[string]string{
		"bool": "true or false", "string": "a text", "number": cmp.Or(number, "a number"), "array": "a list", "object": "an object",
	}[found])
	if e.Field != "" {
		return e.Field + ": " + text
	}
	return text
}

func numberText(e *strconv.NumError) string {
	want := "a whole number"
	switch {
	case errors.Is(e, strconv.ErrRange):
		return fmt.Sprintf("%q is out of range", e.Num)
	case e.Func == "ParseFloat":
		want = "a number"
	case e.Func == "ParseBool":
		want = "true or false"
	}
	return fmt.Sprintf("%q is not %s", e.Num, want)
}
