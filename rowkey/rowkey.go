package rowkey

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Type is the type of a field that a key may name.
type Type uint8

// The field types. A Time is in milliseconds since 1970; the key determines the unit that it is stored in.
const (
	Text Type = iota + 1
	Int
	Float
	Bool
	Time
)

func (t Type) String() string {
	names := [...]string{"null", "text", "int", "float", "bool", "time"}
	if int(t) >= len(names) {
		return "unknown"
	}
	return names[t]
}

// ParseType parses the name of a field's type.
func ParseType(name string) (Type, error) {
	for t := Text; t <= Time; t++ {
		if t.String() == name {
			return t, nil
		}
	}
	return 0, errors.New("the types are text, int, float, bool and time")
}

// one returns the name of the type with its article.
func (t Type) one() string {
	if t == Int {
		return "an int"
	}
	return "a " + t.String()
}

// Field is a name that a key expression may use.
type Field struct {
	Name string
	Type Type
	Unit time.Duration // what an Int counts since 1970, for example time.Microsecond; 0: it is not a time

	// Whole is what the values of a Time are whole numbers of, for example time.Second. 0: of milliseconds.
	Whole time.Duration
}

// MaxRow is the longest row key that HBase accepts, in bytes.
const MaxRow = 32767

// Key is a parsed expression. It is immutable and safe for concurrent use.
type Key struct {
	expr     string // normal form
	slots    []slot
	fields   []field // the fields that the key reads, in order of appearance
	hashed   []int   // positions of the fields that no part holds
	declared []Field // all fields passed to Parse, for the fixes of Lint
	bindable []Field
	loses    map[string]int64 // how much of each field the key loses; −1 means all of it
}

// slot is one part in its position in the key.
type slot struct {
	part
	offset int  // of the part in the expression as written
	holds  bool // decoding reads a field's value from here
	checks bool // decoding compares it with the encoding of the decoded values
}

// String returns the expression in its normal form. Parsing it returns the same key, and equal keys have equal forms.
func (k *Key) String() string { return k.expr }

// Fields returns the names that the key reads, in the order in which Append takes their values.
func (k *Key) Fields() []string {
	names := make([]string, len(k.fields))
	for i, f := range k.fields {
		names[i] = f.name
	}
	return names
}

// Bindable returns the fields on which Ranges accepts bounds: those of Fields, and GeohashBound if the key holds a geohash.
func (k *Key) Bindable() []Field { return slices.Clip(k.bindable) }

// sum sets what the parts amount to.
func (k *Key) sum() {
	k.loses = map[string]int64{}
	for _, f := range k.fields {
		k.bindable = append(k.bindable, Field{f.name, f.typ, f.unit, f.whole})
		k.loses[f.name] = -1
	}
	if k.geohash() != nil {
		k.bindable = append(k.bindable, Field{Name: GeohashBound, Type: Text})
	}
	for _, s := range k.slots {
		if s.holds {
			for _, f := range held(s.part) {
				k.loses[f.name] = loss(s.part)
			}
		}
	}
}

// Append appends the row key of values (one for each of Fields, in that order) to dst. Its errors are *ValueError, and it then returns dst
// unchanged. It does not allocate if dst has room.
func (k *Key) Append(dst []byte, values []Value) ([]byte, error) {
	if len(values) != len(k.fields) {
		return dst, countError(len(k.fields), len(values))
	}
	row := dst
	for i := range k.slots {
		var err error
		if row, err = k.slots[i].append(row, values); err != nil {
			return dst, err
		}
	}
	if n := len(row) - len(dst); n == 0 || n > MaxRow {
		return dst, k.lengthError(n, values)
	}
	return row, nil
}

// Decode decodes a row key into one value for each of Fields. Fields that the key only hashes are null. A time, float or place is as exact
// as the key holds it. The Text of values may alias row. For bytes that no values encode to, Decode returns a *DecodeError with the
// position. If Decode accepts a row, Append writes it again byte for byte.
func (k *Key) Decode(row []byte) ([]Value, error) {
	values := make([]Value, len(k.fields))
	if err := k.DecodeInto(values, row); err != nil {
		return nil, err
	}
	return values, nil
}

// DecodeInto is Decode into the caller's values, one for each of Fields. If it returns an error, their contents are undefined.
func (k *Key) DecodeInto(values []Value, row []byte) error {
	if len(values) != len(k.fields) {
		return countError(len(k.fields), len(values))
	}
	if len(row) == 0 || len(row) > MaxRow {
		return &DecodeError{Row: row, Msg: "a row key has 1 to 32,767 bytes"}
	}
	for _, i := range k.hashed {
		values[i] = Value{}
	}
	var ends [maxParts]uint16 // of the parts
	at := 0
	for i := range k.slots {
		s := &k.slots[i]
		n, err := s.measure(row[at:])
		if err == nil && s.holds {
			err = s.decode(row[at:at+n], values)
		}
		if err != nil {
			return &DecodeError{Row: row, Offset: at, Part: s.expr(), Msg: err.Error()}
		}
		at += n
		ends[i] = uint16(at)
	}
	if at < len(row) {
		return &DecodeError{Row: row, Offset: at, Msg: fmt.Sprintf("the key ends at byte %d, but the row has %d", at, len(row))}
	}
	return k.verify(row, &ends, values)
}

// verify checks the parts of row that are computed from values which other parts hold.
func (k *Key) verify(row []byte, ends *[maxParts]uint16, values []Value) error {
	start := uint16(0)
	for i := range k.slots {
		s := &k.slots[i]
		if s.checks {
			if err := s.verify(row[start:ends[i]], values); err != nil {
				return &DecodeError{Row: row, Offset: int(start), Part: s.expr(), Msg: err.Error()}
			}
		}
		start = ends[i]
	}
	return nil
}
