package event

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON is read at most twice. The quick path walks the record's bytes and detects only that something is wrong, never what. Then everything
// that it has set is dropped, and the record is read again by jsontext, which words the reject. So the quick path may give up on rare
// input, but it must never accept what jsontext rejects.

// quickDepth is the nesting depth of objects and arrays at which the quick path gives up.
const quickDepth = 64

// member is a member of an object, with the one that came after it in the last object read: a publisher's records have their members in
// one order. That of an undeclared one comes next too, so that its name need not be searched for either.
type member struct {
	name  []byte // as JSON with its colon; empty if it has none, not being UTF-8
	node  *Node  // nil: no field is declared for it
	next  *member
	spare *member // for an undeclared one that comes next
}

// How many undeclared members of an object are learned, and how long their names may be.
const (
	mostLearned    = 64
	longestLearned = 64
)

// quick reads the object at the start of a value and returns where it ends; -1: nothing is read.
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
	b.lacking = b.lacking[:min(lacking, len(b.lacking))] // Forget has dropped those of the children
	return -1
}

// quickObject reads the members of the object at in[i]. Like all of the quick path, it returns the index after what it read, or -1.
func (r *jsonReader) quickObject(n *Node, in []byte, i int, b *Builder) int {
	if i = skipSpace(in, i+1); i < len(in) && in[i] == '}' {
		return i + 1
	}
	var last bool
	before := &n.begin
	for i < len(in) {
		m := before.next
		var value int
		if m != nil && hasPrefix(in[i:], m.name) {
			if value = skipSpace(in, i+len(m.name)); m.node == nil && b.look != 0 {
				b.Undeclared(n, m.name[1:len(m.name)-len(`":`)])
			}
		} else {
			m, value = r.quickFind(n, before, in, i, b)
		}
		switch {
		case value < 0:
			return -1
		case m == nil || m.node == nil:
			i = endOfValue(in, value, quickDepth)
		case b.have(m.node) == nil:
			i = r.quickMember(m.node, in, value, b)
		default:
			return -1
		}
		if m != nil {
			before = m
		}
		if i >= 0 && i+1 < len(in) && in[i] == ',' && in[i+1] > ' ' { // as nearly always; the rest is for nextValue
			i++
		} else if i, last = nextValue(in, i, '}'); last {
			return i
		}
	}
	return -1
}

func hasPrefix(in, prefix []byte) bool {
	return len(in) >= len(prefix) && len(prefix) > 0 && string(in[:len(prefix)]) == string(prefix)
}

// quickFind finds the member with the name at in[i], which comes after another, and where its value begins. It returns nil for an
// undeclared member that is not learned.
func (r *jsonReader) quickFind(n *Node, before *member, in []byte, i int, b *Builder) (m *member, value int) {
	end, value, escaped := quickName(in, i)
	if end < 0 {
		return nil, -1
	}
	name := in[i+1 : end-1]
	if escaped {
		r.name = appendUnquoted(r.name[:0], in[i:end])
		name = r.name
	}
	if declared := n.Find(name); declared != nil {
		before.next = &declared.member
		return before.next, value
	}
	if b.look != 0 {
		b.Undeclared(n, name)
	}
	if escaped || len(name) > longestLearned || before.spare == nil && n.learned == mostLearned {
		return nil, value
	}
	if before.spare == nil {
		before.spare = &member{}
		n.learned++
	}
	m = before.spare
	m.name = append(append(m.name[:0], in[i:end]...), ':')
	before.next = m
	return m, value
}

// quickMember reads the value of a declared key at in[i].
func (r *jsonReader) quickMember(n *Node, in []byte, i int, b *Builder) int {
	if i >= len(in) {
		return -1
	}
	kind := jsontext.Kind(in[i])
	n.null = kind == 'n'
	if n.field < 0 {
		if n.column && mayBeUnavailable(in[i:]) {
			if end := endOfValue(in, i, quickDepth); end >= 0 && b.Lacks(n, in[i:end]) {
				return end
			}
		}
		switch {
		case kind == '{':
			return r.quickObject(n, in, i, b)
		case kind == '[' && n.indexed:
			return r.quickElements(n, in, i, b)
		case kind != 'n':
			return -1
		}
	}
	if kind == '"' && n.typ == Text && n.convert == nil && n.form.kind == 0 {
		return b.quickText(n, in, i)
	}
	end := endOfValue(in, i, quickDepth)
	if end < 0 || kind == 'n' {
		return end
	}
	if kind == '-' || kind >= '0' && kind <= '9' {
		kind = '0' // jsontext's kind of every number
	}
	if b.take(n, kind, in[i:end:end]) != nil {
		return -1
	}
	return end
}

// quickText sets a field that takes a text as it is to the string at in[i].
func (b *Builder) quickText(n *Node, in []byte, i int) int {
	end, escaped := endOfString(in, i)
	switch {
	case end < 0:
	case n.column && b.Lacks(n, in[i:end]):
	case escaped:
		b.values[n.field] = TextOf(b.batch.text(in[i:end]))
	default:
		v := &b.values[n.field]
		v.Type, v.text = Text, in[i+1:end-1:end-1]
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

// quickName returns where the name at in[i] ends, and where its value begins.
func quickName(in []byte, i int) (end, value int, escaped bool) {
	if in[i] != '"' {
		return -1, -1, false
	}
	if end, escaped = endOfString(in, i); end < 0 {
		return -1, -1, false
	}
	if value = end + 1; value < len(in) && in[end] == ':' && in[value] > ' ' {
		return end, value, escaped
	}
	if value = quickColon(in, end); value < 0 {
		return -1, -1, false
	}
	return end, value, escaped
}

// quickColon returns where the value begins after a name that ends at i.
func quickColon(in []byte, i int) (value int) {
	if i = skipSpace(in, i); i >= len(in) || in[i] != ':' {
		return -1
	}
	return skipSpace(in, i+1)
}

// nextValue continues where a value of a list ended. It returns the index of the next value, or the one after the byte that closes the
// list, or -1. last reports that there is no next value.
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
	for i < len(in) && in[i] <= ' ' && (in[i] == ' ' || in[i] == '\n' || in[i] == '\r' || in[i] == '\t') {
		i++
	}
	return i
}

// endOfValue returns where the value at in[i] ends; -1 if it is not RFC 8259 JSON in UTF-8, or nested too deeply.
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

// endOfList returns where the object or array at in[i] ends.
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

// endOfNumber returns where the number at in[i] ends.
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
	for i+8 <= len(in) && eightDigits(binary.LittleEndian.Uint64(in[i:])) {
		i += 8
	}
	for i < len(in) && in[i]-'0' <= 9 {
		i++
	}
	return i
}

// For eight bytes at once.
const (
	eachByte = 0x0101010101010101
	topBits  = 0x80 * eachByte
)

// eightDigits reports whether eight bytes are digits: their upper halves are 3, and remain so if 6 is added.
func eightDigits(w uint64) bool {
	const upper, threes, sixes = 0xf0 * eachByte, 0x30 * eachByte, 6 * eachByte
	return w&upper == threes && (w+sixes)&upper == threes
}

// endOfString returns where the string at in[i] ends; -1 if it is not UTF-8, or has control characters, escapes that JSON does not have, or
// half a surrogate pair.
func endOfString(in []byte, i int) (end int, escaped bool) {
	i++
	for {
		for i+8 <= len(in) {
			w := binary.LittleEndian.Uint64(in[i:])
			quote, back := w^'"'*eachByte, w^'\\'*eachByte
			// A top bit for each byte that is not a plain one. A borrow may set extra bits, but only after a correct one.
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

// endOfEscape returns where the escape at in[i] ends.
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

// hexUnit returns the number in the four hex digits at in[i]; -1 if they are not hex digits.
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
