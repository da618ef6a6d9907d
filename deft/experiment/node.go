package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// kind is the type of a JSON value.
type kind string

const (
	kindNull   kind = "null"
	kindBool   kind = "true or false"
	kindNumber kind = "a number"
	kindString kind = "text"
	kindArray  kind = "an array"
	kindObject kind = "an object"
)

// node is a JSON value that knows its line and the path of fields to it.
type node struct {
	path   string
	line   int
	kind   kind
	flag   bool
	number json.Number
	text   string
	items  []node          // of an array
	fields map[string]node // of an object; the last of equal keys, as in Python
	order  []string        // its keys in file order, each once
}

// maxDepth bounds how deep arrays and objects nest.
const maxDepth = 32

// tree parses text. Blanked are the offsets of trailing commas.
type tree struct {
	file     string
	text     []byte
	decoder  *json.Decoder
	warnings []error
}

// parseTree returns the root value of a JSON text.
func parseTree(file string, text []byte) (node, []error, error) {
	t := &tree{file: file, text: bytes.TrimPrefix(text, []byte("\ufeff"))}
	t.dropTrailingCommas()
	t.decoder = json.NewDecoder(bytes.NewReader(t.text))
	t.decoder.UseNumber()
	root, err := t.value("", 0)
	if err != nil {
		return node{}, nil, t.syntax(err)
	}
	if _, err := t.decoder.Token(); !errors.Is(err, io.EOF) {
		return node{}, nil, &Error{File: file, Line: t.line(), Reason: "text after the end of the experiment"}
	}
	return root, t.warnings, nil
}

// dropTrailingCommas blanks each comma that stands after a value and before a
// closing bracket, outside strings, so that offsets stay what they are.
func (t *tree) dropTrailingCommas() {
	t.text = bytes.Clone(t.text)
	comma, inString, escaped := -1, false, false
	before := byte(0) // the last character that counts
	for i, c := range t.text {
		switch {
		case inString:
			inString = escaped || c != '"'
			escaped = !escaped && c == '\\'
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case c == '"':
			inString, comma = true, -1
		case c == ',':
			comma = -1
			if before != 0 && before != ',' && before != '[' && before != '{' && before != ':' {
				comma = i
			}
		case c == '}' || c == ']':
			if comma >= 0 {
				t.text[comma] = ' '
				t.warnings = append(t.warnings, &Warning{t.file, t.lineAt(comma), "", "trailing comma read as if it were not there"})
			}
			comma = -1
		default:
			comma = -1
		}
		before = c
	}
}

func (t *tree) lineAt(offset int) int {
	return 1 + bytes.Count(t.text[:min(offset, len(t.text))], []byte("\n"))
}

func (t *tree) line() int { return t.lineAt(int(t.decoder.InputOffset())) }

// syntax gives an error of the decoder its line.
func (t *tree) syntax(err error) error {
	var mine *Error
	if errors.As(err, &mine) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{File: t.file, Line: t.lineAt(len(bytes.TrimRight(t.text, " \t\r\n"))), Reason: "the text ends within a value"}
	}
	at := int(t.decoder.InputOffset()) // before the spaces that lead to the fault
	at += len(t.text[at:]) - len(bytes.TrimLeft(t.text[at:], " \t\r\n"))
	return &Error{File: t.file, Line: t.lineAt(at), Reason: "not JSON: " + err.Error()}
}

func (t *tree) value(path string, depth int) (node, error) {
	token, err := t.decoder.Token()
	if err != nil {
		return node{}, err
	}
	n := node{path: path, line: t.line()}
	if depth > maxDepth {
		return node{}, &Error{File: t.file, Line: n.line, Field: path, Reason: "nested too deep"}
	}
	switch v := token.(type) {
	case nil:
		n.kind = kindNull
	case bool:
		n.kind, n.flag = kindBool, v
	case json.Number:
		n.kind, n.number = kindNumber, v
	case string:
		n.kind, n.text = kindString, v
	case json.Delim:
		if v == '[' {
			n.kind = kindArray
			return n, t.array(&n, depth)
		}
		n.kind, n.fields = kindObject, map[string]node{}
		return n, t.object(&n, depth)
	}
	return n, nil
}

func (t *tree) array(n *node, depth int) error {
	for t.decoder.More() {
		item, err := t.value(fmt.Sprintf("%s[%d]", n.path, len(n.items)), depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := t.decoder.Token()
	return err
}

func (t *tree) object(n *node, depth int) error {
	for t.decoder.More() {
		token, err := t.decoder.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		path := key
		if n.path != "" {
			path = n.path + "." + key
		}
		field, err := t.value(path, depth+1)
		if err != nil {
			return err
		}
		if _, twice := n.fields[key]; twice {
			t.warnings = append(t.warnings, &Warning{t.file, field.line, path, "given twice; the last one counts"})
		} else {
			n.order = append(n.order, key)
		}
		n.fields[key] = field
	}
	_, err := t.decoder.Token()
	return err
}
