package hbase

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"testing"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

const (
	peerRegionID = "7"
	noRow        = "-" // address of a region that has no row in hbase:meta
)

// region returns the k-th region of the table.
func (p *peer) region(k int) (info *hbasepb.RegionInfo, name []byte) {
	info = &hbasepb.RegionInfo{RegionId: proto.Uint64(7), TableName: locate.TableName("t")}
	if k > 0 {
		info.StartKey = []byte(p.splits[k-1])
	}
	if k < len(p.splits) {
		info.EndKey = []byte(p.splits[k])
	}
	return info, fmt.Appendf(nil, "t,%s,%s.%032d.", info.StartKey, peerRegionID, k)
}

// scanMeta answers a look-up, which reads hbase:meta backwards: the last region that does not start after the scan's start row, and as many
// before it as the scan requests.
func (p *peer) scanMeta(c *peerCall) *reply {
	in := new(hbasepb.ScanRequest)
	if err := proto.Unmarshal(c.Param, in); err != nil {
		panic(err)
	}
	p.mu.Lock()
	seq, moved, damaged := max(2, p.opened), maps.Clone(p.moved), maps.Clone(p.damaged)
	p.mu.Unlock()
	out := &hbasepb.ScanResponse{MoreResults: proto.Bool(false)}
	var cells []byte
	for k := p.lastFrom(string(in.Scan.StartRow)); k >= 0 && len(out.CellsPerResult) < int(in.GetNumberOfRows()); k-- {
		info, name := p.region(k)
		addr, elsewhere := moved[string(name)]
		switch {
		case !elsewhere:
			addr = peerAddr
		case addr == noRow:
			continue
		}
		row := metaRow(p, name, info, addr, seq)
		if damaged[k] {
			row[0].Value = []byte("no region info")
		}
		out.CellsPerResult = append(out.CellsPerResult, uint32(len(row)))
		for _, cell := range row {
			cells = wire.AppendCell(cells, cell)
		}
	}
	return &reply{param: out, cells: cells}
}

// lastFrom returns the first region that a reversed scan of hbase:meta from this row meets, less than 0 if none.
func (p *peer) lastFrom(start string) int {
	last := -1
	table, rest, _ := strings.Cut(start, ",")
	switch table {
	case "t":
	case "t\x00": // after the table's last region
		return len(p.splits)
	default:
		return last
	}
	comma := strings.LastIndexByte(rest, ',')
	row, id := rest[:comma], rest[comma+1:]
	for k := range len(p.splits) + 1 {
		info, _ := p.region(k)
		if from := string(info.StartKey); from < row || from == row && peerRegionID <= id {
			last = k
		}
	}
	return last
}

// metaRow returns a region's row in hbase:meta; without an address, the region is on no server.
func metaRow(p *peer, name []byte, info *hbasepb.RegionInfo, addr string, seq uint64) (row []wire.Cell) {
	message, err := proto.Marshal(info)
	if err != nil {
		p.t.Error(err)
	}
	put := func(q string, v []byte) {
		row = append(row, wire.Cell{Row: name, Family: []byte("info"), Qualifier: []byte(q), Value: v, Type: 4})
	}
	put("regioninfo", append([]byte("PBUF"), message...))
	if addr != "" {
		put("seqnumDuringOpen", binary.BigEndian.AppendUint64(nil, seq))
		put("server", []byte(addr))
	}
	return row
}

// forgetMeta makes a client look up hbase:meta again.
func forgetMeta(t testing.TB, c *Client) {
	t.Helper()
	meta, err := c.locator.FindMeta(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.locator.Forget(meta)
}
