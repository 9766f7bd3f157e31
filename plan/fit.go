package plan

import (
	"fmt"
	"slices"
	"time"
)

// Need is a requirement on the store.
type Need string

// The needs that HBase does not serve well.
const (
	Transactions Need = "transactions" // over several rows
	TwoOrders    Need = "two-orders"   // the same rows read forwards and backwards
	FullScans    Need = "full-scans"   // questions that no prefix of the key narrows
)

// Needs holds all needs.
var Needs = []Need{Transactions, TwoOrders, FullScans}

// Finding is a reason that HBase is the wrong store, with the number that it follows from.
type Finding struct {
	Reason  string  `json:"reason"`
	Msg     string  `json:"message"`
	Instead string  `json:"instead"`
	Number  float64 `json:"number"`
	Limit   float64 `json:"limit"`
}

// fewRows is the number of rows with which one machine with a relational database does as well. Book, "When should I use HBase": it is for
// hundreds of millions or billions of rows.
const fewRows = 100e6

// longScan is how long reading everything may take before it is too slow for a question.
const longScan = time.Minute

// wrongStore returns the reasons to use another store for the load.
func wrongStore(l Load, s *Sheet) []Finding {
	var out []Finding
	if s.RowsKept < fewRows && s.StoredBytes < smallRegion*GB {
		out = append(out, Finding{"few-rows", fmt.Sprintf("%.0f rows, %.2f GiB in all, do not fill one region of %d GiB", s.RowsKept,
			s.StoredBytes/GB, smallRegion),
			"a relational database on one machine, with indexes, joins and transactions", s.RowsKept, fewRows})
	}
	if slices.Contains(l.Needs, Transactions) {
		out = append(out, Finding{string(Transactions),
			"HBase changes only 1 row atomically; of several rows, a reader may see some changed and others not",
			"a relational or NewSQL database, or one row that holds everything that changes together", 2, 1})
	}
	if slices.Contains(l.Needs, TwoOrders) {
		out = append(out, Finding{string(TwoOrders),
			fmt.Sprintf("a key has 1 order, and backward scans read each block against its order; a second table with the other order adds %.2f "+
				"TB of disk", s.DiskBytes/TB),
			"a second table if that is acceptable, or a search index for the rarer order", 2, 1})
	}
	if scan := s.StoredBytes / (scanRate * float64(s.Servers)); slices.Contains(l.Needs, FullScans) && scan > longScan.Seconds() {
		out = append(out, Finding{string(FullScans), fmt.Sprintf("reading all %.2f TiB on %d servers at %d MiB/s each takes %s", s.StoredBytes/TB,
			s.Servers, scanRate/MB, time.Duration(scan*float64(time.Second)).Round(time.Minute)),
			"columnar files (Parquet, ORC) or an analytical database, fed alongside HBase", scan, longScan.Seconds()})
	}
	return out
}
