package embedded_test

import (
	"fmt"
	"sync"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// BenchmarkMulti measures durable one-cell rows (30 B key, 150 B value, 16 regions) over the wire, in calls of 2,000 rows over 4
// connections. The client runs in the same process, and its cost is included.
func BenchmarkMulti(b *testing.B) {
	const rows, connections = 2000, 4
	s := start(b, embedded.Options{Dir: b.TempDir()})
	var splits []string
	for i := 1; i < 16; i++ {
		splits = append(splits, fmt.Sprintf("%x", i))
	}
	regions := create(b, s.Addr(), "bench", splits, family("e"))
	b.SetBytes(0)
	value := make([]byte, 150)
	var wg sync.WaitGroup
	work := make(chan int)
	for range connections {
		c := dial(b, s.Addr(), "ClientService")
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range work {
				var param, cells []byte
				for r, region := range regions {
					var ms []wire.Mutation
					for i := r; i < rows; i += 16 {
						row := fmt.Appendf(nil, "%x%029d", r, (n*rows+i)*7919%1_000_003)
						ms = append(ms, wire.Mutation{Row: row, Cells: 1})
						cells = wire.AppendCell(cells, wire.Cell{Row: row, Family: []byte("e"), Qualifier: []byte("q"), Timestamp: 1, Type: 4, Value: value})
					}
					param = wire.AppendRegionAction(param, region, ms)
				}
				c.multi(param, cells)
			}
		}()
	}
	b.ResetTimer()
	for n := 0; n*rows < b.N; n++ {
		work <- n
	}
	close(work)
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// multi sends an encoded MultiRequest and fails the test on any exception.
func (c *client) multi(param, cells []byte) {
	b, err := wire.BeginRequest(nil, wire.Call{ID: 1, Method: "Multi"}, param, len(cells))
	if err != nil {
		c.t.Error(err)
		return
	}
	if _, err := c.c.Write(append(b, cells...)); err != nil {
		c.t.Error(err)
		return
	}
	r, err := c.receive()
	if err != nil || r.Exception != nil {
		c.t.Error(err, r.Exception)
		return
	}
	for rest := r.Param; ; {
		result, more, ok, err := wire.NextRegionResult(rest)
		if err != nil || result.Exception.Class != "" {
			c.t.Error(err, result.Exception)
		}
		if !ok || err != nil {
			return
		}
		rest = more
		for {
			o, ok, err := result.Next()
			if !ok || err != nil {
				break
			}
			if o.Exception.Class != "" {
				c.t.Error(o.Exception)
			}
		}
	}
}

// BenchmarkScan measures rows read over the wire by a scan of one region.
func BenchmarkScan(b *testing.B) {
	s := start(b, embedded.Options{})
	regions := create(b, s.Addr(), "bench", nil, family("e"))
	c := dial(b, s.Addr(), "ClientService")
	fill(c, regions[0], 100_000)
	b.ResetTimer()
	for n := 0; n < b.N; {
		n += scanAll(c, regions[0])
	}
	b.ReportMetric(float64(max(b.N, 100_000))/b.Elapsed().Seconds(), "rows/s")
}

func fill(c *client, region []byte, rows int) {
	for n := 0; n < rows; n += 1000 {
		var cells []byte
		var ms []wire.Mutation
		for i := range 1000 {
			row := fmt.Appendf(nil, "%08d", n+i)
			ms = append(ms, wire.Mutation{Row: row, Cells: 1})
			cells = wire.AppendCell(cells, wire.Cell{Row: row, Family: []byte("e"), Qualifier: []byte("q"), Timestamp: 1, Type: 4, Value: make([]byte, 150)})
		}
		c.multi(wire.AppendRegionAction(nil, region, ms), cells)
	}
}

func scanAll(c *client, name []byte) (rows int) {
	q := &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}, NumberOfRows: new(uint32)}
	*q.NumberOfRows = 5000
	for {
		r := &hbasepb.ScanResponse{}
		c.must("Scan", q, r, nil)
		rows += len(r.CellsPerResult)
		if !r.GetMoreResultsInRegion() {
			return rows
		}
		q = &hbasepb.ScanRequest{ScannerId: r.ScannerId, NumberOfRows: q.NumberOfRows}
	}
}
