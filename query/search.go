package query

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/search"
)

// Found is a row whose document matched. If HBase lacks the row, it has only the fields of its key, and the document's version.
type Found struct {
	Row
	State State
	After search.Cursor // where the answer continues after this row; in answers of the key, the row's Token
}

// State compares a document with its row. Both are written independently, so either may be ahead for a while.
type State string

// The states of a document.
const (
	Same    State = ""
	NoRow   State = "not in HBase"         // not written yet, or removed
	Older   State = "index behind HBase"   // the row has a newer value
	Newer   State = "HBase behind index"   // the document has a newer value
	Differs State = "index and row differ" // in a value, but not in the version
)

// searchPage is the most documents to request, and rows to read, at a time.
const searchPage = 500

// Search returns the rows of the documents that q finds, in q's order, at most limit (0 means all). It asks the index for a page of keys
// and reads their rows in one batched get. It ignores Q.Size. It drops rows that are marked deleted unless q.Deleted, even if their
// documents are not marked yet.
func Search(ctx context.Context, s search.Searcher, c Client, t Table, q search.Query, limit int) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		for n := 0; ; {
			q.Size = searchPage
			if limit > 0 {
				q.Size = min(searchPage, limit-n)
			}
			page, err := s.Search(ctx, q)
			if err != nil {
				yield(Found{}, err)
				return
			}
			found, err := join(ctx, c, t, page.Hits)
			if err != nil {
				yield(Found{}, err)
				return
			}
			for _, f := range found {
				if f.Deleted && !q.Deleted {
					continue
				}
				if !yield(f, nil) {
					return
				}
				if n++; n == limit {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.After = page.Next
		}
	}
}

// join reads the rows of hits.
func join(ctx context.Context, c Client, t Table, hits []search.Hit) ([]Found, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	keys, err := t.keysOf(hits)
	if err != nil {
		return nil, fmt.Errorf("index %s: %w", t.Index.Name, err)
	}
	rows, err := ByKey(ctx, c, t, keys)
	if err != nil {
		return nil, err
	}
	states, err := t.states(ctx, c, hits, keys, rows)
	if err != nil {
		return nil, err
	}
	found, decoder := make([]Found, len(hits)), newDecoder(t)
	for i, h := range hits {
		found[i] = Found{Row: rows[i], After: h.Cursor, State: states[i]}
		if len(rows[i].Fields) > 0 {
			continue
		}
		if found[i].Row, err = decoder.row(hbase.Result{Row: h.Row}, 0); err != nil {
			return nil, fmt.Errorf("index %s: %w", t.Index.Name, err)
		}
		found[i].Version = h.Version
	}
	return found, nil
}

// keysOf returns for each hit its row under each of the table's keys. A document is named by its row under the first key; the other keys
// are made of the fields that this row holds, and of the document's.
func (t Table) keysOf(hits []search.Hit) (rows [][]byte, err error) {
	first, later := t.Keys[0].Key, t.Keys[1:]
	for i := range hits {
		rows = append(rows, hits[i].Row)
		if len(later) == 0 {
			continue
		}
		held, err := first.Decode(hits[i].Row)
		if err != nil {
			return nil, &UnreadableError{t.Name, hits[i].Row, err}
		}
		rows, err = appendKeys(rows, later, func(name string) rowkey.Value {
			if at := slices.Index(first.Fields(), name); at >= 0 && !held[at].Null() {
				return held[at]
			}
			return t.Index.valueOf(&hits[i], name)
		})
		if err != nil {
			return nil, &UnreadableError{t.Name, hits[i].Row, fmt.Errorf("%w: %w", errNoKeys, err)}
		}
	}
	return rows, nil
}

var errNoKeys = errors.New("its document does not hold what its other keys are made of")

// valueOf returns a field of a document as a key takes it, or null if the document has none.
func (x *Index) valueOf(hit *search.Hit, name string) rowkey.Value {
	for _, f := range x.Fields {
		if f.Field != name {
			continue
		}
		switch v := hit.Fields[f.Name].(type) {
		case string:
			return rowkey.TextValue(v)
		case int64:
			return rowkey.Value{Type: f.Type, Int: v}
		case float64:
			return rowkey.FloatValue(v)
		case bool:
			if v {
				return rowkey.Value{Type: rowkey.Bool, Int: 1}
			}
			return rowkey.Value{Type: rowkey.Bool}
		}
	}
	return rowkey.Value{}
}

// state compares a document with its row, in the fields that both have. The fields of the key are equal, otherwise the document would
// belong to another row.
func (t Table) state(row *Row, hit *search.Hit) State {
	if len(row.Fields) == 0 {
		return NoRow
	}
	for _, f := range row.Fields[len(t.Keys[t.Keys.At(row.From)].Key.Fields()):] {
		for _, x := range t.Index.Fields {
			if x.Field != f.Name || equal(f.Value, hit.Fields[x.Name]) {
				continue
			}
			switch {
			case row.Version > hit.Version:
				return Older
			case row.Version < hit.Version:
				return Newer
			case t.Index.Replaced && hit.Fields[x.Name] == nil:
				continue
			}
			return Differs
		}
	}
	return Same
}

// equal compares a row's value with a document's.
func equal(v event.Value, in any) bool {
	switch v.Type {
	case event.Text, event.Nested:
		return in == string(v.Text())
	case event.Date:
		return in == v.Milliseconds()
	case event.Int, event.TimeMS, event.TimeUS, event.TimeNS:
		return in == v.Int()
	case event.Float:
		return in == v.Float()
	case event.Bool:
		return in == v.Bool()
	}
	if text, ok := v.Textual(); ok {
		return in == text
	}
	return in == nil // a null is in neither
}
