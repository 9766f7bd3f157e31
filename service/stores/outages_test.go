package stores

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase"
	"brine/indexer"
)

// TestOutagesAreWarnedOfOnceAMinute checks that repeated failures are logged from the third on, once a minute, and are the cause until they
// end or are long ago.
func TestOutagesAreWarnedOfOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := NewOutages(slog.New(slog.NewTextHandler(&log, nil)), unmasked)
		client := o.HBase(hbase.Hooks{})
		said := func() (n int) {
			defer log.Reset()
			return strings.Count(log.String(), "10.0.0.1:16020: read: EOF")
		}
		refused := errors.New("10.0.0.1:16020: read: EOF")
		fail := func(region string, failures int) {
			client.Retry(hbase.RetryInfo{Table: "t", Region: region, Failures: failures, Err: refused})
		}
		fail("a", 1)
		fail("a", 2)
		if said() != 0 || o.Cause("t") != nil {
			t.Error("two failures are warned of")
		}
		for i := range 120 { // one try per second, on two regions
			fail("a", 3+i)
			fail("b", 3+i)
			time.Sleep(time.Second)
		}
		if n := said(); n != 2 {
			t.Errorf("%d warnings in two minutes", n)
		}
		if !errors.Is(o.Cause("other", "t"), refused) || o.Cause("other") != nil {
			t.Errorf("the causes are %v and %v", o.Cause("t"), o.Cause("other"))
		}
		applied := func(region string) {
			client.Applied(&hbase.AppliedInfo{Table: "t", Region: &hbase.Region{Encoded: region}})
		}
		applied("a")
		if o.Cause("t") == nil {
			t.Error("another region fails still")
		}
		applied("b")
		if o.Cause("t") != nil {
			t.Error("nothing fails any longer")
		}
		fail("c", 9)
		time.Sleep(2 * outageLast)
		if o.Cause("t") != nil {
			t.Error("what was given up long ago is still reported")
		}
	})
}

// TestOutagesOfTheIndex checks that the search engine's failures are counted here, and that an attempt that writes something ends them.
func TestOutagesOfTheIndex(t *testing.T) {
	o := NewOutages(slog.New(slog.DiscardHandler), unmasked)
	hooks := o.Index("orders", indexer.Hooks{Retry: func(indexer.RetryInfo) {}, Items: func(indexer.ItemsInfo) {}})
	for range 3 {
		if o.Cause("orders") != nil {
			t.Error("too early")
		}
		hooks.Retry(indexer.RetryInfo{Err: errors.New("down")})
	}
	hooks.Items(indexer.ItemsInfo{Index: "orders", Outcome: indexer.Again, Events: 5})
	if o.Cause("orders") == nil {
		t.Error("no cause")
	}
	hooks.Items(indexer.ItemsInfo{Index: "orders", Outcome: indexer.Written, Events: 1})
	if o.Cause("orders") != nil {
		t.Error("it is well again")
	}
}

// TestOutagesOfKafka checks that a broker is logged by its address, as a store is.
func TestOutagesOfKafka(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := NewOutages(slog.New(slog.NewTextHandler(&log, nil)), unmasked)
		for n := range 90 { // one try per second
			o.Kafka("10.0.0.1:9092", n+1, errors.New("connection refused"))
			time.Sleep(time.Second)
		}
		for _, tries := range []string{"3", "63"} {
			if want := `level=WARN msg="Kafka keeps failing" broker=10.0.0.1:9092 tries=` + tries + ` error="connection refused"`; !strings.Contains(log.String(), want) {
				t.Errorf("no %q", want)
			}
		}
		if n := strings.Count(log.String(), "\n"); n != 2 {
			t.Errorf("%d warnings:\n%s", n, &log)
		}
	})
}

func unmasked(string) bool { return false }

// What a server says of a table whose key is masked may quote a row: only who said it, and the exception's class, are shown.
func TestCausesOfMaskedTables(t *testing.T) {
	said := errors.New("rs1:16020 answered WrongRegionException: row='secret'")
	for _, c := range []struct{ table, class, want string }{
		{"open", "org.apache.hadoop.hbase.regionserver.WrongRegionException", said.Error()},
		{"masked", "org.apache.hadoop.hbase.regionserver.WrongRegionException", "rs1:16020 answered WrongRegionException"},
		{"masked", "connection", said.Error()}, // brine's own words
	} {
		o := NewOutages(slog.New(slog.DiscardHandler), func(table string) bool { return table == "masked" })
		o.HBase(hbase.Hooks{}).Retry(hbase.RetryInfo{Table: c.table, Class: c.class, Server: "rs1:16020", Failures: warnFrom, Err: said})
		if got := o.Cause(c.table); got == nil || got.Error() != c.want {
			t.Errorf("%s, %s: %v, want %s", c.table, c.class, got, c.want)
		}
	}
}
