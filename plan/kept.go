package plan

import (
	"bytes"
	"cmp"
	"slices"
)

// maxKept rows are kept whole, to find quantiles from. The share of a region of n that are cut at their quantiles is then off by
// √(n/maxKept): 1.6 % of itself for 16 regions, 3 % for 64.
const maxKept = 1 << 16

// kept holds the rows with the smallest hashes: a sample of the distinct rows in which each is as likely as any other, and
// which is the same in whatever order they come.
type kept struct {
	limit int
	rows  []keptRow // up to 2 × limit, of which the limit smallest count
	below uint64    // once full: hashes from here on need not be looked at
	full  bool
}

type keptRow struct {
	hash uint64
	row  []byte
}

func (k *kept) add(hash uint64, row []byte) {
	if k.full && hash >= k.below {
		return
	}
	k.rows = append(k.rows, keptRow{hash, bytes.Clone(row)})
	if len(k.rows) >= 2*k.limit {
		k.trim()
	}
}

// trim leaves the smallest hashes, each once.
func (k *kept) trim() {
	slices.SortFunc(k.rows, func(a, b keptRow) int { return cmp.Compare(a.hash, b.hash) })
	k.rows = slices.CompactFunc(k.rows, func(a, b keptRow) bool { return a.hash == b.hash })
	if len(k.rows) > k.limit {
		k.below, k.full = k.rows[k.limit].hash, true
		clear(k.rows[k.limit:])
		k.rows = k.rows[:k.limit]
	}
}

func (k *kept) merge(o *kept) {
	for _, r := range o.rows {
		if !k.full || r.hash < k.below {
			k.rows = append(k.rows, r)
		}
	}
	k.trim()
}

// sorted returns the kept rows in key order.
func (k *kept) sorted() [][]byte {
	k.trim()
	rows := make([][]byte, len(k.rows))
	for i, r := range k.rows {
		rows[i] = r.row
	}
	slices.SortFunc(rows, bytes.Compare)
	return rows
}
