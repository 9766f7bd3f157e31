package verify

import "bytes"

// fold is what the records of one key come to: of each cell the greatest version, less what deletes hide. Its outcome does not depend on
// the order of its entries. Equal versions with different values all stand, since the last applied won and nobody knows which that was.
type fold struct {
	key      []byte
	columns  []column
	families []family
	may      []later // in no order
	arena    []byte  // names of columns, which entries do not keep

	must    bool // some record must be here
	probed  bool
	records int64

	first    origin
	content  uint64 // of the first record
	other    origin // another record with another content
	collides bool
}

// column is a cell as the records leave it.
type column struct {
	name      []byte
	best      op // its kind is 0 as long as there is no put
	from      origin
	ties      []tie
	deleted   int64 // −1: not
	deletedBy origin
}

// tie is another value of the best version.
type tie struct {
	value uint64
	from  origin
}

// family is what deletes a whole family, or replaces a whole document.
type family struct {
	name    []byte
	deleted int64
	by      origin
	tied    bool // two different documents of one version replace each other
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

// count notes a record that must be here, and whether it is another one than the first.
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
			version-- // the document's own fields are of the version
		}
		switch {
		case version > fam.deleted:
			fam.deleted, fam.by, fam.content, fam.tied = version, from, content, false
		case version == fam.deleted && o.kind == replace && content != fam.content:
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

// column finds or adds a column.
func (f *fold) column(name []byte) *column {
	for i := range f.columns {
		if bytes.Equal(f.columns[i].name, name) {
			return &f.columns[i]
		}
	}
	var ties []tie
	if n := len(f.columns); n < cap(f.columns) {
		ties = f.columns[:n+1][n].ties[:0]
	}
	f.columns = append(f.columns, column{name: f.name(name), deleted: -1, ties: ties})
	return &f.columns[len(f.columns)-1]
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

// name keeps a name in the arena.
func (f *fold) name(b []byte) []byte {
	start := len(f.arena)
	f.arena = append(f.arena, b...)
	return f.arena[start:len(f.arena):len(f.arena)]
}

// familyOf is the family of a column; empty for a document's field.
func familyOf(name []byte) []byte {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[:i]
	}
	return name
}

// hidden is the version up to which deletes hide the column's cells, −1 for none, and the record that does.
func (f *fold) hidden(c *column) (int64, origin) {
	version, by := c.deleted, c.deletedBy
	for i := range f.families {
		if fam := &f.families[i]; fam.deleted > version && bytes.Equal(fam.name, familyOf(c.name)) {
			version, by = fam.deleted, fam.by
		}
	}
	return version, by
}

// visible reports whether a reader would see the column's cell.
func (f *fold) visible(c *column) bool {
	version, _ := f.hidden(c)
	return c.best.kind != 0 && c.best.version > version
}

// mayHide reports whether a record that may have been written hides a cell of this version.
func (f *fold) mayHide(name []byte, version int64) bool {
	for i := range f.may {
		switch o := &f.may[i]; o.kind {
		case deleteColumn:
			if o.version >= version && bytes.Equal(o.column, name) {
				return true
			}
		case deleteFamily, replace:
			at := o.version
			if o.kind == replace {
				at--
			}
			if (at >= version || o.kind == replace && o.version == version) && bytes.Equal(o.column, familyOf(name)) {
				return true
			}
		}
	}
	return false
}

// mayHold reports whether a record that may have been written wrote the cell.
func (f *fold) mayHold(c *Cell) bool {
	for i := range f.may {
		if o := &f.may[i]; o.kind == put && o.version == c.Version && o.value == c.Value && bytes.Equal(o.column, c.Column) {
			return true
		}
	}
	return false
}

// holds reports whether the cell is what the records leave, with one of the values of a tie.
func (c *column) holds(value uint64) bool {
	if c.best.value == value {
		return true
	}
	for _, t := range c.ties {
		if t.value == value {
			return true
		}
	}
	return false
}

// tied reports whether the field is of one of several documents of one version, any of which may have come last.
func (f *fold) tied(c *column) bool {
	for i := range f.families {
		if fam := &f.families[i]; fam.tied && c.best.version == fam.deleted+1 && bytes.Equal(fam.name, familyOf(c.name)) {
			return true
		}
	}
	return false
}
