package verify

import "bytes"

// fold is the result of all records of one key: of each cell the greatest version, less what deletes hide. It does not depend on the order
// of its entries. Different values of the same version all stay, because the one applied last won and it is not known which that was.
type fold struct {
	key      []byte
	columns  []column
	byName   map[string]int // index into columns, once there are many
	families []family
	may      []later // in no order
	arena    []byte  // names of columns, because entries are not retained

	must    bool // a record of the key must be in the store
	probed  bool
	records int64

	first    origin
	content  uint64 // of the first record
	other    origin // another record with other content
	collides bool
}

// column is a cell as the records leave it.
type column struct {
	name      []byte
	best      op // its kind is 0 until there is a put
	from      origin
	ties      []tie
	deleted   int64 // the version of the delete; −1: none
	deletedBy origin
	met       bool // the store has a cell in it
}

// tie is another value of the best version.
type tie struct {
	value uint64
	from  origin
}

// family is a delete of a whole family, or a replacement of a whole document.
type family struct {
	name    []byte
	deleted int64
	by      origin
	tied    bool   // two different documents of one version replace each other
	other   origin // the second of them
	content uint64
}

// later is an op of a record that may have been written.
type later struct {
	op
	from origin
}

// reset begins a key.
func (f *fold) reset(key []byte) {
	f.key = append(f.key[:0], key...)
	f.columns, f.families, f.may, f.arena = f.columns[:0], f.families[:0], f.may[:0], f.arena[:0]
	f.must, f.probed, f.collides, f.records = false, false, false, 0
}

func (f *fold) add(e entry) error {
	if e.flags&probe != 0 {
		f.probed = true
		return nil
	}
	content := hash(e.ops)
	for b := e.ops; len(b) > 0; {
		o, rest, err := nextOp(b)
		if err != nil {
			return err
		}
		b = rest
		if e.flags&may != 0 {
			o.column = f.name(o.column)
			f.may = append(f.may, later{o, e.origin})
			continue
		}
		f.apply(o, e.origin, content)
	}
	if e.flags&may == 0 {
		f.count(e.origin, content)
	}
	return nil
}

// count counts a record that must be in the store, and detects one that differs from the first.
func (f *fold) count(from origin, content uint64) {
	f.records++
	switch {
	case !f.must:
		f.must, f.first, f.content = true, from, content
	case from.source == f.first.source && content != f.content && !f.collides:
		f.collides, f.other = true, from
	}
}

func (f *fold) apply(o op, from origin, content uint64) {
	switch o.kind {
	case put:
		f.column(o.column).put(o, from)
	case deleteColumn:
		if c := f.column(o.column); o.version > c.deleted {
			c.deleted, c.deletedBy = o.version, from
		}
	case deleteFamily, replace:
		fam := f.family(o.column)
		version := o.version
		if o.kind == replace {
			version-- // the document's own fields have the version
		}
		switch {
		case version > fam.deleted:
			fam.deleted, fam.by, fam.content, fam.tied = version, from, content, false
		case version == fam.deleted && o.kind == replace && content != fam.content:
			if !fam.tied || from != fam.by {
				fam.other = from
			}
			fam.tied = true
		}
	}
}

func (c *column) put(o op, from origin) {
	switch {
	case c.best.kind == 0 || o.version > c.best.version:
		o.column = c.name
		c.best, c.from, c.ties = o, from, c.ties[:0]
	case o.version == c.best.version && o.value != c.best.value:
		c.ties = append(c.ties, tie{o.value, from})
	}
}

const manyColumns = 32 // the most columns that are searched linearly

// find returns a column's index, or −1 if no record names it.
func (f *fold) find(name []byte) int {
	if len(f.columns) <= manyColumns {
		for i := range f.columns {
			if bytes.Equal(f.columns[i].name, name) {
				return i
			}
		}
		return -1
	}
	if i, ok := f.byName[string(name)]; ok {
		return i
	}
	return -1
}

// column returns a column, which it adds if it is missing.
func (f *fold) column(name []byte) *column {
	if i := f.find(name); i >= 0 {
		return &f.columns[i]
	}
	var ties []tie
	if n := len(f.columns); n < cap(f.columns) {
		ties = f.columns[:n+1][n].ties[:0]
	}
	f.columns = append(f.columns, column{name: f.name(name), deleted: -1, ties: ties})
	f.number()
	return &f.columns[len(f.columns)-1]
}

// number maintains byName once there are many columns.
func (f *fold) number() {
	first := len(f.columns) - 1
	switch {
	case first < manyColumns:
		return
	case first == manyColumns:
		f.byName, first = make(map[string]int, 2*manyColumns), 0
	}
	for i := first; i < len(f.columns); i++ {
		f.byName[string(f.columns[i].name)] = i
	}
}

func (f *fold) family(name []byte) *family {
	for i := range f.families {
		if bytes.Equal(f.families[i].name, name) {
			return &f.families[i]
		}
	}
	f.families = append(f.families, family{name: f.name(name), deleted: -1})
	return &f.families[len(f.families)-1]
}

// name copies a name into the arena.
func (f *fold) name(b []byte) []byte {
	start := len(f.arena)
	f.arena = append(f.arena, b...)
	return f.arena[start:len(f.arena):len(f.arena)]
}
