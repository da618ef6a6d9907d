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

// kind is the type of a value.
type kind string

const (
	kindNull   kind = "null"
	kindBool   kind = "true or false"
	kindNumber kind = "a number"
	kindString kind = "text"
	kindArray  kind = "an array"
	kindObject kind = "an object"
)

// kinds maps YAML's tags to kinds; a value with another tag is text.
var kinds = map[string]kind{"!!null": kindNull, "!!bool": kindBool, "!!int": kindNumber, "!!float": kindNumber, "!!seq": kindArray, "!!map": kindObject}

// node holds a value, its line and the path of fields to it.
type node struct {
	path   string
	line   int
	kind   kind
	text   string          // of a scalar
	items  []node          // of an array
	fields map[string]node // of an object; the last of equal keys, as in Python
	order  []string        // its keys in file order, each once
}

// parseTree returns the root value of a JSON text, which is YAML too: there a
// trailing comma is as if it were not there.
func parseTree(file string, text []byte) (node, []error, error) {
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
			err = nil
		}
	}
	if err != nil {
		return node{}, nil, syntax(file, text, err)
	}
	t := &tree{file: file, lines: 1 + bytes.Count(text, []byte("\n"))}
	root := t.value(doc.Content[0], "")
	return root, t.warnings, t.err
}

var linePattern = regexp.MustCompile(`line (\d+): `)

// syntax gives an error of the parser its line.
func syntax(file string, text []byte, err error) error {
	line, reason := 1, err.Error()
	if m := linePattern.FindStringSubmatch(reason); m != nil {
		line, _ = strconv.Atoi(m[1])
		reason = linePattern.ReplaceAllString(reason, "")
	}
	reason = "neither JSON nor YAML: " + strings.TrimPrefix(reason, "yaml: ")
	return &Error{File: file, Line: max(1, min(line, 1+bytes.Count(text, []byte("\n")))), Reason: reason}
}

// tree turns YAML's nodes into ours.
type tree struct {
	file     string
	lines    int
	warnings []error
	err      error
}

func (t *tree) value(y *yaml.Node, path string) node {
	n := node{path: path, line: min(y.Line, t.lines), kind: kindString, text: y.Value}
	if k, ok := kinds[y.ShortTag()]; ok {
		n.kind = k
	}
	switch y.Kind {
	case yaml.AliasNode:
		if t.err == nil {
			t.err = &Error{File: t.file, Line: n.line, Field: path, Reason: "want a value, have an alias"}
		}
	case yaml.SequenceNode:
		for i, item := range y.Content {
			n.items = append(n.items, t.value(item, fmt.Sprintf("%s[%d]", path, i)))
		}
	case yaml.MappingNode:
		n.fields = map[string]node{}
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i].Value
			field := t.value(y.Content[i+1], joinPath(path, key))
			if _, twice := n.fields[key]; twice {
				t.warnings = append(t.warnings, &Warning{t.file, field.line, field.path, "given twice; the last value is used"})
			} else {
				n.order = append(n.order, key)
			}
			n.fields[key] = field
		}
	}
	return n
}
