package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/hbase"
	"brine/search"
)

// maxVersions is the most versions of a cell that are read.
const maxVersions = 1_000

// AsOf is the time as of which rows are read, for a table whose versions are times.
type AsOf struct {
	At   int64          // a version: newer cells do not exist yet
	Kept map[string]int // the number of versions of a cell that HBase keeps, by family
}

// Kept is how much HBase keeps of earlier cells in a family.
type Kept struct {
	Versions int           // per cell
	TTL      time.Duration // older cells are dropped; 0: none are
}

// Kept asks HBase how much a table keeps of earlier cells, by family. It returns nil if that cannot be known: the client has no tables, or
// its user may not see their settings.
func (r Selector) Kept(ctx context.Context, table string) (map[string]Kept, error) {
	client, ok := r.Client.(interface {
		Describe(ctx context.Context, table string) (hbase.Table, error)
	})
	if !ok {
		return nil, nil
	}
	t, err := client.Describe(ctx, table)
	if refused, ok := errors.AsType[*hbase.Error](err); ok && strings.HasSuffix(refused.Class, ".AccessDeniedException") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]Kept{}
	for i := range t.Families {
		f := &t.Families[i]
		if out[f.Name], err = keptOf(f); err != nil {
			return nil, fmt.Errorf("table %s, family %s: %w", table, f.Name, err)
		}
	}
	return out, nil
}

// keptOf reads a family's attributes. One that is missing has HBase's default.
func keptOf(f *hbase.Family) (k Kept, err error) {
	const forever = math.MaxInt32
	seconds := forever
	k.Versions = 1
	for name, to := range map[string]*int{"VERSIONS": &k.Versions, "TTL": &seconds} {
		text, set := f.Values[name]
		if !set || name == "TTL" && strings.EqualFold(text, "FOREVER") {
			continue
		}
		if *to, err = strconv.Atoi(text); err != nil {
			return k, fmt.Errorf("%s is %q, not a number", name, text)
		}
	}
	if seconds < forever {
		k.TTL = time.Duration(seconds) * time.Second
	}
	return k, nil
}

// GoneError reports a cell that was written so often since the time of an AsOf that HBase no longer keeps its value of that time.
type GoneError struct {
	Column ColumnName
	Kept   int // versions
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("a cell of %s was written %d times since then, and no more of its versions are kept", e.Column, e.Kept)
}

// versions returns the number of versions to read per cell; 0: only the newest.
func (s *Selection) versions() int {
	switch {
	case s.AsOf != nil:
		most := 1
		for _, n := range s.AsOf.Kept {
			most = max(most, n)
		}
		return min(most, maxVersions)
	case s.Splits > 0:
		return min(s.Splits, maxVersions)
	}
	return 0
}

// rowsOf returns the rows that a selection makes of one row that was read; none if it is marked as deleted.
func (s *Selection) rowsOf(d *decoder, r raw) ([]Selected, error) {
	all := r.Cells
	switch {
	case s.AsOf != nil:
		cells, err := s.AsOf.cells(all)
		if err != nil || len(cells) == 0 {
			return nil, err
		}
		r.Cells = cells
	case s.Splits > 0:
		r.Cells = newest(all)
	}
	row, err := d.row(r.Result, r.key)
	switch {
	case err != nil || row.Deleted:
		return nil, err
	case s.Splits == 0:
		return []Selected{s.selected(row, r.Result)}, nil
	}
	var out []Selected
	for _, r.Cells = range s.split(all) {
		row, err := d.row(r.Result, r.key)
		if err != nil {
			return nil, err
		}
		out = append(out, s.selected(row, r.Result))
	}
	return out, nil
}

// split returns the cells of a row grouped by version, the newest first.
func (s *Selection) split(cells []hbase.Cell) (out [][]hbase.Cell) {
	var times []int64
	for i := range cells {
		times = append(times, cells[i].Timestamp)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	slices.Reverse(times)
	for _, at := range times[:min(len(times), s.Splits)] {
		var of []hbase.Cell
		for i := range cells {
			if cells[i].Timestamp == at {
				of = append(of, cells[i])
			}
		}
		out = append(out, of)
	}
	return out
}

// newest returns the first cell of each column; cells are sorted newest first within a column.
func newest(cells []hbase.Cell) (out []hbase.Cell) {
	for i := range cells {
		if i == 0 || !sameColumn(&cells[i], &cells[i-1]) {
			out = append(out, cells[i])
		}
	}
	return out
}

func sameColumn(a, b *hbase.Cell) bool {
	return bytes.Equal(a.Family, b.Family) && bytes.Equal(a.Qualifier, b.Qualifier)
}

// cells returns the cells that were the newest at that time.
func (a *AsOf) cells(cells []hbase.Cell) (out []hbase.Cell, err error) {
	for i := 0; i < len(cells); {
		from, found := i, -1
		for ; i < len(cells) && sameColumn(&cells[i], &cells[from]); i++ {
			if found < 0 && cells[i].Timestamp <= a.At {
				found = i
			}
		}
		family, known := a.Kept[string(cells[from].Family)]
		kept := min(family, maxVersions)
		switch {
		case found >= 0:
			out = append(out, cells[found])
		case known && i-from >= kept: // for other families the number of kept versions is not known
			return nil, &GoneError{ColumnName{string(cells[from].Family), string(cells[from].Qualifier)}, kept}
		}
	}
	return out, nil
}

// CheckWords reports what is wrong with Words and Sort, by the rules that hold for every index.
func (s *Selection) CheckWords() error {
	q := search.Query{Index: s.Table.Index.Name, Filter: s.Words, Sort: s.Sort}
	return q.Validate()
}

// found reads the rows of the documents that match, one page of documents at a time. It skips documents whose row does not exist or is
// marked as deleted.
func (s *Selection) found(ctx context.Context, docs search.Searcher, c Client) iter.Seq2[Selected, error] {
	return func(yield func(Selected, error) bool) {
		if docs == nil {
			yield(Selected{}, errNoIndex)
			return
		}
		q := search.Query{Index: s.Table.Index.Name, Filter: s.Words, Sort: s.Sort}
		for given := 0; ; {
			q.Size = searchPage
			if s.Limit > 0 {
				q.Size = min(searchPage, s.Limit-given)
			}
			asked := time.Now()
			page, err := docs.Search(ctx, q)
			if err != nil {
				yield(Selected{}, asFault(err))
				return
			}
			rows, size, err := s.rowsFound(ctx, c, page.Hits)
			s.count(asked, size)
			if err != nil {
				yield(Selected{}, err)
				return
			}
			if s.Cost != nil {
				s.Cost.Calls++
				s.Cost.Read += len(page.Hits)
			}
			for _, row := range rows {
				if given++; !yield(row, nil) || given == s.Limit {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

// rowsFound reads the rows of hits, in one batched get.
func (s *Selection) rowsFound(ctx context.Context, c Client, hits []search.Hit) (out []Selected, size int, err error) {
	if len(hits) == 0 {
		return nil, 0, nil
	}
	t := s.Table
	keys, err := t.keysOf(hits)
	if err != nil {
		return nil, 0, fmt.Errorf("index %s: %w", t.Index.Name, err)
	}
	gets, columns := make([]hbase.Get, len(keys)), s.columns()
	for i, k := range keys {
		gets[i] = hbase.Get{Row: k, Columns: columns, MaxVersions: s.versions()}
		gets[i].From, gets[i].To = t.Keys.Versions(i % len(t.Keys))
	}
	results, err := c.GetAll(ctx, t.Name, gets)
	if err != nil {
		return nil, 0, err
	}
	d := newDecoder(t)
	at := -1
	for chunk := range slices.Chunk(results, len(t.Keys)) {
		r := joinResults(chunk)
		at++
		if r.key < 0 {
			continue
		}
		size += sizeOf(r.Result)
		rows, err := s.rowsOf(d, r)
		if err != nil {
			return nil, size, err
		}
		if s.Splits == 0 {
			rows = slices.DeleteFunc(rows, func(row Selected) bool { return !s.matches(&row.Row, &hits[at]) })
		}
		out = append(out, rows...)
	}
	return out, size, nil
}

// matches reports whether a row has the words by which its document was found. If the document has the same text, the index knows.
// Otherwise it is ahead of the row or behind it, and the words are looked for in the row.
func (s *Selection) matches(row *Row, hit *search.Hit) bool {
	x := s.Table.Index
	return !slices.ContainsFunc(s.Words, func(c search.Clause) bool {
		m, ok := c.(search.Match)
		if !ok {
			return false
		}
		document, shown := hit.Fields[m.Field].(string)
		at := slices.IndexFunc(x.Fields, func(f IndexField) bool { return f.Name == m.Field })
		if !shown || at < 0 {
			return false // nothing to compare
		}
		text := string(row.Value(x.Fields[at].Field).Text())
		return text != document && !search.Has(text, m.Text)
	})
}
