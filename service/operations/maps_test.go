package operations

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase"
	"brine/service/mapstore"
	"brine/skew"
)

// silent is a cluster that does not answer.
type silent struct{ mapstore.Client }

func (silent) Scan(ctx context.Context, _ string, _ hbase.Scan) iter.Seq2[hbase.Result, error] {
	return func(yield func(hbase.Result, error) bool) {
		<-ctx.Done()
		yield(hbase.Result{}, ctx.Err())
	}
}

// TestAMapIsNotWaitedForWithoutEnd: where HBase is away there is time left to show what this process has counted.
func TestAMapIsNotWaitedForWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		maps := mapstore.Open(mapstore.Options{Client: silent{}, Tables: skew.NewTables(time.Now)})
		for _, timeout := range []time.Duration{2 * time.Second, 10 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			began := time.Now()
			_, err := keptMap(ctx, maps, "t", mapstore.Span{From: began.Add(-time.Hour), Ranges: 1, Columns: 1})
			if err == nil || ctx.Err() != nil || time.Since(began) > mapsPatience {
				t.Errorf("of %v: %v after %v", timeout, err, time.Since(began))
			}
			cancel()
		}
	})
}
