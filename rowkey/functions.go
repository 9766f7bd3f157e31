package rowkey

import "fmt"

// Function describes a function of the language, for help texts and the reference page.
type Function struct {
	Name  string
	Usage []string // its forms; what is in brackets is optional
	Doc   string
}

// Functions returns all functions of the language.
func Functions() []Function {
	all := make([]Function, len(functions))
	for i, f := range functions {
		all[i] = f.Function
	}
	return all
}

// function is a Function and the way its calls become parts.
type function struct {
	Function
	build func(*call) (part, error)
}

// functions is the whole language, except bare fields and strings.
var functions = []function{
	{
		Function: Function{"md5",
			[]string{"md5(field, …, digits)", "md5(field, …, n bytes)"},
			"The first hex digits (1 to 32, lower case), or bytes (1 to 16), of the md5 of the field's text, or of the concatenated texts of " +
				"several fields. Put it first so that rows spread evenly over the regions; hash what a query always knows (the " +
				"waybill), never what a scan ranges over (the time)."},
		build: func(c *call) (part, error) { return buildHash(c, md5Hash) },
	},
	{
		Function: Function{"murmur3",
			[]string{"murmur3(field, …, digits)", "murmur3(field, …, n bytes)"},
			"Like md5, but with murmur3 (x86, 32 bits, seed 0): 1 to 8 hex digits or 1 to 4 bytes."},
		build: func(c *call) (part, error) { return buildHash(c, murmur3Hash) },
	},
	{
		Function: Function{"xxhash",
			[]string{"xxhash(field, …, digits)", "xxhash(field, …, n bytes)"},
			"Like md5, but with xxHash64 (seed 0), the fastest of the three: 1 to 16 hex digits or 1 to 8 bytes."},
		build: func(c *call) (part, error) { return buildHash(c, xxhashHash) },
	},
	{
		Function: Function{"salt",
			[]string{"salt(buckets, field, …)"},
			"A bucket number, murmur3(text of the fields) modulo buckets: one byte up to 256 buckets, two big-endian bytes up to 65,536. " +
				"A scan that does not bind the fields reads every bucket. The salt is computed, never random: a replay, a reader and a " +
				"second writer must find the same row."},
		build: buildSalt,
	},
	{
		Function: Function{"fixed",
			[]string{"fixed(text, width)", `fixed(text, width, "pad")`, `fixed(text, width, left, "pad")`, "fixed(int, digits)"},
			`A text in a fixed number of bytes. It is padded on the right with "\x00" or, with left, on the left with "0"; a pad overrides both. ` +
				"A value that is too long, or that ends (left: begins) with the pad, is refused. An int becomes that many decimal digits (1 to 18), " +
				"with leading zeros, so that rows sort numerically; it may not be negative."},
		build: buildFixed,
	},
	{
		Function: Function{"reverse",
			[]string{"reverse(text)", `reverse(text, "separator")`, "reverse(int)", "reverse(int, digits)"},
			"A text from its last character to its first or, with a separator, its labels from last to first (www.demo.com becomes com.demo.www). " +
				"An int, which may not be negative, as decimal digits in reverse order, so that ascending numbers spread; with digits (1 to 18), " +
				"in that width: 123 in 5 is 32100. Without digits it has any length and needs a separator after it, as a bare field does."},
		build: buildReverse,
	},
	{
		Function: Function{"asc",
			[]string{"asc(int [, 8|16|32|64] [, text])", "asc(float [, 32|64])", "asc(bool)", "asc(time, unit [, 32|64] [, text])", "asc(text)"},
			"A number whose bytes sort from low to high: big-endian, and in 64 bits by default. Ints have the sign bit flipped. Floats become " +
				"order-preserving IEEE 754 bits (32 rounds to the nearest). Bools are one byte. Times are the number of us, ms, s, min, hour or " +
				"day since 1970, rounded down; us and ms take 64 bits, and s in 32 bits ends in 2038. With text, the number is written as " +
				"zero-padded decimal digits, 19 for 64 bits, 10 for 32; then ints may not be negative. Times before 1970 are refused. asc(text) " +
				"is the same as the bare field."},
		build: func(c *call) (part, error) { return buildNumber(c, false) },
	},
	{
		Function: Function{"desc",
			[]string{"desc(int [, 8|16|32|64] [, text])", "desc(float [, 32|64])", "desc(bool)",
				"desc(time, unit [, 32|64] [, text])", "desc(text)"},
			"Like asc, but from high to low: the greatest value of that size minus the number. desc(at, ms) is MAX_LONG − ms in 8 bytes, so the " +
				"newest row comes first; desc(at, s, 32) is MAX_INT − s in 4 bytes; desc(at, ms, text) is MAX_LONG − ms in 19 digits. " +
				"In a text, each byte b becomes 255 − b; it has any length, as a bare field does. End it with \"\\xff\": then a text sorts after " +
				"longer texts that begin with it."},
		build: func(c *call) (part, error) { return buildNumber(c, true) },
	},
	{
		Function: Function{"geohash",
			[]string{"geohash(latitude, longitude, digits)"},
			"The cell of a place, given as two floats in degrees, in 1 to 12 digits of base 32. Each digit divides the cell before it into 32: " +
				"with 5 digits a cell is some 5 km wide, with 8 some 40 m. It reads back as the middle of its cell. A query binds the first digits " +
				"under the name geohash (geohash = ws10) to find all places in that cell; places on both sides of a cell's edge are far apart in " +
				"the table."},
		build: buildGeohash,
	},
}

func buildHash(c *call, a *algorithm) (part, error) {
	h := &hash{algorithm: a}
	for c.nextIs(argName) {
		f, err := c.field(Text, Int, Float, Bool, Time)
		if err != nil {
			return nil, err
		}
		h.fields = append(h.fields, f)
	}
	if len(h.fields) == 0 {
		return nil, c.missing("a field to hash")
	}
	if !c.nextIs(argNumber) {
		return nil, c.missing("the length: a number of hex digits, or of bytes as in 2 bytes")
	}
	h.plain = len(h.fields) == 1 && h.fields[0].typ == Text
	h.raw = c.unit() == "bytes"
	most := 2 * a.size
	if h.raw {
		most = a.size
	}
	var err error
	if h.n, err = c.number("length of the hash", 1, most); err != nil {
		return nil, err
	}
	return h, nil
}

func buildSalt(c *call) (part, error) {
	s := &salt{}
	var err error
	if s.buckets, err = c.number("number of buckets", 2, maxBuckets); err != nil {
		return nil, err
	}
	for c.nextIs(argName) {
		f, err := c.field(Text, Int, Float, Bool, Time)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, f)
	}
	if len(s.fields) == 0 {
		return nil, c.missing("a field to compute the bucket from (a random bucket would lose the row on replay)")
	}
	return s, nil
}

func buildFixed(c *call) (part, error) {
	f, err := c.field(Text, Int)
	if err != nil {
		return nil, err
	}
	if f.typ == Int {
		n, err := c.number("number of digits", 1, 18)
		if err != nil {
			return nil, err
		}
		top := uint64(1)
		for range n {
			top *= 10
		}
		return &number{field: f, form: "fixed", bits: 64, n: n, text: true, top: top - 1}, nil
	}
	p := &fixed{field: f}
	if p.n, err = c.number("width in bytes", 1, 1024); err != nil {
		return nil, err
	}
	if p.left = c.takeWord("left"); p.left {
		p.pad = '0'
	} else {
		c.takeWord("right")
	}
	if c.nextIs(argString) {
		pad := c.string()
		if len(pad) != 1 {
			return nil, c.wrong("the pad is one byte", `write "0", " " or "\x00"`)
		}
		p.pad = pad[0]
	}
	return p, nil
}

func buildReverse(c *call) (part, error) {
	f, err := c.field(Text, Int)
	if err != nil {
		return nil, err
	}
	if f.typ == Int {
		p := &reversedInt{field: f}
		if c.nextIs(argNumber) {
			p.digits, err = c.number("number of digits", 1, 18)
		}
		return p, err
	}
	p := &reversedText{field: f}
	if c.nextIs(argString) {
		if p.labels = c.string(); p.labels == "" {
			return nil, c.wrong("the separator of the labels is empty", `write reverse(`+f.name+`, ".")`)
		}
	}
	return p, nil
}

func buildNumber(c *call, desc bool) (part, error) {
	f, err := c.field(Int, Float, Bool, Time, Text)
	if err != nil {
		return nil, err
	}
	if f.typ == Text {
		if desc {
			return &descText{field: f}, nil
		}
		return &text{field: f}, nil
	}
	n := &number{field: f, form: c.Name, desc: desc, bits: 64}
	if f.typ == Time {
		if n.unit, err = c.timeUnit(); err != nil {
			return nil, err
		}
	}
	if f.typ == Bool {
		n.bits = 8
	} else if c.nextIs(argNumber) {
		if n.bits, err = c.bits(n); err != nil {
			return nil, err
		}
	}
	if f.typ == Int || f.typ == Time {
		n.text = c.takeWord("text")
	}
	n.size()
	return n, nil
}

// size sets the width and the greatest ordinal for the number's bits.
func (n *number) size() {
	n.n = n.bits / 8
	switch {
	case n.typ == Bool:
		n.top = 1
	case n.unit != nil || n.text:
		n.top = 1<<(n.bits-1) - 1
		if n.text {
			n.n = len(fmt.Sprint(n.top))
		}
	default:
		n.top = 1<<n.bits - 1 // 2^64 − 1 for 64 bits, because 1<<64 is 0
	}
}

func buildGeohash(c *call) (part, error) {
	g := &geohash{}
	for i := range g.fields {
		f, err := c.field(Float)
		if err != nil {
			return nil, err
		}
		g.fields[i] = f
	}
	if g.fields[0].pos == g.fields[1].pos {
		return nil, c.wrong("the latitude and the longitude are the same field", c.usageFix())
	}
	var err error
	g.n, err = c.number("number of digits", 1, 12)
	return g, err
}
