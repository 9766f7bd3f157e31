package event

import (
	"github.com/go-json-experiment/json/jsontext"
)

// cursor walks over JSON that has already been checked, so it only looks for where things end.
type cursor struct {
	json    []byte
	pos     int
	escaped bool // the string passed over last has escapes
}

// peek passes over white space and gives the byte that follows it.
func (c *cursor) peek() byte {
	for c.json[c.pos] <= ' ' {
		c.pos++
	}
	return c.json[c.pos]
}

// skip passes over white space and one byte of punctuation.
func (c *cursor) skip() {
	c.peek()
	c.pos++
}

// value passes over one value and gives its bytes.
func (c *cursor) value() []byte {
	first := c.peek()
	start := c.pos
	switch first {
	case '"':
		c.str()
	case '{', '[':
		c.nested()
	default:
		c.literal()
	}
	return c.json[start:c.pos:c.pos]
}

func (c *cursor) str() {
	in, i := c.json, c.pos+1
	c.escaped = false
	for in[i] != '"' {
		if in[i] == '\\' {
			c.escaped = true
			i++
		}
		i++
	}
	c.pos = i + 1
}

func (c *cursor) nested() {
	for depth := 0; ; {
		switch c.json[c.pos] {
		case '"':
			c.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.pos++
		if depth == 0 {
			return
		}
	}
}

// literal passes over a number, true, false or null.
func (c *cursor) literal() {
	in, i := c.json, c.pos
	for in[i] != ',' && in[i] != '}' && in[i] != ']' && in[i] > ' ' {
		i++
	}
	c.pos = i
}

// appendUnquoted appends the text of a quoted string. It is never longer than the string with its quotes.
func appendUnquoted(dst, quoted []byte) []byte {
	dst, err := jsontext.AppendUnquote(dst, quoted)
	if err != nil {
		panic("BUG: event: a checked string cannot be unquoted: " + err.Error())
	}
	return dst
}
