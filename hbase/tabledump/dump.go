package tabledump

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"brine/hbase"
)

// Dump writes a table and returns the number of cells written. It writes all versions, delete markers and the cells they hide; if live is
// true, only what readers see. It may or may not include writes made while it reads. The TTL of a single cell cannot be read and is not
// included.
func Dump(ctx context.Context, client *hbase.Client, table string, live bool, to io.Writer) (cells int, err error) {
	described, err := client.Describe(ctx, table)
	if err != nil {
		return 0, err
	}
	regions, err := client.Regions(ctx, table)
	if err != nil {
		return 0, err
	}
	h := header{Table: described.Name, Values: described.Values, Config: described.Config}
	for _, f := range described.Families {
		h.Families = append(h.Families, family(f))
	}
	for _, r := range regions {
		if len(r.Start) > 0 {
			h.Splits = append(h.Splits, r.Start)
		}
	}
	out := bufio.NewWriter(to)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(h); err != nil {
		return 0, err
	}
	for row, err := range client.Scan(ctx, table, hbase.Scan{MaxVersions: math.MaxInt32, Raw: !live}) {
		if err != nil {
			return cells, err
		}
		for _, c := range row.Cells {
			name, known := types[c.Type]
			if !known {
				return cells, fmt.Errorf("tabledump: row %q has a cell of unknown type %d", c.Row, c.Type)
			}
			line := cell{Row: (*text)(&c.Row), Family: (*text)(&c.Family), Qualifier: (*text)(&c.Qualifier), Timestamp: &c.Timestamp, Type: name}
			if c.Type == hbase.Put {
				line.Value = (*text)(&c.Value)
			}
			if err := lines.Encode(line); err != nil {
				return cells, err
			}
			cells++
		}
	}
	return cells, out.Flush()
}
