package plan

import (
	"bytes"
	"cmp"
	"slices"
)

// maxKept is the number of rows that are stored whole, to find quantiles. The share of one of n regions cut at the quantiles then has an
// error of √(n/maxKept): 1.6 % of itself for 16 regions, 3 % for 64.
const maxKept = 1 << 16

// kept holds the rows with the smallest hashes: a uniform sample of the distinct rows that does not depend on their order.
type kept struct {
	limit int
	rows  []keptRow // up to 2 × limit, of which only the limit smallest count
	below uint64    // once full: larger hashes can be ignored
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

// trim keeps only the smallest hashes, each once.
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
