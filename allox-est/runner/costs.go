package runner

import "bytes"

// The tags of the costs by name, which a time writer prints after its report.
const (
	costsOpen  = "<TIME_WRITTER_COSTS>"
	costsClose = "</TIME_WRITTER_COSTS>"
	mostCosts  = 4 << 20 // bytes between them
)

// costs finds the last complete text between the tags in what a job prints.
type costs struct {
	last   []byte
	rest   []byte // since the open tag, or what may be its beginning
	inside bool
}

func (c *costs) write(b []byte) {
	c.rest = append(c.rest, b...)
	for {
		if !c.inside && !c.open() {
			return
		}
		text, after, closed := bytes.Cut(c.rest, []byte(costsClose))
		if !closed {
			c.inside = len(c.rest) < mostCosts
			return
		}
		if torn := bytes.LastIndex(text, []byte(costsOpen)); torn >= 0 {
			text = text[torn+len(costsOpen):]
		}
		c.last = append(c.last[:0], text...)
		c.rest, c.inside = append(c.rest[:0], after...), false
	}
}

// open looks for the open tag, and keeps no more than what may be its beginning.
func (c *costs) open() bool {
	_, after, found := bytes.Cut(c.rest, []byte(costsOpen))
	if !found {
		after = c.rest[max(0, len(c.rest)-len(costsOpen)+1):]
	}
	c.rest, c.inside = append(c.rest[:0], after...), found
	return found
}
