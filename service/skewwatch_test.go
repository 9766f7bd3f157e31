package service

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"brine/skew"
)

// What is hot is logged once for each cause, and not again with every look.
func TestWhatIsHotIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	s := &Service{
		log:    slog.New(slog.NewTextHandler(&log, nil)),
		tables: hotTables("scans", []skew.Region{{Name: "r0", Server: "s0:1", End: skew.Key("5")}, {Name: "r1", Server: "s1:1", Start: skew.Key("5")}}),
	}
	said := map[string]time.Time{}
	for range 3 {
		s.warnHot(said)
	}
	got := log.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, `msg="region r0 of scans is hot" cause="one heavy key"`) || strings.ContainsRune(got, 0x1b) {
		t.Errorf("the log:\n%s", got)
	}
	for why, at := range said {
		said[why] = at.Add(-time.Hour)
	}
	if s.warnHot(said); strings.Count(log.String(), "\n") != 2 {
		t.Errorf("an hour later:\n%s", &log)
	}
}

// hotTables are those of a brine that has written for five minutes into the regions given, and for the last twenty seconds half of it into
// the rows of one courier.
func hotTables(table string, regions []skew.Region) *skew.Tables {
	clock := time.Unix(1_700_000_000, 0)
	tables := skew.NewTables(func() time.Time { return clock })
	counter := tables.Counter(table, skew.Shape{Head: func(row []byte) int { return bytes.IndexByte(row, '|') + 1 }})
	counter.SetRegions(regions)
	rnd := rand.New(rand.NewPCG(1, 1))
	for second := range 320 {
		batches := make([]rowList, len(regions))
		for range 1000 {
			courier := rnd.IntN(10000)
			if second >= 300 && rnd.IntN(2) == 0 {
				courier = 42
			}
			row := fmt.Appendf(nil, "%04d|%06d", courier, rnd.IntN(1e6))
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
