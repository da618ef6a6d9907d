package placement

import (
	"bytes"
	"encoding/json"
	"slices"
)

// member is one member of an object, each part as it was spelled.
type member struct {
	name  []byte // decoded
	key   []byte // with its quotes
	value []byte
}

// membersOf lists the members of an object that is known to be valid JSON, in their
// order. They share its memory: decoded into a map by encoding/json, the members of a
// request take longer than all else that the service does for it.
func membersOf(object []byte) []member {
	members := make([]member, 0, len(RequestFields)+1)
	for i := space(object, 1); object[i] != '}'; i = space(object, i) {
		if object[i] == ',' {
			i = space(object, i+1)
		}
		var m member
		m.key = object[i:valueEnd(object, i)]
		m.name = m.key[1 : len(m.key)-1]
		if bytes.IndexByte(m.name, '\\') >= 0 {
			var s string
			_ = json.Unmarshal(m.key, &s)
			m.name = []byte(s)
		}
		i = space(object, space(object, i+len(m.key))+1) // after the colon
		m.value = object[i:valueEnd(object, i)]
		members = append(members, m)
		i += len(m.value)
	}
	return members
}

// space returns the first index from i on that holds no white space.
func space(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// valueEnd returns the end of the value that begins at i.
func valueEnd(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + min(depth, 0) // the bracket after a number is not part of it
			}
		case ' ', '\t', '\n', '\r', ',':
			if depth == 0 {
				return i
			}
		}
	}
}

// sortMembers sorts by name, as code points, and returns the names that occur twice.
func sortMembers(members []member) (twice [][]byte) {
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	for i := 1; i < len(members); i++ {
		if same := bytes.Equal(members[i].name, members[i-1].name); same && (len(twice) == 0 || !bytes.Equal(twice[len(twice)-1], members[i].name)) {
			twice = append(twice, members[i].name)
		}
	}
	return twice
}

// valueOf returns the value of a name among sorted members, nil if there is none.
func valueOf(members []member, name string) []byte {
	for i := range members {
		if string(members[i].name) == name {
			return members[i].value
		}
	}
	return nil
}
