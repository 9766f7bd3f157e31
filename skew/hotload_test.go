package skew

import (
	"fmt"
	"strings"
)

// hotLoad is a table that is first written evenly and then so that a part of it is hot.
type hotLoad struct {
	name    string
	shape   Shape
	hot     func(w *workload) string
	region  string
	cause   Cause
	actions string
	why     string
}

func upToBar(row []byte) int { return strings.IndexByte(string(row), '|') + 1 }

// saltedBy16 is the shape of a key with a salt, a courier and more.
var saltedBy16 = Shape{Buckets: 16, Bucket: func(row []byte) int { return int(row[0]) }, Head: upToBar, Fields: []string{"courier", "waybill"}}

func (l *hotLoad) regions() []Region {
	if n := l.shape.Buckets; n > 0 {
		return salted(n)
	}
	return even(8)
}

// rest returns a row of the even load.
func (l *hotLoad) rest(w *workload) string {
	row := w.digits() + "|" + w.digits()
	if n := l.shape.Buckets; n > 0 {
		row = string([]byte{byte(w.rnd.IntN(n))}) + row
	}
	return row
}

// share returns row with a probability of percent, and otherwise a row of the even load.
func (l *hotLoad) share(w *workload, percent int, row string) string {
	if w.rnd.IntN(100) < percent {
		return row
	}
	return l.rest(w)
}

var (
	byCourier = hotLoad{shape: Shape{Head: upToBar}}
	bySalt    = hotLoad{shape: saltedBy16}
	byNothing = Shape{}
)

var hotLoads = []hotLoad{
	{"one heavy courier", byCourier.shape, func(w *workload) string { return byCourier.share(w, 40, "4242|"+w.digits()) },
		"r3", HeavyKey, "split, own table, salt", "begin with 4242|"},
	{"one heavy courier at the end of the region", byCourier.shape, func(w *workload) string { return byCourier.share(w, 90, "4999|"+w.digits()) },
		"r3", HeavyKey, "split, own table, salt", "begin with 4999|"},
	{"a monotonic key", byNothing, func(w *workload) string { return fmt.Sprintf("9000%012d", w.n) }, "r7", Monotonic, "salt", "grows with time"},
	{"a key that counts down", byNothing, func(w *workload) string { return fmt.Sprintf("1000%012d", 1_000_000_000-w.n) }, "r0", Monotonic, "salt", "counts down"},
	{"a monotonic key behind a beginning that all rows have", byCourier.shape, func(w *workload) string { return fmt.Sprintf("9000|%012d", w.n) },
		"r7", Monotonic, "salt", "grows with time"},
	{"3 buckets of 16", bySalt.shape, func(w *workload) string {
		bucket := 3 * w.rnd.IntN(3)
		return fmt.Sprintf("%ccourier%d|%s", bucket, bucket, w.digits())
	}, "b00 b03 b06", FewBuckets, "salt", "only 3 of the 16"},
	{"uneven splits", byCourier.shape, func(w *workload) string { return byCourier.share(w, 50, fmt.Sprintf("%04d|x", 5000+w.rnd.IntN(1000))) },
		"r4", UnevenSplits, "split", "times the mean number"},
	{"one row", byCourier.shape, func(w *workload) string { return byCourier.share(w, 50, "4242|x") }, "r3", HeavyRow, "own table", "one row"},
	{"one row of a salted table", bySalt.shape, func(w *workload) string { return bySalt.share(w, 97, "\x07courier|x") }, "b07", HeavyRow, "own table", "one row"},
	{"a heavy user whose rows grow with time", byCourier.shape, func(w *workload) string { return byCourier.share(w, 50, fmt.Sprintf("4242|%012d", w.n)) },
		"r3", HeavyKey, "own table, salt", "begin with 4242|"},
}
