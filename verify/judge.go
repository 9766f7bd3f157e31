package verify

import (
	"bytes"
	"slices"
	"time"

	"brine/indexer"
)

// judge compares the contents of a store with what is expected there. It belongs to one goroutine.
type judge struct {
	table *Table
	marks [][]byte // see Options.marks
	full  bool
	// blind: for some records neither what they made nor where is known, or there are others that are not read: cells that no record accounts
	// for may be theirs.
	blind bool
	now   int64
	tally tally
	out   func(Finding)

	cells cellHasher // of the key that is judged
}

// tally counts what a judge saw.
type tally struct {
	Rows     int64 // expected rows
	Cells    int64
	Compared int64 // keys compared
	Repeats  int64 // records beyond the first of a row, in a table whose rows are events
	Expired  int64 // rows with cells that may be gone because of their TTL
	Unjudged int64 // cells that no known record accounts for
	Newer    int64 // rows with cells that are newer than expected, for a known reason or, in window mode, presumed to have one
	Ties     int64 // rows that depend on the order in which changes of one version were applied
	tie      *Tie  // the first of them, by key

	Digest, Expected uint64 // sums of cellHasher.cell, of the actual and of the expected cells
}

func (t *tally) add(o *tally) {
	t.Rows, t.Cells, t.Compared, t.Repeats = t.Rows+o.Rows, t.Cells+o.Cells, t.Compared+o.Compared, t.Repeats+o.Repeats
	t.Unjudged += o.Unjudged
	t.Ties, t.tie = t.Ties+o.Ties, firstTie(t.tie, o.tie)
	t.Expired, t.Newer, t.Digest, t.Expected = t.Expired+o.Expired, t.Newer+o.Newer, t.Digest+o.Digest, t.Expected+o.Expected
}

const clockSlack = time.Minute // by which a server's clock may be ahead of ours

// key judges one key. f without records means that only the scan found the key.
func (j *judge) key(f *fold, cells []Cell) {
	j.tally.Compared++
	j.cells.begin(f.key)
	if len(cells) > 0 && len(f.columns) == 0 && len(f.families) == 0 && len(f.may) == 0 {
		for i := range cells {
			j.count(&cells[i])
		}
		switch {
		case j.full && j.blind:
			j.tally.Unjudged += int64(len(cells))
		case j.full:
			j.out(j.finding(f, Finding{Kind: Extra, Expected: -1, Found: newest(cells), Reason: "no record accounts for it", cells: clone(cells)}))
		}
		return
	}
	seen := outcome{newest: newest(cells), marked: -1}
	for i := range cells {
		j.mark(&cells[i], &seen)
		j.cell(f, &cells[i], j.count(&cells[i]), &seen)
	}
	for i := range f.columns {
		j.absent(f, &f.columns[i], &seen)
	}
	j.close(f, cells, &seen)
}

// count adds a cell that is there to the digest, and returns its hash.
func (j *judge) count(c *Cell) uint64 {
	sum := j.cells.cell(c.Column, c.Version, c.Value)
	j.tally.Digest += sum
	return sum
}

// outcome is what was seen of one key.
type outcome struct {
	newest         int64
	marked         int64 // the version that marks the row as deleted, −1: none does; only where nulls delete columns
	expected       int
	expired, newer bool
	absent         []Finding
}

// cell judges a cell that is there; sum is its hash.
func (j *judge) cell(f *fold, c *Cell, sum uint64, seen *outcome) {
	i := f.find(c.Column)
	if i >= 0 {
		f.columns[i].met = true
	}
	if f.mayHold(c) {
		seen.newer = true
		return
	}
	if i >= 0 {
		j.pair(f, &f.columns[i], c, sum, seen)
		return
	}
	if !j.full {
		return // of a record before the window, or after it
	}
	for i := range f.families { // before blind: whoever wrote the cell, this delete hides it
		if fam := &f.families[i]; fam.deleted >= c.Version && bytes.Equal(fam.name, familyOf(c.Column)) {
			j.out(j.undeleted(f, c, fam.deleted, fam.by))
			return
		}
	}
	if j.blind {
		j.tally.Unjudged++
		return
	}
	j.out(j.finding(f, Finding{Column: columnText(c.Column), Kind: Extra, Expected: -1, Found: c.Version,
		Reason: "no record accounts for this cell", cells: clone([]Cell{*c})}))
}

// pair judges a cell of a column that records write; sum is the cell's hash.
func (j *judge) pair(f *fold, e *column, c *Cell, sum uint64, seen *outcome) {
	if hidden, by := f.hidden(e); !f.visible(e) {
		switch {
		case c.Version <= hidden:
			j.out(j.undeleted(f, c, hidden, by))
		case j.full && !j.blind:
			j.out(j.newer(f, c))
		default:
			seen.newer = true
		}
		return
	}
	switch {
	case c.Version == e.best.version && e.holds(c.Value):
		j.tally.Expected += sum
	case c.Version == e.best.version:
		j.out(j.finding(f, Finding{Column: columnText(c.Column), Kind: Different, Expected: e.best.version, Found: c.Version,
			Reason: "the version is right, but the value is not", from: origins(e)}))
	case c.Version > e.best.version && j.full && !j.blind:
		j.out(j.newer(f, c))
	case c.Version > e.best.version:
		seen.newer = true
	case j.expired(&e.best):
		seen.expired = true
	default:
		j.out(j.finding(f, Finding{Column: columnText(c.Column), Kind: Stale, Expected: e.best.version, Found: c.Version,
			Reason: "a newer change is missing", from: origins(e)}))
	}
}

func (j *judge) newer(f *fold, c *Cell) Finding {
	return j.finding(f, Finding{Column: columnText(c.Column), Kind: Newer, Expected: -1, Found: c.Version,
		Reason: "no record has this version"})
}

// undeleted returns the finding for a cell that a delete of the version hides or, in a document, that the next version does not have.
func (j *judge) undeleted(f *fold, c *Cell, version int64, by origin) Finding {
	if j.table.Documents {
		version++
	}
	return j.finding(f, Finding{Column: columnText(c.Column), Kind: Stale, Expected: version, Found: c.Version,
		Reason: "a newer change, which is missing, deletes it", from: []origin{by}})
}

// absent judges whether a column that records write is missing.
func (j *judge) absent(f *fold, e *column, seen *outcome) {
	if !f.visible(e) {
		return
	}
	seen.expected++
	if e.met {
		return
	}
	switch {
	case j.expired(&e.best), j.purged(f):
		seen.expired = true
	case f.mayHide(e.name, e.best.version), f.tied(e), goneWithRow(e, seen), j.table.Whole && seen.newest > e.best.version:
		seen.newer = true
	default:
		j.tally.Expected += j.cells.cell(e.name, e.best.version, e.best.value)
		seen.absent = append(seen.absent, j.finding(f, Finding{Column: columnText(e.name), Kind: Missing, Expected: e.best.version, Found: -1,
			Reason: "it is missing", from: origins(e)}))
	}
}

// origins returns the records that wrote the best version.
func origins(e *column) []origin {
	out := []origin{e.from}
	for _, t := range e.ties {
		out = append(out, t.from)
	}
	return out
}

// finding fills in what all findings of a key have in common.
func (j *judge) finding(f *fold, of Finding) Finding {
	of.Table, of.Document, of.Key = j.table.Name, j.table.Documents, bytes.Clone(f.key)
	return of
}

// close reports what is missing of the key, in one finding if nothing of it is there.
func (j *judge) close(f *fold, cells []Cell, seen *outcome) {
	t := &j.tally
	if seen.expected > 0 {
		t.Rows++
		t.Cells += int64(seen.expected)
	}
	if seen.expired {
		t.Expired++
	}
	if seen.newer {
		t.Newer++
	}
	if len(cells) > 0 || len(seen.absent) == 0 {
		for _, finding := range seen.absent {
			j.out(finding)
		}
		return
	}
	whole := seen.absent[0]
	whole.Column, whole.Reason = "", "all of it is missing"
	for _, finding := range seen.absent[1:] {
		whole.Expected = max(whole.Expected, finding.Expected)
		for _, o := range finding.from {
			if !slices.Contains(whole.from, o) {
				whole.from = append(whole.from, o)
			}
		}
	}
	j.out(whole)
}

// expired reports whether a cell may be gone because of its TTL.
func (j *judge) expired(o *op) bool {
	ttl := o.ttl
	if family := j.table.TTL[string(familyOf(o.column))].Milliseconds(); family > 0 && (ttl == 0 || family < ttl) {
		ttl = family
	}
	return ttl > 0 && o.version+ttl < j.now+clockSlack.Milliseconds()
}

// purged reports whether the document was deleted so long ago that it may be gone.
func (j *judge) purged(f *fold) bool {
	if j.table.Purge == 0 {
		return false
	}
	mark, newest := f.find(deletedMark), int64(-1)
	for i := range f.columns {
		if f.visible(&f.columns[i]) {
			newest = max(newest, f.columns[i].best.version)
		}
	}
	return mark >= 0 && f.visible(&f.columns[mark]) && f.columns[mark].holds(isTrue) &&
		newest+j.table.Purge.Milliseconds() < j.now+clockSlack.Milliseconds()
}

var deletedMark, isTrue = []byte(":" + indexer.FieldDeleted), hash([]byte("true"))
