package verify

import (
	"bytes"
	"slices"
)

// Tie is two changes of one version that disagree about one column, with none newer: the one applied last wins.
type Tie struct {
	Key     []byte // of the row; for a document its id
	Column  string // family:qualifier, or the document's field; empty: whole documents
	Version int64
	Records []Record // two of those that tie
	Fix     string   // see event.Schema.TieFix

	from [2]origin
}

// tie returns a tie of the key's changes. It returns nil if there is none, and the result then depends on the changes alone, not on their
// order. Equal changes do not tie, nor do those that a newer change or a delete hides, nor those of one record, which are applied in its
// order.
func (f *fold) tie() *Tie {
	for i := range f.families {
		if fam := &f.families[i]; fam.tied && fam.by != fam.other && f.stands(fam) {
			return &Tie{Version: fam.deleted + 1, from: [2]origin{fam.by, fam.other}}
		}
	}
	for i := range f.columns {
		c := &f.columns[i]
		if !f.visible(c) {
			continue
		}
		for _, t := range c.ties {
			if t.from != c.from {
				return &Tie{Column: columnText(c.name), Version: c.best.version, from: [2]origin{c.from, t.from}}
			}
		}
	}
	return nil
}

// stands reports whether a document's fields are those of the last replacement.
func (f *fold) stands(fam *family) bool {
	for i := range f.columns {
		if c := &f.columns[i]; f.visible(c) && c.best.version == fam.deleted+1 && bytes.Equal(fam.name, familyOf(c.name)) {
			return true
		}
	}
	return false
}

// tie counts the key if its changes tie, and keeps the first such key.
func (w *worker) tie(f *fold) {
	t := f.tie()
	if t == nil {
		return
	}
	tally := &w.judge.tally
	tally.Ties++
	if tally.tie == nil {
		t.Key = bytes.Clone(f.key)
		tally.tie = t
	}
}

// firstTie returns the tie with the smaller key.
func firstTie(a, b *Tie) *Tie {
	if a == nil || b != nil && bytes.Compare(b.Key, a.Key) < 0 {
		return b
	}
	return a
}

// shown returns a tie with its records, the earlier one first.
func (c *Check) shown(t *Tie) *Tie {
	if t == nil {
		return nil
	}
	slices.SortFunc(t.from[:], func(a, b origin) int { return bytes.Compare(a.key(), b.key()) })
	t.Records = []Record{c.record(t.from[0]), c.record(t.from[1])}
	t.Fix = c.opts.Sources[t.from[0].source].Ingest.Schema.TieFix()
	return t
}
