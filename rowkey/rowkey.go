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

func (t Type) String() string {
	names := [...]string{"null", "text", "int", "float", "bool", "time"}
	if int(t) >= len(names) {
		return "unknown"
	}
	return names[t]
}

// one is a value of the type, with its article.
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
}

// MaxRow is the longest row key that HBase takes, in bytes.
const MaxRow = 32767

// Key is a parsed expression. It is immutable and safe for concurrent use.
type Key struct {
	expr     string // normal form
	slots    []slot
	fields   []field // those that the key reads, in order of appearance
	declared []Field // all that Parse was given, for the mends of Lint
}

// slot is one part in its place in the key.
type slot struct {
	part
	offset int  // of the part in the expression as written
	holds  bool // decoding takes its field's value from here
	checks bool // decoding compares it with what the decoded values encode to
}

// String is the expression in its normal form: parsing it gives the same key, and equal keys have equal forms.
func (k *Key) String() string { return k.expr }

// Fields are the names that the key reads, in the order in which Append takes their values.
func (k *Key) Fields() []string {
	names := make([]string, len(k.fields))
	for i, f := range k.fields {
		names[i] = f.name
	}
	return names
}

// Append appends the row key of values (one for each of Fields, in that order) to dst. Its errors are *ValueError; dst is
// then returned as it was. It does not allocate when dst has room.
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

// Decode reads a row key back into one value for each of Fields. Fields that the key holds only hashed are null, and a
// time or float comes back as exactly as the key holds it. The values' Text may alias row. Bytes that no values encode to
// are a *DecodeError that shows where: what Decode accepts, Append writes again byte for byte.
func (k *Key) Decode(row []byte) ([]Value, error) {
	var ends [maxParts]int
	if n, err := k.split(row, &ends); err != nil {
		return nil, k.decodeError(row, n, &ends, err)
	}
	values := make([]Value, len(k.fields))
	if n, err := k.read(row, &ends, values); err != nil {
		return nil, k.decodeError(row, n, &ends, err)
	}
	return values, nil
}

// split finds where each part of row ends. With an error it says at which part.
func (k *Key) split(row []byte, ends *[maxParts]int) (int, error) {
	if len(row) == 0 || len(row) > MaxRow {
		return 0, errRowLength
	}
	at := 0
	for i := range k.slots {
		n, err := k.slots[i].measure(row[at:])
		if err != nil {
			return i, err
		}
		at += n
		ends[i] = at
	}
	if at < len(row) {
		return len(k.slots), errTrailing
	}
	return 0, nil
}

// read fills values from the parts that hold them, then checks the parts that are computed from them.
func (k *Key) read(row []byte, ends *[maxParts]int, values []Value) (int, error) {
	start := 0
	for i := range k.slots {
		if k.slots[i].holds {
			if err := k.slots[i].decode(row[start:ends[i]], values); err != nil {
				return i, err
			}
		}
		start = ends[i]
	}
	start = 0
	for i := range k.slots {
		if k.slots[i].checks {
			if err := k.slots[i].verify(row[start:ends[i]], values); err != nil {
				return i, err
			}
		}
		start = ends[i]
	}
	return 0, nil
}
