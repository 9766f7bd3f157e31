// Package skewtest makes skewed tables for tests of their readers.
package skewtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"brine/skew"
)

// HotTables returns the tables of a brine that has written for five minutes to the regions given, and in the last twenty seconds half of it
// to one courier's rows, some of which have bytes that a terminal must not see.
func HotTables(table string, regions []skew.Region) *skew.Tables {
	clock := time.Unix(1_700_000_000, 0)
	tables := skew.NewTables(func() time.Time { return clock })
	head := func(row []byte) int { return bytes.IndexByte(row, '|') + 1 }
	courier := func(b []byte) string { return "courier=" + strings.TrimSuffix(string(b), "|") }
	counter := tables.Counter(table, skew.Shape{Head: head, Text: courier})
	counter.SetRegions(regions)
	rnd := rand.New(rand.NewPCG(1, 1))
	for second := range 320 {
		batches := make([]rowList, len(regions))
		for range 1000 {
			row := fmt.Appendf(nil, "%04d|%06d", rnd.IntN(10000), rnd.IntN(1e6))
			if second >= 300 && rnd.IntN(2) == 0 {
				row = fmt.Appendf(nil, "42\x1b[2J|%06d", rnd.IntN(1e6))
			}
			for i, r := range regions {
				if bytes.Compare(r.Start, row) <= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0) {
					batches[i] = append(batches[i], row)
				}
			}
		}
		for i, rows := range batches {
			counter.Add(skew.Batch{Region: regions[i], Count: skew.Count{Rows: int64(len(rows)), Bytes: int64(100 * len(rows))}, Rows: rows})
		}
		clock = clock.Add(time.Second)
		tables.Observe()
	}
	return tables
}

type rowList [][]byte

func (l rowList) Row(i int) []byte { return l[i] }
