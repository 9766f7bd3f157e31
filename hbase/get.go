package hbase

import (
	"bytes"
	"context"
	"slices"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/hedge"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// CellType is what a cell does. The numbers are the type codes of KeyValue.
type CellType = wire.CellType

// The cell types.
const (
	Put                 = wire.Put
	Delete              = wire.Delete              // exactly this version of a column
	DeleteFamilyVersion = wire.DeleteFamilyVersion // exactly this version of all columns of a family
	DeleteColumn        = wire.DeleteColumn        // this and all older versions of a column
	DeleteFamily        = wire.DeleteFamily        // this and all older versions of all columns of a family
)

// Cell is a cell as read, with its Row, Family, Qualifier, Value, Timestamp and Type.
type Cell = wire.Cell

// Result is the Cells of one Row in HBase's order; Cells is empty if the row does not exist. In a Scan with Cursors, an empty Result is a
// position: all rows before Row have been looked at, and a new scan may continue from there.
type Result = rpc.Result

// Get describes a read of one row. Nil Columns means all.
type Get struct {
	Row         []byte
	Columns     []Column
	MaxVersions int   // 0 means 1
	From, To    int64 // time range [From, To); both 0 means all
	Filter      Filter
	Consistency Consistency // used by Client.Get; Gets and GetAll are always Strong
}

// Column names a whole family if Qualifier is nil, or else one column of it. An empty Qualifier names the column without a name.
type Column struct{ Family, Qualifier []byte }

// Consistency says which servers may answer a read.
type Consistency uint8

// The consistencies. A table has region replicas if its attribute REGION_REPLICATION is greater than 1.
const (
	Strong   Consistency = iota // the region itself: sees everything acknowledged before
	Timeline                    // also replicas, which may lag behind, if the region takes longer than Options.ReplicaDelayGet or …Scan
)

func (c Consistency) message() *hbasepb.Consistency {
	if c == Strong {
		return nil
	}
	return hbasepb.Consistency_TIMELINE.Enum()
}

// columnsOf groups columns by family, in the order of their first mention. If a family is requested as a whole, columns of it that are
// named too have no effect.
func columnsOf(columns []Column) []*hbasepb.Column {
	if len(columns) == 0 {
		return nil
	}
	var out []*hbasepb.Column
	var whole []bool // by family
	for _, c := range columns {
		i := slices.IndexFunc(out, func(m *hbasepb.Column) bool { return bytes.Equal(m.Family, c.Family) })
		if i < 0 {
			i, out, whole = len(out), append(out, &hbasepb.Column{Family: c.Family}), append(whole, false)
		}
		if whole[i] = whole[i] || c.Qualifier == nil; whole[i] {
			out[i].Qualifier = nil
			continue
		}
		out[i].Qualifier = append(out[i].Qualifier, c.Qualifier)
	}
	return out
}

func timeRange(from, to int64) *hbasepb.TimeRange {
	if from == 0 && to == 0 {
		return nil
	}
	return &hbasepb.TimeRange{From: proto.Uint64(uint64(from)), To: proto.Uint64(uint64(to))}
}

func (g *Get) message() (*hbasepb.Get, error) {
	filter, err := filterMessage(g.Filter)
	return &hbasepb.Get{
		Row: g.Row, Column: columnsOf(g.Columns), TimeRange: timeRange(g.From, g.To),
		MaxVersions: proto.Uint32(uint32(max(1, g.MaxVersions))), Filter: filter, Consistency: g.Consistency.message(),
	}, err
}

// plain reports whether wire.AppendGet can encode the get.
func (g *Get) plain() bool {
	return g.Row != nil && g.Filter == nil && g.Consistency == Strong &&
		!slices.ContainsFunc(g.Columns, func(c Column) bool { return c.Family == nil })
}

// append appends the encoded message.
func (g *Get) append(dst []byte) ([]byte, error) {
	if g.plain() {
		return wire.AppendGet(dst, g.Row, columnsOf(g.Columns), uint32(max(1, g.MaxVersions)), g.From, g.To), nil
	}
	m, err := g.message()
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{}.MarshalAppend(dst, m)
}

// request returns the encoder of a request to a region.
func (g *Get) request(r *Region) (rpc.Encoder, error) {
	if g.plain() {
		get, err := g.append(make([]byte, 0, len(g.Row)+32))
		return func(dst []byte, c wire.Call) ([]byte, error) { return wire.AppendGetRequest(dst, c, r.Name, get) }, err
	}
	get, err := g.message()
	in := &hbasepb.GetRequest{Region: locate.Specifier(r), Get: get}
	return func(dst []byte, c wire.Call) ([]byte, error) { return wire.AppendRequest(dst, c, in, nil) }, err
}

// Get reads one row.
func (c *Client) Get(ctx context.Context, table string, g Get) (Result, error) {
	table = locate.TableKey(table)
	var row Result
	t := c.newTries("get", table)
	t.alone = g.Consistency == Strong && c.locator.Cached(table, g.Row) != nil
	err := t.run(ctx, func(ctx context.Context) (*Region, error) {
		r, err := c.find(ctx, table, g.Row, g.Consistency)
		if err != nil {
			return nil, err
		}
		if g.Consistency == Timeline && len(r.Replicas) > 0 {
			row, err = c.getHedged(ctx, r, g)
		} else {
			row, err = c.getOnce(ctx, r, g)
		}
		return r, err
	})
	return row, err
}

func (c *Client) getOnce(ctx context.Context, r *Region, g Get) (Result, error) {
	encode, err := g.request(r)
	if err != nil {
		return Result{}, err
	}
	sent := time.Now()
	answer, err := c.servers.RoundTrip(ctx, rpc.ClientService.At(r.Server), "Get", encode)
	if err != nil {
		return Result{}, err
	}
	row, err := rpc.DecodeGet(answer.Param, answer.Cells)
	if err != nil {
		return Result{}, remote.Invalid(r.Server, err)
	}
	row.Row = g.Row
	c.opts.Hooks.Read(ReadInfo{r, time.Since(sent)})
	return row, nil
}

// find returns the region that contains a row, for a read of the given consistency.
func (c *Client) find(ctx context.Context, table string, row []byte, by Consistency) (*Region, error) {
	if by == Timeline {
		return c.locator.FindReadable(ctx, table, row)
	}
	return c.locator.Find(ctx, table, row)
}

// getHedged is like getOnce, but reads from the region or one of its replicas.
func (c *Client) getHedged(ctx context.Context, r *Region, g Get) (Result, error) {
	h := hedge.Read[Result]{Region: r, Delay: c.opts.ReplicaDelayGet, Locator: c.locator, Go: c.goroutines.Go}
	h.Call = func(at *Region) func(context.Context) (Result, error) {
		return func(ctx context.Context) (Result, error) { return c.getOnce(ctx, at, g) }
	}
	row, _, err := h.Run(ctx)
	return row, err
}
