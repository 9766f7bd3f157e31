package avro

import (
	"encoding/binary"
	"fmt"
	"math"

	"brine/event"
)

// cursor walks the bytes of one value.
type cursor struct {
	data   []byte
	at     int // the next byte
	depth  int // of records, arrays and maps around the next byte
	broken *event.Error
}

// fail makes the error for bytes that are not a value. The names of the fields around it are added on the way up; see in.
func (c *cursor) fail(format string, args ...any) *event.Error {
	c.broken = &event.Error{Reason: event.Undecodable, Detail: fmt.Sprintf(format, args...)}
	return c.broken
}

const longestPath = 200

// in adds the field to the path of an error that fail made.
func (c *cursor) in(name string, err *event.Error) *event.Error {
	if err == c.broken && len(err.Field) < longestPath {
		if err.Field != "" {
			name += "." + err.Field
		}
		err.Field = name
	}
	return err
}

func (c *cursor) left() int { return len(c.data) - c.at }

func (c *cursor) short(what string) *event.Error {
	return c.fail("the record ends within %s at byte %d of %d", what, c.at, len(c.data))
}

// long reads a zigzag varint.
func (c *cursor) long() (int64, *event.Error) {
	if c.at < len(c.data) && c.data[c.at] < 0x80 {
		u := uint64(c.data[c.at])
		c.at++
		return int64(u>>1) ^ -int64(u&1), nil
	}
	return c.longer()
}

func (c *cursor) longer() (int64, *event.Error) {
	u, n := binary.Uvarint(c.data[c.at:])
	switch {
	case n == 0:
		return 0, c.short("a number")
	case n < 0:
		return 0, c.fail("the number at byte %d does not fit 64 bits", c.at)
	}
	c.at += n
	return int64(u>>1) ^ -int64(u&1), nil
}

// maxInt is the length of the longest int. Other readers refuse a longer one, whatever its value.
const maxInt = 5

func (c *cursor) int() (int64, *event.Error) {
	from := c.at
	i, err := c.long()
	switch {
	case err != nil:
		return 0, err
	case c.at-from > maxInt:
		return 0, c.fail("the int at byte %d has %d bytes: it may have %d", from, c.at-from, maxInt)
	case i > math.MaxInt32 || i < math.MinInt32:
		return 0, c.fail("%d, before byte %d, is an int in the schema and does not fit 32 bits", i, c.at)
	}
	return i, nil
}

// index reads which of n symbols or branches is there.
func (c *cursor) index(n int, of string) (int, *event.Error) {
	i, err := c.int()
	if err == nil && (i < 0 || i >= int64(n)) {
		return 0, c.fail("%s %d, before byte %d, is not one of the %d in the schema", of, i, c.at, n)
	}
	return int(i), err
}

// bytes cuts out a string or bytes after their length.
func (c *cursor) bytes(what string) ([]byte, *event.Error) {
	if c.at < len(c.data) {
		// Most lengths are below 64: one byte, which is twice the length.
		if n, from := int(c.data[c.at]), c.at+1; n&0x81 == 0 && n/2 <= len(c.data)-from {
			c.at = from
			return c.cut(n / 2), nil
		}
	}
	return c.longerBytes(what)
}

func (c *cursor) longerBytes(what string) ([]byte, *event.Error) {
	n, err := c.long()
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return nil, c.fail("%s of length %d, before byte %d", what, n, c.at)
	case n > int64(c.left()):
		return nil, c.fail("%s of %d bytes at byte %d, but the record ends after %d", what, n, c.at, c.left())
	}
	return c.cut(int(n)), nil
}

// cut takes bytes that are known to be there.
func (c *cursor) cut(n int) []byte {
	p := c.data[c.at : c.at+n : c.at+n]
	c.at += n
	return p
}

func (c *cursor) need(n int, what string) *event.Error {
	if n > c.left() {
		return c.short(what)
	}
	return nil
}

func (c *cursor) bool() (bool, *event.Error) {
	if c.at == len(c.data) {
		return false, c.short("a boolean")
	}
	switch c.at++; c.data[c.at-1] {
	case 0:
		return false, nil
	case 1:
		return true, nil
	}
	return false, c.fail("a boolean is 0 or 1; byte %d is %#x", c.at-1, c.data[c.at-1])
}

// float reads a float or a double.
func (c *cursor) float(k kind) (float64, *event.Error) {
	if k == float {
		if err := c.need(4, "a float"); err != nil {
			return 0, err
		}
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(c.cut(4)))), nil
	}
	if err := c.need(8, "a double"); err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(c.cut(8))), nil
}

// block is a part of an array or a map.
type block struct {
	items int // 0: it was the last one
	end   int // where it ends, if given; otherwise -1
}

// block reads the head of a block whose items take at least that many bytes each.
func (c *cursor) block(least int) (block, *event.Error) {
	n, err := c.long()
	if err != nil || n == 0 {
		return block{}, err
	}
	b := block{end: -1}
	if n < 0 {
		size, err := c.long()
		switch {
		case err != nil:
			return block{}, err
		case size < 0 || size > int64(c.left()):
			return block{}, c.fail("a block of %d bytes at byte %d, but the record ends after %d", size, c.at, c.left())
		}
		n, b.end = -n, c.at+int(size)
	}
	room := int64(math.MaxInt32)
	if least > 0 {
		room = int64(c.left() / least)
	}
	if n < 0 || n > room { // -n of the smallest number is itself
		return block{}, c.fail("a block of %d items at byte %d, but the record ends after %d bytes", n, c.at, c.left())
	}
	b.items = int(n)
	return b, nil
}

// ended checks that a block had the length it gave.
func (c *cursor) ended(b block) *event.Error {
	if b.end >= 0 && b.end != c.at {
		return c.fail("a block of items should end at byte %d but ends at byte %d", b.end, c.at)
	}
	return nil
}

func (c *cursor) enter() *event.Error {
	if c.depth++; c.depth > maxNesting {
		return c.fail("values are nested more than %d levels deep", maxNesting)
	}
	return nil
}

// skip skips a value.
func (c *cursor) skip(t *typ) *event.Error {
	if t.least == 0 {
		return nil
	}
	var err *event.Error
	switch t.kind {
	case boolean:
		_, err = c.bool()
	case integer, long:
		_, err = c.long()
	case float, double, fixed:
		if err = c.need(t.least, "a value of fixed length"); err == nil {
			c.at += t.least
		}
	case bytes, text:
		_, err = c.bytes("a string")
	case enum:
		_, err = c.index(len(t.symbols), "symbol")
	case union:
		var i int
		if i, err = c.index(len(t.branches), "branch"); err == nil {
			err = c.skip(t.branches[i])
		}
	default:
		err = c.skipWithin(t)
	}
	return err
}

// skipWithin skips a record, an array or a map.
func (c *cursor) skipWithin(t *typ) *event.Error {
	if err := c.enter(); err != nil {
		return err
	}
	for i := range t.fields {
		if err := c.skip(t.fields[i].typ); err != nil {
			return c.in(t.fields[i].name, err)
		}
	}
	if t.kind != record {
		if err := c.skipBlocks(t); err != nil {
			return err
		}
	}
	c.depth--
	return nil
}

func (c *cursor) skipBlocks(t *typ) *event.Error {
	for {
		b, err := c.block(t.leastItem())
		switch {
		case err != nil || b.items == 0:
			return err
		case b.end >= 0:
			c.at = b.end
			continue
		}
		if err := c.skipItems(t, b.items); err != nil {
			return err
		}
	}
}

// leastItem returns the fewest bytes of an item of an array or a map.
func (t *typ) leastItem() int {
	if t.kind == mapping {
		return t.items.least + 1
	}
	return t.items.least
}

// skipItems skips n items of an array or a map.
func (c *cursor) skipItems(t *typ, n int) *event.Error {
	if t.leastItem() == 0 {
		return nil
	}
	for range n {
		if t.kind == mapping {
			if _, err := c.bytes("a key"); err != nil {
				return err
			}
		}
		if err := c.skip(t.items); err != nil {
			return err
		}
	}
	return nil
}
