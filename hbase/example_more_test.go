package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"brine/hbase"
	"brine/hbase/embedded"
)

// written writes one cell e:q of a row.
func written(ctx context.Context, c *hbase.Client, row, value string) {
	b := hbase.NewBatch("scans")
	b.Mutate([]byte(row))
	b.Put([]byte("e"), []byte("q"), time.Now().UnixMilli(), []byte(value))
	if failed, err := c.Submit(ctx, b).Wait(ctx); err != nil || failed != nil {
		log.Fatal(failed, err)
	}
}

// A snapshot preserves a table before an experiment.
func ExampleClient_TakeSnapshot() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	written(ctx, c, "waybill-1", "arrived")
	if err := c.TakeSnapshot(ctx, hbase.Snapshot{Name: "before", Table: "scans"}); err != nil {
		log.Fatal(err)
	}
	written(ctx, c, "waybill-1", "lost")

	if err := c.CloneSnapshot(ctx, "before", "scans-as-they-were"); err != nil {
		log.Fatal(err)
	}
	for _, table := range []string{"scans", "scans-as-they-were"} {
		row, err := c.Get(ctx, table, hbase.Get{Row: []byte("waybill-1")})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", table, row.Cells[0].Value)
	}
	snapshots, err := c.Snapshots(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range snapshots {
		fmt.Println(s.Name, s.Table, s.Kind)
	}
	// Output:
	// scans: lost
	// scans-as-they-were: arrived
	// before scans FLUSH
}

func ExampleClient_RestoreSnapshot() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	written(ctx, c, "waybill-1", "arrived")
	if err := c.TakeSnapshot(ctx, hbase.Snapshot{Name: "before", Table: "scans"}); err != nil {
		log.Fatal(err)
	}
	written(ctx, c, "waybill-1", "lost")

	steps := []func() error{
		func() error { return c.DisableTable(ctx, "scans") },
		func() error { return c.RestoreSnapshot(ctx, "before") },
		func() error { return c.EnableTable(ctx, "scans") },
		func() error { return c.DeleteSnapshot(ctx, "before") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			log.Fatal(err)
		}
	}
	row, err := c.Get(ctx, "scans", hbase.Get{Row: []byte("waybill-1")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", row.Cells[0].Value)
	// Output: arrived
}

// Gets reads many rows in the background; one that cannot be read does not affect the others.
func ExampleClient_Gets() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	written(ctx, c, "waybill-1", "arrived")

	reads := c.Gets(ctx, "scans", []hbase.Get{
		{Row: []byte("waybill-1")},
		{Row: []byte("waybill-2"), Columns: []hbase.Column{{Family: []byte("nofamily")}}},
	})
	rows, failed, err := reads.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", rows[0].Cells[0].Value)
	for _, f := range failed {
		var e *hbase.Error
		if errors.As(f.Err, &e) {
			fmt.Println(f.Index, e.Class)
		}
	}
	// Output:
	// arrived
	// 1 org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException
}

// Cursors show how far a scan has looked while its filter finds nothing: progress to print, or the row to continue from later.
func ExampleScan() {
	ctx := context.Background()
	server, err := embedded.Start(embedded.Options{Heartbeat: 2}) // HBase reports by time
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	c, err := hbase.Open(ctx, hbase.Options{Connect: "rpc://" + server.Addr()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.CreateTable(ctx, hbase.Table{Name: "scans", Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		log.Fatal(err)
	}
	for i := range 5 {
		written(ctx, c, fmt.Sprintf("waybill-%d", i), "arrived")
	}

	lost := hbase.ValueFilter{Op: hbase.Equal, With: hbase.Bytes("lost")}
	for row, err := range c.Scan(ctx, "scans", hbase.Scan{Filter: lost, Cursors: true}) {
		if err != nil {
			log.Fatal(err)
		}
		if len(row.Cells) == 0 {
			fmt.Printf("all before %s are not\n", row.Row)
		}
	}
	// Output:
	// all before waybill-2 are not
	// all before waybill-4 are not
}

// A program that is about to serve requests locates all rows first.
func ExampleClient_Warm() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	regions, err := c.Warm(ctx, "scans")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(regions, "regions")
	// Output: 2 regions
}

// An urgent read: it goes ahead of others in the servers' queues, and gives up after a minute.
func ExampleWithCallOptions() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	written(ctx, c, "waybill-1", "arrived")

	now := hbase.WithCallOptions(ctx, hbase.CallOptions{Priority: 100, OperationTimeout: time.Minute, Retries: 2})
	row, err := c.Get(now, "scans", hbase.Get{Row: []byte("waybill-1")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", row.Cells[0].Value)
	// Output: arrived
}

// openTelemetry is a Tracer that makes OpenTelemetry spans. Package hbase itself does not import OpenTelemetry.
type openTelemetry struct{ tracer trace.Tracer }

func (o openTelemetry) Operation(ctx context.Context, op, table string) (context.Context, func(error)) {
	ctx, span := o.tracer.Start(ctx, op+" "+table)
	return ctx, func(err error) { end(span, err) }
}

func (o openTelemetry) Call(ctx context.Context, _, method string) (map[string]string, func(error)) {
	ctx, span := o.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindClient))
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	return headers, func(err error) { end(span, err) }
}

func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// Reads become spans that contain their calls; region servers with tracing continue them.
func ExampleTracer() {
	ctx := context.Background()
	spans := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	server, done := exampleServer()
	defer done()
	c, err := hbase.Open(ctx, hbase.Options{Connect: server, Tracer: openTelemetry{provider.Tracer("shop")}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	if _, err := c.Get(ctx, "scans", hbase.Get{Row: []byte("waybill-1")}); err != nil {
		log.Fatal(err)
	}
	names := map[trace.SpanID]string{}
	for _, s := range spans.Ended() {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	for _, s := range spans.Ended() {
		if s.Name() == "Get" {
			fmt.Println(s.Name(), "in", names[s.Parent().SpanID()])
		}
	}
	// Output: Get in get scans
}

// A user may read a table and write one of its families.
func ExampleClient_Grant() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	for _, p := range []hbase.Permission{
		{User: "ann", Table: "scans", Actions: "R"},
		{User: "ann", Table: "scans", Family: "e", Actions: "RW"},
	} {
		if err := c.Grant(ctx, p, false); err != nil {
			log.Fatal(err)
		}
	}
	permissions, err := c.Permissions(ctx, hbase.Permission{Table: "scans"})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range permissions {
		fmt.Printf("%s %q %s\n", p.User, p.Family, p.Actions)
	}
	if err := c.Revoke(ctx, hbase.Permission{User: "ann", Table: "scans"}); err != nil { // all actions
		log.Fatal(err)
	}
	// Output:
	// ann "" R
	// ann "e" RW
}

// A report that reads much is kept from overloading the cluster.
func ExampleClient_SetThrottle() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	reports := hbase.QuotaOf{User: "reports", Table: "scans"}
	if err := c.SetThrottle(ctx, reports, hbase.Throttle{Kind: hbase.ReadBytes, Limit: 50 << 20, Per: time.Second}); err != nil {
		log.Fatal(err)
	}
	if err := c.SetSpaceQuota(ctx, hbase.QuotaOf{Table: "scans"}, 1<<40, hbase.NoInserts); err != nil {
		log.Fatal(err)
	}
	quotas, err := c.Quotas(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range quotas {
		for _, t := range q.Throttles {
			fmt.Println(q.QuotaOf, t.Kind, t.Limit, t.Per)
		}
		if q.Bytes > 0 {
			fmt.Println(q.QuotaOf, q.Bytes, q.Policy)
		}
	}
	// Output:
	// scans 1099511627776 NO_INSERTS
	// reports scans READ_SIZE 52428800 1s
}

// A second cluster receives one table once it is ready for it.
func ExampleClient_AddPeer() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	backup := hbase.Peer{ID: "backup", ClusterKey: "zk1,zk2,zk3:2181:/hbase", Tables: map[string][]string{"scans": {"e"}}, Disabled: true}
	if err := c.AddPeer(ctx, backup); err != nil {
		log.Fatal(err)
	}
	if err := c.EnablePeer(ctx, "backup"); err != nil {
		log.Fatal(err)
	}
	peers, err := c.Peers(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range peers {
		fmt.Println(p.ID, p.Tables, p.Disabled)
	}
	if err := c.RemovePeer(ctx, "backup"); err != nil {
		log.Fatal(err)
	}
	// Output: backup map[scans:[e]] false
}

func ExampleClient_Normalize() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	was, err := c.SetNormalizer(ctx, true)
	if err != nil {
		log.Fatal(err)
	}
	ran, err := c.Normalize(ctx, "scans")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(was, ran)
	// Output: true true
}

func ExampleClient_SlowLog() {
	ctx := context.Background()
	c, done := example(ctx)
	defer done()
	calls, err := c.SlowLog(ctx, hbase.SlowCalls{Table: "scans", Limit: 10})
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range calls {
		fmt.Println(call.Server, call.User, call.Method, call.Took, call.Details)
	}
	fmt.Println(len(calls), "slow calls")
	// Output: 0 slow calls
}

// If a slightly old answer is better than a late one, a region's replicas are asked when the region does not answer at once.
func ExampleConsistency() {
	ctx := context.Background()
	server, err := embedded.Start(embedded.Options{Servers: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	c, err := hbase.Open(ctx, hbase.Options{Connect: "rpc://" + server.Addr(), ReplicaDelayGet: 5 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	scans := hbase.Table{Name: "scans", Families: []hbase.Family{{Name: "e"}}, Values: map[string]string{"REGION_REPLICATION": "2"}}
	if err := c.CreateTable(ctx, scans, nil); err != nil {
		log.Fatal(err)
	}
	written(ctx, c, "waybill-1", "arrived")

	region := server.Regions("scans")[0]
	server.Nodes()[region.Node].Freeze() // it stops answering
	row, err := c.Get(ctx, "scans", hbase.Get{Row: []byte("waybill-1"), Consistency: hbase.Timeline})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, may be stale: %v\n", row.Cells[0].Value, row.Stale)
	// Output: arrived, may be stale: true
}
