package event

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is read twice at most. The quick way walks the record's bytes and knows only that something is wrong, never what: then all that
// it has set is taken back, and the record is read again by way of jsontext, which words the reject. So the quick way may give up on what
// is rare, and it must never take what jsontext refuses.

// quickDepth is how deep objects and arrays lie within each other before the quick way gives up.
const quickDepth = 64

// quick reads the object that a value begins with, and returns where it ends; -1: nothing is read.
func (r *jsonReader) quick(n *Node, value []byte, b *Builder) int {
	lacking := len(b.lacking)
	if at := skipSpace(value, 0); at < len(value) && value[at] == '{' {
		if end := r.quickObject(n, value, at, b); end >= 0 {
			return end
		}
	}
	for _, m := range n.children {
		b.Forget(m)
	}
	b.lacking = b.lacking[:lacking]
	return -1
}

// quickObject reads the members of the object at in[i]. Like all of the quick way it returns what follows, or -1.
func (r *jsonReader) quickObject(n *Node, in []byte, i int, b *Builder) int {
	if i = skipSpace(in, i+1); i < len(in) && in[i] == '}' {
		return i + 1
	}
	var last bool
	for i < len(in) {
		end, value, escaped := quickName(in, i)
		if end < 0 {
			return -1
		}
		name := in[i+1 : end-1]
		if escaped {
			r.name = appendUnquoted(r.name[:0], in[i:end])
			name = r.name
		}
		if m := n.Find(name); m == nil {
			if b.look != 0 {
				b.Undeclared(n, name)
			}
			i = endOfValue(in, value, quickDepth)
		} else if b.have(m) == nil {
			i = r.quickMember(m, in, value, b)
		} else {
			return -1
		}
		if i, last = nextValue(in, i, '}'); last {
			return i
		}
	}
	return -1
}

// quickMember reads the value at in[i] of a declared key.
func (r *jsonReader) quickMember(n *Node, in []byte, i int, b *Builder) int {
	if i >= len(in) {
		return -1
	}
	kind := jsontext.Kind(in[i])
	n.null = kind == 'n'
	if n.field < 0 {
		switch {
		case kind == '{':
			return r.quickObject(n, in, i, b)
		case kind == '[' && n.indexed:
			return r.quickElements(n, in, i, b)
		case kind != 'n':
			return -1
		}
	}
	end := endOfValue(in, i, quickDepth)
	if end < 0 || kind == 'n' {
		return end
	}
	if kind == '-' || kind >= '0' && kind <= '9' {
		kind = '0' // as jsontext calls every number
	}
	if b.take(n, kind, in[i:end:end]) != nil {
		return -1
	}
	return end
}

// quickElements reads the declared elements of the array at in[i].
func (r *jsonReader) quickElements(n *Node, in []byte, i int, b *Builder) int {
	if i = skipSpace(in, i+1); i < len(in) && in[i] == ']' {
		return i + 1
	}
	var last bool
	for index := 0; i < len(in); index++ {
		if m := n.Element(index); m == nil {
			i = endOfValue(in, i, quickDepth)
		} else if b.have(m) == nil {
			i = r.quickMember(m, in, i, b)
		} else {
			return -1
		}
		if i, last = nextValue(in, i, ']'); last {
			return i
		}
	}
	return -1
}

// quickName is where the name at in[i] ends, and where its value begins.
func quickName(in []byte, i int) (end, value int, escaped bool) {
	if in[i] != '"' {
		return -1, -1, false
	}
	if end, escaped = endOfString(in, i); end < 0 {
		return -1, -1, false
	}
	if i = skipSpace(in, end); i >= len(in) || in[i] != ':' {
		return -1, -1, false
	}
	return end, skipSpace(in, i+1), escaped
}

// nextValue goes on where a value of a list ended: to the next one, or behind the byte that closes the list, or to -1. last reports that
// there is no next one.
func nextValue(in []byte, i int, closing byte) (next int, last bool) {
	if i < 0 {
		return -1, true
	}
	if i = skipSpace(in, i); i >= len(in) {
		return -1, true
	}
	switch in[i] {
	case ',':
		return skipSpace(in, i+1), false
	case closing:
		return i + 1, true
	}
	return -1, true
}

func skipSpace(in []byte, i int) int {
	for i < len(in) && (in[i] == ' ' || in[i] == '\n' || in[i] == '\r' || in[i] == '\t') {
		i++
	}
	return i
}

// endOfValue is where the value at in[i] ends, which is JSON as RFC 8259 has it and UTF-8; -1: it is not, or is too deep.
func endOfValue(in []byte, i, depth int) int {
	if i >= len(in) {
		return -1
	}
	switch c := in[i]; c {
	case '"':
		end, _ := endOfString(in, i)
		return end
	case '{', '[':
		if depth == 0 {
			return -1
		}
		return endOfList(in, i, depth-1, c == '{')
	case 'n':
		return endOfWord(in, i, "null")
	case 't':
		return endOfWord(in, i, "true")
	case 'f':
		return endOfWord(in, i, "false")
	default:
		return endOfNumber(in, i)
	}
}

func endOfWord(in []byte, i int, word string) int {
	if len(in)-i < len(word) || string(in[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// endOfList is where the object or array at in[i] ends.
func endOfList(in []byte, i, depth int, named bool) int {
	closing := in[i] + 2 // } of {, and ] of [
	if i = skipSpace(in, i+1); i < len(in) && in[i] == closing {
		return i + 1
	}
	var last bool
	for i < len(in) {
		if named {
			if _, i, _ = quickName(in, i); i < 0 {
				return -1
			}
		}
		if i, last = nextValue(in, endOfValue(in, i, depth), closing); last {
			return i
		}
	}
	return -1
}

// endOfNumber is where the number at in[i] ends.
func endOfNumber(in []byte, i int) int {
	if in[i] == '-' {
		i++
	}
	start := i
	if i = skipDigits(in, i); i == start || in[start] == '0' && i > start+1 {
		return -1
	}
	if i < len(in) && in[i] == '.' {
		start = i + 1
		if i = skipDigits(in, start); i == start {
			return -1
		}
	}
	if i < len(in) && in[i]|' ' == 'e' {
		if i++; i < len(in) && (in[i] == '+' || in[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(in, start); i == start {
			return -1
		}
	}
	return i
}

func skipDigits(in []byte, i int) int {
	for i < len(in) && in[i]-'0' <= 9 {
		i++
	}
	return i
}

// Of eight bytes at once.
const (
	eachByte = 0x0101010101010101
	topBits  = 0x80 * eachByte
)

// endOfString is where the string at in[i] ends, which is UTF-8 without control characters, whose escapes are those of JSON and
// without half of a surrogate pair; -1: it is not.
func endOfString(in []byte, i int) (end int, escaped bool) {
	i++
	for {
		for i+8 <= len(in) {
			w := binary.LittleEndian.Uint64(in[i:])
			quote, back := w^'"'*eachByte, w^'\\'*eachByte
			// A top bit for each byte that is no plain one. A borrow may set one too many, but only behind one that is right.
			stop := (w | (w - ' '*eachByte) | (quote - eachByte) | (back - eachByte)) & topBits
			if stop == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(stop) / 8
			break
		}
		if i >= len(in) {
			return -1, false
		}
		switch c := in[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = endOfEscape(in, i); i < 0 {
				return -1, false
			}
		case c < ' ':
			return -1, false
		case c < utf8.RuneSelf:
			i++
		default:
			for i < len(in) && in[i] >= utf8.RuneSelf {
				_, size := utf8.DecodeRune(in[i:])
				if size == 1 {
					return -1, false
				}
				i += size
			}
		}
	}
}

// endOfEscape is where the escape at in[i] ends.
func endOfEscape(in []byte, i int) int {
	if i+1 >= len(in) {
		return -1
	}
	switch in[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return -1
	}
	unit := hexUnit(in, i+2)
	switch {
	case unit < 0 || unit >= 0xdc00 && unit < 0xe000:
		return -1
	case unit < 0xd800 || unit >= 0xe000:
		return i + 6
	}
	if i+7 >= len(in) || in[i+6] != '\\' || in[i+7] != 'u' {
		return -1
	}
	if low := hexUnit(in, i+8); low < 0xdc00 || low >= 0xe000 {
		return -1
	}
	return i + 12
}

// hexUnit is the number of the four digits at in[i]; -1: they are none.
func hexUnit(in []byte, i int) int {
	if i+4 > len(in) {
		return -1
	}
	unit := 0
	for _, c := range in[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|' ' >= 'a' && c|' ' <= 'f':
			c = c | ' ' - 'a' + 10
		default:
			return -1
		}
		unit = unit<<4 | int(c)
	}
	return unit
}
