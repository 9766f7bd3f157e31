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

// Region is one region of a table as hbase:meta has it. Regions are never changed once made.
type Region struct {
	Table      string
	Name       []byte // full region name: table,start,id.encoded.
	Encoded    string
	ID         int64
	Start, End []byte
	Server     string // host:port; empty when not assigned
	StartCode  int64  // of the server
	Offline    bool
	Split      bool
	State      string // OPEN, OPENING, SPLITTING …; empty when meta has none; Unreadable

	Replica  int       // 0: the region itself; else the number of a replica, which is read only
	Replicas []*Region // of the region itself: those that are on a server

	seq    int64 // of its opening: greater is newer
	damage error // why the row of hbase:meta cannot be read; the region's name and start are known
}

// Unreadable is the state of a region whose row of hbase:meta cannot be read. It is on no server that is known, and ends where
// the next begins.
const Unreadable = "UNREADABLE"

// contains reports whether row lies in [Start, End).
func (r *Region) contains(row []byte) bool {
	return bytes.Compare(r.Start, row) <= 0 && Before(row, r.End)
}

// reaches reports whether a region that starts before row holds the greatest rows less than row, where nil is the end of the table.
func (r *Region) reaches(row []byte) bool {
	return len(r.End) == 0 || row != nil && bytes.Compare(r.End, row) >= 0
}

// overlaps reports whether some row could lie in both.
func (r *Region) overlaps(o *Region) bool {
	return Before(r.Start, o.End) && Before(o.Start, r.End)
}

// Before reports whether a row lies before the end of a range, where an empty end is the end of the table.
func Before(row, end []byte) bool { return len(end) == 0 || bytes.Compare(row, end) < 0 }

// NewerThan reports whether r is the later one of two that overlap: daughters and merged regions have greater ids than
// those they came from; the same region opened again has a greater sequence number.
func (r *Region) NewerThan(o *Region) bool {
	if r.ID != o.ID {
		return r.ID > o.ID
	}
	return r.seq > o.seq
}

// sameAs reports whether both are one opening of one region.
func (r *Region) sameAs(o *Region) bool {
	return bytes.Equal(r.Name, o.Name) && r.seq == o.seq && r.Server == o.Server && r.StartCode == o.StartCode
}

// Specifier names a region in a call.
func Specifier(r *Region) *hbasepb.RegionSpecifier {
	return &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: r.Name}
}

// SameLife reports whether both may be on one life of one server: a RegionMovedException does not say which.
func (r *Region) SameLife(o *Region) bool {
	return r.Server == o.Server && (o.StartCode == 0 || r.StartCode == o.StartCode)
}

const (
	MetaTable       = "hbase:meta"
	metaEncoded     = "1588230740"
	metaRegionName  = "hbase:meta,,1"
	defaultNS       = "default"
	protobufMagic   = "PBUF"
	greatestID      = "99999999999999" // sorts behind every region id
	leastID         = "00000000000000"
	SystemNamespace = "hbase"
)

// TableKey is the name by which hbase:meta and our caches know a table: without the default namespace.
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

// FromMeta reads a row of hbase:meta; nil when the row is no region's:
//
//	row                      table,start,id.encoded.
//	info:regioninfo          "PBUF", RegionInfo
//	info:server              host:port
//	info:serverstartcode     int64, big-endian
//	info:seqnumDuringOpen    int64, big-endian
//	info:state               RegionState's name
//	info:server_0001         as the last four, of a replica: its number has four hexadecimal digits
//
// One whose region info cannot be read is a damaged region, with what the row's name says.
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

// set reads a column that says where a region or a replica is.
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

// damagedRegion is what a region's name says of it.
func damagedRegion(name []byte, why error) *Region {
	table, rest, _ := bytes.Cut(name, []byte(","))
	comma := bytes.LastIndexByte(rest, ',')
	if comma < 0 {
		return nil // nor is it a region's name
	}
	id, _, _ := strings.Cut(string(rest[comma+1:]), ".")
	r := &Region{Table: string(table), Name: name, Encoded: EncodedName(name), Start: rest[:comma], State: Unreadable,
		damage: fmt.Errorf("row %q of hbase:meta: %w", name, why)}
	r.ID, _ = strconv.ParseInt(id, 10, 64) // 0: as old as can be
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

// EncodedName is what stands between the last two dots of a region's name.
func EncodedName(name []byte) string {
	s := strings.TrimSuffix(string(name), ".")
	return s[strings.LastIndexByte(s, '.')+1:]
}

// metaRegion is the one region of hbase:meta, where the registry says it is.
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
