package main

import (
	"context"
	"fmt"
	"slices"

	"brine/event"
	"brine/hbase"
)

// checkTables counts rows by region, and the lines of all orders.
func (s *shop) checkTables(ctx context.Context) error {
	lines := int64(0)
	counted := hbase.Column{Family: []byte("brief"), Qualifier: []byte("lines")}
	for _, t := range []struct {
		table   string
		want    int
		columns []hbase.Column
	}{{"centre:orders", s.in.total, []hbase.Column{counted}}, {"centre:order_ids", s.in.total, nil}, {"centre:scans", s.scans.count, nil}} {
		regions, err := s.hbase.Regions(ctx, t.table)
		if err != nil {
			return err
		}
		var rows []int
		for _, r := range regions {
			n, sum, err := s.count(ctx, t.table, r, t.columns)
			if err != nil {
				return err
			}
			rows, lines = append(rows, n), lines+sum
		}
		total := 0
		for _, n := range rows {
			total += n
		}
		if total != t.want {
			s.differs(t.table, nil, "%d rows, the input has %d", total, t.want)
		}
		share := func(n int) float64 { return 100 * float64(n) / float64(max(1, total)) }
		s.out.addTable(table{t.table, total, len(rows), share(slices.Min(rows)), share(slices.Max(rows))})
	}
	want := int64(0)
	for i := range s.in.orders {
		want += int64(s.in.orders[i].lines * s.in.copies(i))
	}
	s.out.Lines = lines
	fmt.Printf("%-17s %8d lines\n", "centre:orders", lines)
	if lines != want || s.in.total == baseOrders && want != baseLines {
		s.differs("centre:orders", nil, "%d lines, the input has %d", lines, want)
	}
	return nil
}

// count counts the rows of a region, and adds up one column of integers.
func (s *shop) count(ctx context.Context, table string, r hbase.Region, columns []hbase.Column) (n int, sum int64, err error) {
	scan := hbase.Scan{Start: r.Start, Stop: r.End, Columns: columns, Filter: hbase.FirstKeyOnlyFilter{}}
	if len(scan.Stop) == 0 {
		scan.Stop = nil
	}
	for row, err := range s.hbase.Scan(ctx, table, scan) {
		if err != nil {
			return n, sum, err
		}
		n++
		if columns == nil {
			continue
		}
		v, err := event.ParseValue(event.Int, row.Cells[0].Value)
		if err != nil {
			return n, sum, fmt.Errorf("row %q: %w", row.Row, err)
		}
		sum += v.Int()
	}
	return n, sum, nil
}
