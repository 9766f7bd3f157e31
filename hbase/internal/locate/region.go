package locate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"strings"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/rpc"

	"google.golang.org/protobuf/proto"
)

// Region is one region of a table as hbase:meta describes it. Regions are immutable.
type Region struct {
	Table      string
	Name       []byte // full region name: table,start,id.encoded.
	Encoded    string
	ID         int64
	Start, End []byte
	Server     string // host:port; empty if not assigned
	StartCode  int64  // start code of the server
	Offline    bool
	Split      bool
	State      string // OPEN, OPENING, SPLITTING …; empty if hbase:meta has none; Unreadable

	Replica  int       // 0: the region itself; otherwise the number of a read-only replica
	Replicas []*Region // of the region itself: its replicas that are on a server

	seq    int64 // of this opening: greater is newer
	damage error // why the row in hbase:meta cannot be read; the region's name and start are known
}

// Unreadable is the state of a region whose row in hbase:meta cannot be read. Its server is unknown, and it ends where the next region
// begins.
const Unreadable = "UNREADABLE"

// contains reports whether row is in [Start, End).
func (r *Region) contains(row []byte) bool {
	return bytes.Compare(r.Start, row) <= 0 && Before(row, r.End)
}

// reaches reports whether a region that starts before row holds the greatest rows less than row. A nil row means the end of the table.
func (r *Region) reaches(row []byte) bool {
	return len(r.End) == 0 || row != nil && bytes.Compare(r.End, row) >= 0
}

// overlaps reports whether the regions can have a row in common.
func (r *Region) overlaps(o *Region) bool {
	return Before(r.Start, o.End) && Before(o.Start, r.End)
}

// Before reports whether row is before the end of a range. An empty end means the end of the table.
func Before(row, end []byte) bool { return len(end) == 0 || bytes.Compare(row, end) < 0 }

// NewerThan reports whether r is the later of two overlapping regions. Daughters and merged regions have greater ids than the regions they
// came from; a region that was opened again has a greater sequence number.
func (r *Region) NewerThan(o *Region) bool {
	if r.ID != o.ID {
		return r.ID > o.ID
	}
	return r.seq > o.seq
}

// sameAs reports whether both are the same opening of the same region.
func (r *Region) sameAs(o *Region) bool {
	return bytes.Equal(r.Name, o.Name) && r.seq == o.seq && r.Server == o.Server && r.StartCode == o.StartCode
}

// Specifier returns the name of a region as calls encode it.
func Specifier(r *Region) *hbasepb.RegionSpecifier {
	return &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: r.Name}
}

// SameLife reports whether both may be on the same process of the same server. A RegionMovedException does not have the start code.
func (r *Region) SameLife(o *Region) bool {
	return r.Server == o.Server && (o.StartCode == 0 || r.StartCode == o.StartCode)
}

const (
	MetaTable       = "hbase:meta"
	metaEncoded     = "1588230740"
	metaRegionName  = "hbase:meta,,1"
	defaultNS       = "default"
	protobufMagic   = "PBUF"
	greatestID      = "99999999999999" // sorts after every region id
	leastID         = "00000000000000"
	SystemNamespace = "hbase"
)

// TableKey returns the name under which hbase:meta and our caches know a table: without the default namespace.
func TableKey(name string) string { return strings.TrimPrefix(name, defaultNS+":") }

func TableName(name string) *hbasepb.TableName {
	ns, qualifier, ok := strings.Cut(name, ":")
	if !ok {
		ns, qualifier = defaultNS, name
	}
	return &hbasepb.TableName{Namespace: []byte(ns), Qualifier: []byte(qualifier)}
}

func TableString(n *hbasepb.TableName) string {
	if ns := string(n.GetNamespace()); ns != defaultNS {
		return ns + ":" + string(n.GetQualifier())
	}
	return string(n.GetQualifier())
}

func ServerAddr(s *hbasepb.ServerName) string {
	return net.JoinHostPort(s.GetHostName(), strconv.Itoa(int(s.GetPort())))
}

// FromMeta decodes a row of hbase:meta. It returns nil if the row does not describe a region:
//
//	row                      table,start,id.encoded.
//	info:regioninfo          "PBUF", RegionInfo
//	info:server              host:port
//	info:serverstartcode     int64, big-endian
//	info:seqnumDuringOpen    int64, big-endian
//	info:state               RegionState's name
//	info:server_0001         like the last four, of a replica: its number in four hexadecimal digits
//
// If the region info cannot be read, FromMeta returns a damaged region with what its name says.
func FromMeta(row rpc.Result) *Region {
	var r *Region
	for _, c := range row.Cells {
		if string(c.Family) == "info" && string(c.Qualifier) == "regioninfo" {
			info, err := parseRegionInfo(c.Value)
			if err != nil {
				return damagedRegion(row.Row, err)
			}
			r = regionOfInfo(info, row.Row)
		}
	}
	if r == nil {
		return nil
	}
	for _, c := range row.Cells {
		if string(c.Family) != "info" {
			continue
		}
		if name, number := replicaColumn(c.Qualifier); number == 0 {
			r.set(name, c.Value)
		} else if p := r.replica(number); p != nil {
			p.set(name, c.Value)
		}
	}
	r.dropAbsent()
	return r
}

// set decodes a column of the location of a region or a replica.
func (r *Region) set(column, value []byte) {
	switch string(column) {
	case "server":
		r.Server = string(value)
	case "serverstartcode":
		r.StartCode = bigEndian(value)
	case "seqnumDuringOpen":
		r.seq = bigEndian(value)
	case "state":
		r.State = string(value)
	}
}

// damagedRegion returns a region with what its name says.
func damagedRegion(name []byte, why error) *Region {
	table, rest, _ := bytes.Cut(name, []byte(","))
	comma := bytes.LastIndexByte(rest, ',')
	if comma < 0 {
		return nil // not a region name either
	}
	id, _, _ := strings.Cut(string(rest[comma+1:]), ".")
	r := &Region{Table: string(table), Name: name, Encoded: EncodedName(name), Start: rest[:comma], State: Unreadable,
		damage: fmt.Errorf("row %q of hbase:meta: %w", name, why)}
	r.ID, _ = strconv.ParseInt(id, 10, 64) // if not a number: 0, older than all others
	return r
}

func parseRegionInfo(b []byte) (*hbasepb.RegionInfo, error) {
	message, ok := bytes.CutPrefix(b, []byte(protobufMagic))
	if !ok {
		return nil, fmt.Errorf("region info does not begin with %s", protobufMagic)
	}
	info := new(hbasepb.RegionInfo)
	if err := proto.Unmarshal(message, info); err != nil {
		return nil, fmt.Errorf("region info: %w", err)
	}
	return info, nil
}

func regionOfInfo(info *hbasepb.RegionInfo, name []byte) *Region {
	r := &Region{
		Table: TableString(info.GetTableName()), Name: name, Encoded: EncodedName(name), ID: int64(info.GetRegionId()),
		Start: info.GetStartKey(), End: info.GetEndKey(), Offline: info.GetOffline(), Split: info.GetSplit(),
	}
	return r
}

// EncodedName returns the part between the last two dots of a region's name.
func EncodedName(name []byte) string {
	s := strings.TrimSuffix(string(name), ".")
	return s[strings.LastIndexByte(s, '.')+1:]
}

// metaRegion returns the only region of hbase:meta at the location that the registry reports.
func metaRegion(l *hbasepb.RegionLocation) *Region {
	r := regionOfInfo(l.GetRegionInfo(), []byte(metaRegionName))
	r.Table, r.Encoded = MetaTable, metaEncoded
	r.seq = l.GetSeqNum()
	if s := l.GetServerName(); s != nil {
		r.Server, r.StartCode = ServerAddr(s), int64(s.GetStartCode())
	}
	return r
}

func bigEndian(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
