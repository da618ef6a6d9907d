package placement

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrSyntax is returned for a body that is no JSON.
var ErrSyntax = errors.New("not JSON")

// Counts are the seven numbers of a request; sizes are in bytes.
type Counts struct {
	ConvLayers, PoolLayers, FCLayers, FilterDetails, TotalParameters, ModelInputSize, ModelOutputSize uint64
}

// RequestFields are the names of the counts, in their order in [Counts].
var RequestFields = [...]string{"conv_layers", "pool_layers", "fc_layers", "filter_details", "total_parameters", "model_input_size", "model_output_size"}

// filterDetails is the index of the filters in [RequestFields].
const filterDetails = 3

// field points to the count of that index.
func (c *Counts) field(i int) *uint64 {
	return [...]*uint64{&c.ConvLayers, &c.PoolLayers, &c.FCLayers, &c.FilterDetails, &c.TotalParameters, &c.ModelInputSize, &c.ModelOutputSize}[i]
}

// MemoryBytes returns the least memory that an inference needs: the weights, of four bytes each,
// its input and its output. It is 0, unknown, for counts of which no model can consist, as in the
// example of the original's manual.
func (c Counts) MemoryBytes() int64 {
	sum := 4*float64(c.TotalParameters) + float64(c.ModelInputSize) + float64(c.ModelOutputSize)
	if sum > 1<<50 {
		return 0
	}
	return int64(sum)
}

// Request is a profiling request that makes sense.
type Request struct {
	Counts
	members map[string]json.RawMessage // each value as it was spelled
}

// Problem describes the error in one field.
type Problem struct {
	Pointer string `json:"pointer"` // to the field (RFC 6901)
	Detail  string `json:"detail"`
}

// ParseRequest reads a request. Unknown keys are kept. A body that is no JSON is an
// error that matches [ErrSyntax]; a body that is JSON and no request has
// problems, one for each field at fault.
func ParseRequest(body []byte) (*Request, []Problem, error) {
	if !utf8.Valid(body) {
		return nil, nil, fmt.Errorf("%w: not UTF-8", ErrSyntax)
	}
	if !json.Valid(body) {
		return nil, nil, fmt.Errorf("%w: %w", ErrSyntax, explain(body))
	}
	if kind(bytes.TrimSpace(body)) != "an object" {
		return nil, []Problem{{"", "want an object"}}, nil
	}
	members, twice, err := readMembers(body)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	r := &Request{members: members}
	var problems []Problem
	for _, name := range twice {
		problems = append(problems, Problem{"/" + escaper.Replace(name), "is given twice"})
	}
	if raw := members["model"]; raw == nil {
		problems = append(problems, Problem{"/model", "is missing"})
	} else if raw[0] != '"' {
		problems = append(problems, Problem{"/model", fmt.Sprintf("is %s, want a string", kind(raw))})
	}
	for i, name := range RequestFields {
		if reason := whole(members[name], r.field(i)); reason != "" {
			problems = append(problems, Problem{"/" + name, reason})
		}
	}
	if len(problems) > 0 {
		return nil, problems, nil
	}
	return r, nil, nil
}

// readMembers returns the members of an object, and the names that occur twice, sorted.
func readMembers(object []byte) (members map[string]json.RawMessage, twice []string, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil { // the brace
		return nil, nil, err
	}
	members = map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		name, _ := key.(string) // the key of an object
		if members[name] != nil {
			twice = append(twice, name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		members[name] = value
	}
	slices.Sort(twice)
	return members, slices.Compact(twice), nil
}

// explain returns the error of a body that is no JSON, with its place.
func explain(body []byte) error {
	var v any
	err := json.Unmarshal(body, &v)
	if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("byte %d: %w", wrong.Offset, err)
	}
	return err
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// kind names a value's type.
func kind(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// whole reads a JSON number that is a whole number from 0 to 2^64-1, however it
// is spelled: 1e19 and 5.0 are. The result is "" or what is wrong.
func whole(raw []byte, to *uint64) string {
	switch {
	case raw == nil:
		return "is missing"
	case raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		return fmt.Sprintf("is %s, want a number", kind(raw))
	}
	if v, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
		*to = v
		return ""
	}
	const digits = 512 // bits of the mantissa: as many digits as people write
	v, _, err := big.ParseFloat(string(raw), 10, digits, big.ToNearestEven)
	text := strings.ToLower(string(raw))
	mantissa, exponent, _ := strings.Cut(text, "e")
	zero := strings.Trim(mantissa, "-0.") == ""
	switch {
	case zero:
		*to = 0
		return ""
	case raw[0] == '-':
		return "is negative"
	case strings.HasPrefix(exponent, "-") && (err != nil || !v.IsInt() || v.Sign() == 0), err == nil && !v.IsInt() && !v.IsInf():
		return "is not a whole number"
	case err == nil:
		if n, accuracy := v.Uint64(); accuracy == big.Exact {
			*to = n
			return ""
		}
	}
	return "is above 18446744073709551615"
}
