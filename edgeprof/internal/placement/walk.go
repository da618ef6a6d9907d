package placement

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The functions of this file walk text that is known to be valid JSON.

// member is one key of an object with the text of its value.
type member struct {
	name  string // decoded
	key   []byte // as it came, with its quotes
	value []byte
}

// space is the first byte from i on that is no white space.
func space(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// skip is the end of the value that begins at i.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		for i++; b[i] != '"'; i++ {
			if b[i] == '\\' {
				i++
			}
		}
		return i + 1
	case '{', '[':
		depth := 0
		for {
			switch b[i] {
			case '"':
				i = skip(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\n', '\r', ',', ']', '}':
			return i
		}
	}
	return i
}

// object lists the members of the object that begins at i.
func object(b []byte, i int) []member {
	members := make([]member, 0, 8)
	for i = space(b, i+1); b[i] != '}'; {
		if b[i] == ',' {
			i = space(b, i+1)
		}
		end := skip(b, i)
		m := member{key: b[i:end]}
		m.name = decoded(m.key)
		i = space(b, space(b, end)+1) // over the colon
		end = skip(b, i)
		m.value = b[i:end]
		members = append(members, m)
		i = space(b, end)
	}
	return members
}

// decoded is the text of a JSON string. The names of a request's own fields cost
// no memory.
func decoded(key []byte) string {
	text := key[1 : len(key)-1]
	for i := range RequestFields {
		if string(text) == RequestFields[i] {
			return RequestFields[i]
		}
	}
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	var s string
	_ = json.Unmarshal(key, &s)
	return s
}

// array lists the values of the array that begins at i.
func array(b []byte, i int) [][]byte {
	var values [][]byte
	for i = space(b, i+1); b[i] != ']'; {
		if b[i] == ',' {
			i = space(b, i+1)
		}
		end := skip(b, i)
		values = append(values, b[i:end])
		i = space(b, end)
	}
	return values
}

// sorted is the order of members by their names, as code points.
func sorted(members []member) []int {
	order := make([]int, len(members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(members[a].name, members[b].name) })
	return order
}
