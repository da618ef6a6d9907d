package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kinds of values, as errors name them.
const (
	kindNull   = "null"
	kindBool   = "true or false"
	kindNumber = "a number"
	kindText   = "text"
	kindArray  = "an array"
	kindObject = "an object"
)

// kinds maps YAML's tags to kinds; a value with another tag is text.
var kinds = map[string]string{"!!null": kindNull, "!!bool": kindBool, "!!int": kindNumber, "!!float": kindNumber, "!!seq": kindArray, "!!map": kindObject}

// node is a value with the path of fields to it.
type node struct {
	*yaml.Node
	path string
}

// kind returns the kind of the value.
func (n node) kind() string {
	if kind, known := kinds[n.ShortTag()]; known {
		return kind
	}
	return kindText
}

// describe returns the value as an error shows it.
func (n node) describe() string {
	switch kind := n.kind(); {
	case kind == kindBool, kind == kindNumber:
		return n.Value
	case kind == kindText:
		return fmt.Sprintf("%.40q", n.Value)
	case kind == kindArray && len(n.Content) == 0:
		return "an empty array"
	default:
		return kind
	}
}

// item returns an item of an array.
func (n node) item(i int) node { return node{n.Content[i], fmt.Sprintf("%s[%d]", n.path, i)} }

// fieldPath returns the path of a field of an object.
func (n node) fieldPath(key string) string { return strings.TrimPrefix(n.path+"."+key, ".") }

// parseTree returns the root value of a JSON text, which is YAML too: there a
// trailing comma is as if it were not there.
func parseTree(file string, text []byte) (node, error) {
	var doc yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	} else if err == nil {
		var more yaml.Node
		if err = decoder.Decode(&more); err == nil {
			err = fmt.Errorf("line %d: more text after the end of the experiment", more.Line)
		} else if errors.Is(err, io.EOF) {
			if at := findReference(&doc); at != nil {
				return node{}, &Error{File: file, Line: at.Line, Reason: fmt.Sprintf("aliases (*) and merges (<<) of YAML are not read: write the value out instead of %q", at.Value)}
			}
			return node{doc.Content[0], ""}, nil
		}
	}
	return node{}, syntaxError(file, text, err)
}

// findReference returns the first alias or merge key of a tree, or nil. An alias could repeat
// a large value.
func findReference(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode || n.ShortTag() == "!!merge" {
		return n
	}
	for _, c := range n.Content {
		if found := findReference(c); found != nil {
			return found
		}
	}
	return nil
}

var linePattern = regexp.MustCompile(`line (\d+): `)

// syntaxError returns an error of the parser with its line.
func syntaxError(file string, text []byte, err error) error {
	line, reason := 1, err.Error()
	if m := linePattern.FindStringSubmatch(reason); m != nil {
		line, _ = strconv.Atoi(m[1])
		reason = linePattern.ReplaceAllString(reason, "")
	}
	reason = "neither JSON nor YAML: " + strings.TrimPrefix(reason, "yaml: ")
	return &Error{File: file, Line: max(1, min(line, countLines(text))), Reason: reason}
}

func countLines(text []byte) int { return 1 + bytes.Count(text, []byte("\n")) }
