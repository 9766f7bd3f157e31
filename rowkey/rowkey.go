// Package rowkey is the row-key language: it parses a key expression such as
//
//	md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action
//
// and encodes, decodes, ranges over and splits by it. sink, query and config import it; so can anyone who wants
// salted, designed row keys and nothing else of ours. It imports nothing of ours and is pure: a key is a function of the
// named values alone, never of a clock, an offset or chance, so a replay finds the row that the first run wrote.
//
// The invariant: what Append encodes, Decode gives back; and the byte order of keys is the order that the expression states.
package rowkey

// Type is the type of a field a key may name.
type Type uint8

// The field types. A Time is milliseconds since 1970; the key says in which unit it is stored.
const (
	Text Type = iota + 1
	Int
	Float
	Bool
	Time
)

// Field is a name that a key expression may use.
type Field struct {
	Name string
	Type Type
}

// Value is one field's value for encoding, or as decoded. The zero Value is null.
type Value struct {
	Type Type
	Int  int64 // Int; Time in ms since 1970; Bool as 0 or 1; Float as IEEE 754 bits
	Text []byte
}

// Key is a parsed expression. It is immutable and safe for concurrent use.
type Key struct{}

// Parse reads an expression over the given fields. Its errors are *SyntaxError with the position and the mend.
func Parse(expr string, fields []Field) (*Key, error) { panic("not implemented") }

// SyntaxError is a mistake in a key expression.
type SyntaxError struct {
	Offset int    // byte offset in the expression
	Msg    string // what is wrong
	Mend   string // what to write instead
}

func (e *SyntaxError) Error() string { return e.Msg + "; " + e.Mend }

// String is the expression in its normal form.
func (k *Key) String() string { panic("not implemented") }

// Fields are the names that the key reads, in the order in which Append takes their values.
func (k *Key) Fields() []string { panic("not implemented") }

// Append appends the row key of values (one for each of Fields, in that order) to dst. Its errors are *ValueError; dst is
// then returned as it was. It does not allocate when dst has room.
func (k *Key) Append(dst []byte, values []Value) ([]byte, error) { panic("not implemented") }

// ValueError is a value that the key cannot hold.
type ValueError struct {
	Field   string
	Missing bool // the value is null
	TooLong bool // the key would pass HBase's 32,767 bytes
	Msg     string
}

func (e *ValueError) Error() string { return "key field " + e.Field + ": " + e.Msg }

// Decode reads a row key back into one value for each of Fields. Fields that the key holds only hashed are null.
// Bytes that no value encodes to are an error that shows where.
func (k *Key) Decode(row []byte) ([]Value, error) { panic("not implemented") }

// Bound limits one field of a range. Equal binds the field to one value; From and To bound the field after the last bound
// one: From is inclusive and To exclusive, in the field's own order whatever the key's; null means open.
type Bound struct {
	Equal    Value
	From, To Value
}

// Range is rows from Start (inclusive) to Stop (exclusive; nil means the end of the table).
type Range struct{ Start, Stop []byte }

// Ranges gives the row ranges that hold exactly the rows whose fields satisfy bounds: one range, or one for each salt
// bucket when the salt cannot be computed from the bound fields. Bounds must bind a left-most set of the key's fields, the
// last one possibly to From and To; otherwise the error names the field that is missing.
func (k *Key) Ranges(bounds map[string]Bound) ([]Range, error) { panic("not implemented") }

// Splits gives the n−1 split points that cut the key space into n regions of equal expected load, on salt, hash and hex
// boundaries. It is an error when the key's first part does not spread (no hash or salt) and n > 1.
func (k *Key) Splits(n int) ([][]byte, error) { panic("not implemented") }

// Part is one part of a key as explained to people.
type Part struct {
	Expr  string // as written, such as desc(at, ms)
	Width int    // bytes; 0 = variable
	Doc   string // what it does and how it orders, in one sentence
	Bytes []byte // this part of the row explained; nil when no row was given
	Value string // the decoded value for people; empty when it holds a hash or no row was given
}

// Explain describes the key part by part; row may be nil.
func (k *Key) Explain(row []byte) ([]Part, error) { panic("not implemented") }
