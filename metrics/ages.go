package metrics

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"brine/event"
	"brine/ingest"
)

// The histogram of ages counts every record, and records arrive by the thousand. So it counts consecutive ones that fall into one cell
// together, which a histogram of client_golang cannot do. The bounds of its classic and its native form delimit the cells, and each scrape
// adds them up to both.
var (
	ageBuckets = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 3600}
	nativeAges = makeNativeAges() // upper bounds in whole ms of the native buckets from ageFrom
	ageCells   = makeAgeCells()   // upper bounds of the cells in ms: the first is 0, and the last cell, which follows them, has none
)

const (
	ageSchema = 3       // native buckets grow by 2^(1/8), or 9 %
	ageFrom   = -10 * 8 // the native bucket that ends at 2^-10 s
	ageTo     = 30 * 8  // and the one at 34 years
	ageZero   = 1. / 2048
)

func makeNativeAges() []int64 {
	var bounds []int64
	for i := ageFrom; i <= ageTo; i++ {
		bounds = append(bounds, int64(math.Exp2(float64(i)/8)*1000))
	}
	return bounds
}

func makeAgeCells() []int64 {
	bounds := slices.Clone(nativeAges)
	for _, b := range ageBuckets {
		bounds = append(bounds, int64(math.Round(b*1000)))
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}

// ages is the histogram of one stage of one loop. It is safe for concurrent use.
type ages struct {
	desc      *prometheus.Desc
	labels    []string
	cells     []atomic.Uint64
	millis    atomic.Int64 // sum
	exemplars []atomic.Pointer[dto.Exemplar]
}

func newAges(desc *prometheus.Desc, labels ...string) *ages {
	return &ages{desc: desc, labels: labels, cells: make([]atomic.Uint64, len(ageCells)+1),
		exemplars: make([]atomic.Pointer[dto.Exemplar], len(ageBuckets)+1)}
}

// observe counts how old records are at now. A record without a timestamp has no age; one from the future has age 0. Usually all records of
// a flight are in one cell, as their times show.
func (a *ages) observe(ctx context.Context, now time.Time, records []event.Record, times ingest.Times) {
	at := now.UnixMilli()
	if youngest := at - times.Last; times.Count > 0 && times.Last <= at {
		cell := cellOf(youngest)
		if _, most := cellBounds(cell); at-times.First <= most {
			a.cells[cell].Add(uint64(times.Count))
			a.millis.Add(int64(times.Count)*at - times.Sum)
			a.exemplify(ctx, now, youngest)
			return
		}
	}
	cell, n, sum, last := 0, uint64(0), int64(0), int64(-1)
	above, most := int64(-1), int64(-1) // bounds of the cell; nothing lies within these
	for i := range records {
		if records[i].Timestamp <= 0 {
			continue
		}
		last = max(0, at-records[i].Timestamp)
		if last > most || last <= above {
			a.cells[cell].Add(n)
			cell, n = cellOf(last), 0
			above, most = cellBounds(cell)
		}
		n++
		sum += last
	}
	if last >= 0 {
		a.cells[cell].Add(n)
		a.millis.Add(sum)
		a.exemplify(ctx, now, last)
	}
}

func cellOf(age int64) int {
	cell, _ := slices.BinarySearch(ageCells, age)
	return cell
}

// cellBounds returns the age above which the cell begins and the age with which it ends.
func cellBounds(cell int) (above, most int64) {
	above, most = -1, math.MaxInt64
	if cell > 0 {
		above = ageCells[cell-1]
	}
	if cell < len(ageCells) {
		most = ageCells[cell]
	}
	return above, most
}

// exemplify stores the trace of a sampled flight as the exemplar of its age.
func (a *ages) exemplify(ctx context.Context, now time.Time, age int64) {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsSampled() {
		return
	}
	seconds := float64(age) / 1000
	bucket, _ := slices.BinarySearch(ageBuckets, seconds)
	a.exemplars[bucket].Store(&dto.Exemplar{
		Label: []*dto.LabelPair{{Name: proto.String(traceLabel), Value: proto.String(span.TraceID().String())}},
		Value: &seconds, Timestamp: timestamppb.New(now),
	})
}

// Desc implements prometheus.Metric.
func (a *ages) Desc() *prometheus.Desc { return a.desc }

// Write implements prometheus.Metric: the native form, along with the classic buckets.
func (a *ages) Write(out *dto.Metric) error {
	counts := make([]uint64, len(a.cells))
	total := uint64(0)
	for i := range a.cells {
		counts[i] = a.cells[i].Load()
		total += counts[i]
	}
	sum := float64(a.millis.Load()) / 1000
	native, err := prometheus.NewConstNativeHistogram(a.desc, total, sum, nativeCounts(counts), nil, counts[0], ageSchema, ageZero,
		time.Time{}, a.labels...)
	if err != nil {
		return err
	}
	if err := native.Write(out); err != nil {
		return err
	}
	out.Histogram.CreatedTimestamp = nil
	below, cell := uint64(0), 0
	for i, bound := range append(slices.Clone(ageBuckets), math.Inf(1)) {
		for ; cell < len(counts) && (math.IsInf(bound, 1) || cell < len(ageCells) && float64(ageCells[cell]) <= bound*1000); cell++ {
			below += counts[cell]
		}
		exemplar := a.exemplars[i].Load()
		if math.IsInf(bound, 1) && exemplar == nil {
			break // the count includes it
		}
		out.Histogram.Bucket = append(out.Histogram.Bucket, &dto.Bucket{UpperBound: proto.Float64(bound),
			CumulativeCount: proto.Uint64(below), Exemplar: exemplar})
	}
	return nil
}

// nativeCounts returns the counts of all cells except the first, by native bucket.
func nativeCounts(counts []uint64) map[int]int64 {
	out := map[int]int64{}
	for i, n := range counts {
		if i == 0 || n == 0 {
			continue
		}
		bucket := len(nativeAges)
		if i < len(ageCells) {
			bucket, _ = slices.BinarySearch(nativeAges, ageCells[i])
		}
		out[ageFrom+bucket] += int64(n)
	}
	return out
}
