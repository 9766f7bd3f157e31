package query

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"brine/hbase"
	"brine/rowkey"
)

// bucket is what to read of one key under one salt: ranges in ascending order, which all begin with the same lead bytes. What follows these
// bytes orders the rows of an answer.
type bucket struct {
	key    int // in Table.Keys
	lead   int
	ranges []rowkey.Range
}

func (b *bucket) prefix() []byte { return b.ranges[0].Start[:b.lead] }

// buckets returns what to read for where after a token. Rows that are equal behind the lead are returned in the order of their buckets:
// those of the newest key first, by salt. joins reports whether such rows of two keys are one row.
func (t Table) buckets(where map[string]rowkey.Bound, after Token) (out []bucket, joins bool, err error) {
	tails, joins, err := t.tails(func(k *rowkey.Key) (rowkey.Tail, error) { return k.Tail(where) })
	if err != nil {
		return nil, false, err
	}
	for key := len(t.Keys) - 1; key >= 0; key-- {
		ranges, err := t.Keys[key].Key.Ranges(where)
		if err != nil {
			return nil, false, err // for the only key: tails has checked each of several
		}
		out = append(out, divide(key, tails[key], ranges)...)
	}
	if after != "" {
		place, err := t.behind(after)
		if err == nil {
			out, err = goOn(out, place, joins)
		}
		if err != nil {
			return nil, false, err
		}
	}
	return out, joins, nil
}

// tails returns, per key, the number of leading bytes that do not order its rows: a salt and, with several keys, all that the conditions
// fix. of returns a key's tail under the conditions. tails returns an error if the keys do not order their rows alike.
func (t Table) tails(of func(*rowkey.Key) (rowkey.Tail, error)) (leads []int, joins bool, err error) {
	if len(t.Keys) == 1 {
		return []int{t.Keys[0].Key.SaltWidth()}, false, nil
	}
	newest := len(t.Keys) - 1
	tails := make([]rowkey.Tail, len(t.Keys))
	joins = true
	for i := newest; i >= 0; i-- {
		if tails[i], err = of(t.Keys[i].Key); err != nil {
			return nil, false, fmt.Errorf("the key of versions from %d on: %w", t.Keys[i].From, err)
		}
		if !tails[i].Agrees(tails[newest]) {
			return nil, false, refuse("bind more fields",
				"table %s: rows of versions from %d on have the key %s, those from %d on %s: what these conditions leave open is ordered differently",
				t.Name, t.Keys[i].From, t.Keys[i].Key, t.Keys[newest].From, t.Keys[newest].Key)
		}
		joins = joins && tails[i].Same(t.Keys[i].Key, t.Keys[newest].Key, tails[newest])
	}
	for _, tail := range tails {
		leads = append(leads, tail.At)
	}
	return leads, joins, nil
}

// divide groups ranges by the bytes that they begin with.
func divide(key, lead int, ranges []rowkey.Range) (out []bucket) {
	for i, r := range ranges {
		if i == 0 || !bytes.Equal(r.Start[:lead], ranges[i-1].Start[:lead]) {
			out = append(out, bucket{key: key, lead: lead})
		}
		last := &out[len(out)-1]
		last.ranges = append(last.ranges, r)
	}
	return out
}

// place is the position of a row.
type place struct {
	key int // in Table.Keys
	row []byte
}

// goOn cuts buckets to what follows a row in an answer.
func goOn(buckets []bucket, at place, joins bool) ([]bucket, error) {
	holds := func(b bucket) bool {
		return b.key == at.key && slices.ContainsFunc(b.ranges, func(r rowkey.Range) bool { return r.Contains(at.row) })
	}
	of := slices.IndexFunc(buckets, holds)
	if of < 0 {
		return nil, errors.New("the token's row does not match these conditions; repeat those that it came from")
	}
	tail := at.row[buckets[of].lead:]
	var left []bucket
	for i, b := range buckets {
		start := append(slices.Clone(b.prefix()), tail...)
		if joins || i <= of {
			start = append(start, 0)
		}
		if b.ranges = cut(b.ranges, start); len(b.ranges) > 0 {
			left = append(left, b)
		}
	}
	return left, nil
}

// cut returns the part of ranges from start on.
func cut(ranges []rowkey.Range, start []byte) (left []rowkey.Range) {
	for _, r := range ranges {
		if bytes.Compare(start, r.Start) > 0 {
			r.Start = start
		}
		if r.Stop == nil || bytes.Compare(r.Start, r.Stop) < 0 {
			left = append(left, r)
		}
	}
	return left
}

// joinCells adds to cells those cells of an older row whose columns are missing. Both are in the order of families and qualifiers.
func joinCells(cells, older []hbase.Cell) []hbase.Cell {
	out := make([]hbase.Cell, 0, len(cells)+len(older))
	for len(cells) > 0 && len(older) > 0 {
		c := bytes.Compare(cells[0].Family, older[0].Family)
		if c == 0 {
			c = bytes.Compare(cells[0].Qualifier, older[0].Qualifier)
		}
		switch {
		case c <= 0:
			out, cells = append(out, cells[0]), cells[1:]
			if c == 0 {
				older = older[1:]
			}
		default:
			out, older = append(out, older[0]), older[1:]
		}
	}
	return append(append(out, cells...), older...)
}
