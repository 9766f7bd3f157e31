package verify

import "bytes"

// familyOf returns the family of a column; it is empty for a document's field.
func familyOf(name []byte) []byte {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		return name[:i]
	}
	return name
}

// hidden returns the version up to which deletes hide the column's cells, or −1 if none do, and the record that deletes them.
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
		case anything:
			if o.version >= version {
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
		if o := &f.may[i]; o.version == c.Version &&
			(o.kind == anything || o.kind == put && o.value == c.Value && bytes.Equal(o.column, c.Column)) {
			return true
		}
	}
	return false
}

// holds reports whether the records leave this value in the cell, or the cell's tie includes it.
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

// tied reports whether the field belongs to one of several documents of one version, any of which may have come last.
func (f *fold) tied(c *column) bool {
	for i := range f.families {
		if fam := &f.families[i]; fam.tied && c.best.version == fam.deleted+1 && bytes.Equal(fam.name, familyOf(c.name)) {
			return true
		}
	}
	return false
}
