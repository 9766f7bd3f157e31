package indexer_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"brine/indexer"
	"brine/indexer/indexertest"
	"brine/rowkey"
)

func TestPart(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	for every, want := range map[indexer.Every][2]string{
		indexer.Day: {"x-2024.02.29", "x-2024.03.01"}, indexer.Month: {"x-2024.02", "x-2024.03"}, indexer.Year: {"x-2024", "x-2024"},
	} {
		if got := [2]string{every.Part("x", at), every.Part("x", at+1)}; got != want {
			t.Errorf("every %s: %q, want %q", string(every), got, want)
		}
	}
}

// parted is an engine of parts that records its calls of Expire.
type parted struct {
	*memory
	before []int64
	fail   error
}

func (*parted) EnsurePart(context.Context, indexer.Mapping, string) error { return nil }

func (p *parted) Expire(_ context.Context, index string, before int64) ([]string, error) {
	p.before = append(p.before, before)
	return []string{index + "-2024"}, p.fail
}

// TestPartsExpire checks that Expire is called for parts when the writer starts and then each hour, with the time that rows are kept, until
// it is closed.
func TestPartsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &parted{memory: newMemory(), fail: errFault}
		opts := indexertest.Options(t, "orders", indexer.Whole)
		key, err := rowkey.Parse(`order + "|" + asc(at, ms)`, []rowkey.Field{{Name: "order", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}})
		if err != nil {
			t.Fatal(err)
		}
		d := &opts.Documents[0]
		d.Key, d.Every, d.Time, d.Keep = key, indexer.Year, "at", 24*time.Hour
		var reported []string
		opts.Hooks.Expired = func(i indexer.ExpiredInfo) {
			if errors.Is(i.Err, errFault) {
				reported = append(reported, i.Parts...)
			}
		}
		start := time.Now()
		w, err := indexer.New(e, opts)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Hour + time.Minute)
		w.Close()
		time.Sleep(2 * time.Hour)
		var want []int64
		for i := range 3 {
			want = append(want, start.Add(time.Duration(i)*time.Hour-24*time.Hour).UnixMilli())
		}
		if !slices.Equal(e.before, want) || len(reported) != 3 {
			t.Errorf("expired before %v, want %v; reported %q", e.before, want, reported)
		}
	})
}
