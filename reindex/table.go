package reindex

import (
	"context"
	"fmt"

	"brine/hbase"
)

// maxRanges is the most ranges that are stored for a table, however many regions it has.
const maxRanges = 256

// rangesOf cuts a table along its regions.
func rangesOf(ctx context.Context, client *hbase.Client, table string) ([]*rangeState, error) {
	regions, err := client.Regions(ctx, table)
	if err != nil {
		return nil, err
	}
	if len(regions) == 0 {
		return nil, fmt.Errorf("table %s: it has no regions", table)
	}
	each := (len(regions) + maxRanges - 1) / maxRanges
	var out []*rangeState
	for i := 0; i < len(regions); i += each {
		out = append(out, &rangeState{Next: regions[i].Start, To: regions[min(i+each, len(regions))-1].End})
	}
	return out, nil
}

// bytesOf returns the size of a table on disk and in memory.
func bytesOf(ctx context.Context, client *hbase.Client, table string) (bytes int64, err error) {
	loads, err := client.RegionLoads(ctx, table)
	for _, l := range loads {
		bytes += int64(l.StoreFileMB+l.MemStoreMB) << 20
	}
	return bytes, err
}
