package hbase_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
)

// example opens a client of a server in this process; a real one is named by rpc://master1:16000,master2:16000.
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
		log.Fatal(err) // ctx ended; the flight goes on
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
