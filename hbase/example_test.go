package hbase_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
)

// example opens a client of a server in this process. A real one has a name like rpc://master1:16000,master2:16000 or
// zk://zk1:2181,zk2:2181/hbase.
func example(ctx context.Context) (c *hbase.Client, close func()) {
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c, err = hbase.Open(ctx, hbase.Options{Connect: "rpc://" + server.Addr()})
	if err != nil {
		log.Fatal(err)
	}
	scans := hbase.Table{Name: "scans", Families: []hbase.Family{{Name: "e", Values: map[string]string{"VERSIONS": "1"}}}}
	if err := c.CreateTable(ctx, scans, [][]byte{[]byte("m")}); err != nil {
		log.Fatal(err)
	}
	return c, func() {
		c.Close()
		server.Close()
	}
}

// exampleServer starts the server of an example that opens its own client.
func exampleServer() (connect string, close func()) {
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	connect = "rpc://" + server.Addr()
	c, err := hbase.Open(context.Background(), hbase.Options{Connect: connect})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.CreateTable(context.Background(), hbase.Table{Name: "scans", Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		log.Fatal(err)
	}
	return connect, func() { server.Close() }
}

func ExampleClient_Submit() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()

	b := hbase.NewBatch("scans")
	b.Mutate([]byte("waybill-1"))
	b.Put([]byte("e"), []byte("station"), 1700000000000, []byte("Shanghai"))
	b.Put([]byte("e"), []byte("action"), 1700000000000, []byte("arrived"))
	b.Mutate([]byte("waybill-2"))
	b.Put([]byte("nofamily"), []byte("station"), 1700000000000, []byte("Beijing"))

	failed, err := c.Submit(ctx, b).Wait(ctx)
	if err != nil {
		log.Fatal(err) // ctx ended; the flight continues
	}
	for _, f := range failed {
		fmt.Printf("%s: %v\n", b.Row(f.Index), f.Kind)
	}
	// Output: waybill-2: no table
}

func ExampleClient_Mutator() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	m, err := c.Mutator(hbase.MutatorOptions{WriteBuffer: 1 << 20, Linger: time.Minute})
	if err != nil {
		log.Fatal(err)
	}

	for _, row := range []string{"a", "k", "z"} {
		b := hbase.NewBatch("scans")
		b.Mutate([]byte(row))
		b.Put([]byte("e"), []byte("q"), 1, []byte("value of "+row))
		m.Submit(ctx, b)
	}
	count := func() (n int) {
		for _, err := range c.Scan(ctx, "scans", hbase.Scan{}) {
			if err != nil {
				log.Fatal(err)
			}
			n++
		}
		return n
	}
	fmt.Println("before the flush:", count())
	if err := m.Flush(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("after it:", count())
	// Output:
	// before the flush: 0
	// after it: 3
}

func ExampleClient_Scan() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	b := hbase.NewBatch("scans")
	for _, row := range []string{"a", "k", "m", "z"} {
		b.Mutate([]byte(row))
		b.Put([]byte("e"), []byte("q"), 1, []byte("value of "+row))
	}
	if failed, err := c.Submit(ctx, b).Wait(ctx); err != nil || failed != nil {
		log.Fatal(failed, err)
	}

	for row, err := range c.Scan(ctx, "scans", hbase.Scan{Reverse: true, Limit: 3}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", row.Row, row.Cells[0].Value)
	}
	// Output:
	// z: value of z
	// m: value of m
	// k: value of k
}

// A delete of older versions and a put of this one, applied atomically: every reader sees both or neither.
func ExampleClient_MutateRow() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	b := hbase.NewBatch("scans")
	b.Mutate([]byte("waybill-1"))
	b.Put([]byte("e"), []byte("station"), 1, []byte("Shanghai"))
	if err := c.MutateRow(ctx, b); err != nil {
		log.Fatal(err)
	}

	b.Reset("scans")
	b.Mutate([]byte("waybill-1"))
	b.Delete(hbase.DeleteFamily, []byte("e"), nil, 6)
	b.Mutate([]byte("waybill-1"))
	b.Put([]byte("e"), []byte("action"), 7, []byte("arrived"))
	if err := c.MutateRow(ctx, b); err != nil {
		log.Fatal(err)
	}
	row, err := c.Get(ctx, "scans", hbase.Get{Row: []byte("waybill-1")})
	if err != nil {
		log.Fatal(err)
	}
	for _, cell := range row.Cells {
		fmt.Printf("%s=%s\n", cell.Qualifier, cell.Value)
	}
	// Output: action=arrived
}

func ExampleClient_CheckAndMutate() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	family, owner := []byte("e"), []byte("owner")
	for _, who := range []string{"ann", "bob"} {
		b := hbase.NewBatch("scans")
		b.Mutate([]byte("waybill-1"))
		b.Put(family, owner, 1, []byte(who))
		applied, err := c.CheckAndMutate(ctx, b, hbase.IfAbsent(family, owner))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(who, applied)
	}
	// Output:
	// ann true
	// bob false
}

func ExampleClient_Increment() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	for range 3 {
		row, err := c.Increment(ctx, "scans", []byte("station-1"), hbase.Amount{Family: []byte("e"), Qualifier: []byte("parcels"), By: 2})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(binary.BigEndian.Uint64(row.Cells[0].Value))
	}
	// Output:
	// 2
	// 4
	// 6
}

// A filter saves sending rows, not reading them: the metrics show the difference.
func ExampleScanMetrics() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	b := hbase.NewBatch("scans")
	for _, row := range []string{"a", "k", "m", "z"} {
		b.Mutate([]byte(row))
		b.Put([]byte("e"), []byte("q"), 1, []byte(row))
	}
	if failed, err := c.Submit(ctx, b).Wait(ctx); err != nil || failed != nil {
		log.Fatal(failed, err)
	}

	var m hbase.ScanMetrics
	greater := hbase.ValueFilter{Op: hbase.Greater, With: hbase.Bytes("l")}
	for row, err := range c.Scan(ctx, "scans", hbase.Scan{Filter: greater, Metrics: &m}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s ", row.Row)
	}
	fmt.Printf("of %d rows read\n", m.RowsScanned)
	// Output: m z of 4 rows read
}

func ExampleClient_SplitRegion() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	regions, err := c.Regions(ctx, "scans")
	if err != nil {
		log.Fatal(err)
	}
	if err := c.SplitRegion(ctx, regions[0], []byte("f")); err != nil {
		log.Fatal(err)
	}
	if regions, err = c.Regions(ctx, "scans"); err != nil {
		log.Fatal(err)
	}
	for _, r := range regions {
		fmt.Printf("[%s, %s)\n", r.Start, r.End)
	}
	// Output:
	// [, f)
	// [f, m)
	// [m, )
}
