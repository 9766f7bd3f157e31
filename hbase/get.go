package hbase

import (
	"context"
	"errors"
	"sync"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
)

// CellType says what a cell does; the numbers are KeyValue's type codes.
type CellType = rpc.CellType

// The types of cells.
const (
	Put                 = rpc.Put
	Delete              = rpc.Delete              // exactly this version of a column
	DeleteFamilyVersion = rpc.DeleteFamilyVersion // exactly this version of all columns of a family
	DeleteColumn        = rpc.DeleteColumn        // this and all older versions of a column
	DeleteFamily        = rpc.DeleteFamily        // this and all older versions of all columns of a family
)

// Cell is one cell as read: its Row, Family, Qualifier, Value, Timestamp and Type.
type Cell = rpc.Cell

// Result is the Cells of one Row in HBase's order; Cells is empty when the row does not exist.
type Result = rpc.Result

// Get asks for one row. Columns nil means all.
type Get struct {
	Row         []byte
	Columns     []Column
	MaxVersions int   // 0 means 1
	From, To    int64 // time range [From, To); both 0 means all
	Filter      Filter
}

// Column names a family as a whole, with a nil Qualifier, or one column of it: with an empty one, the column that has no name.
type Column struct{ Family, Qualifier []byte }

// columnsOf groups columns by family, in the order of their first mention; a family asked for as a whole is asked for as a
// whole, whatever columns of it are named besides.
func columnsOf(columns []Column) []*hbasepb.Column {
	var out []*hbasepb.Column
	byFamily := make(map[string]*hbasepb.Column)
	whole := make(map[string]bool)
	for _, c := range columns {
		m := byFamily[string(c.Family)]
		if m == nil {
			m = &hbasepb.Column{Family: c.Family}
			byFamily[string(c.Family)] = m
			out = append(out, m)
		}
		if c.Qualifier == nil {
			whole[string(c.Family)] = true
		}
		if whole[string(c.Family)] {
			m.Qualifier = nil
			continue
		}
		m.Qualifier = append(m.Qualifier, c.Qualifier)
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
		MaxVersions: proto.Uint32(uint32(max(1, g.MaxVersions))), Filter: filter,
	}, err
}

// Get reads one row.
func (c *Client) Get(ctx context.Context, table string, g Get) (Result, error) {
	table = locate.TableKey(table)
	var row Result
	t := c.newTries("get", table)
	err := t.run(ctx, func(ctx context.Context) (*Region, error) {
		r, err := c.locator.Find(ctx, table, g.Row)
		if err != nil {
			return nil, err
		}
		row, err = c.getOnce(ctx, r, g)
		return r, err
	})
	return row, err
}

func (c *Client) getOnce(ctx context.Context, r *Region, g Get) (Result, error) {
	var out hbasepb.GetResponse
	get, err := g.message()
	if err != nil {
		return Result{}, err
	}
	in := &hbasepb.GetRequest{Region: locate.Specifier(r), Get: get}
	cells, err := c.servers.Call(ctx, rpc.ClientService.At(r.Server), "Get", in, &out)
	if err != nil {
		return Result{}, err
	}
	row, _, err := rpc.DecodeResult(out.GetResult(), cells)
	if err != nil {
		return Result{}, remote.Invalid(r.Server, err)
	}
	row.Row = g.Row
	return row, nil
}

// GetAll reads many rows with one Multi per server; results are in the order of gets.
func (c *Client) GetAll(ctx context.Context, table string, gets []Get) ([]Result, error) {
	table = locate.TableKey(table)
	results := make([]Result, len(gets))
	todo := make([]int, len(gets)) // always indexes into gets, in every round
	for i := range todo {
		todo[i] = i
	}
	most := c.opts.MaxRequestRows // in one call
	t := c.newTries("get all", table)
	err := t.run(ctx, func(ctx context.Context) (_ *Region, err error) {
		var failed *Region
		todo, failed, err = c.getRound(ctx, table, gets, todo, most, results)
		if errors.Is(err, wire.ErrTooLong) {
			most = max(1, min(most, len(todo))/2)
		}
		return failed, err
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// getRound tries each of todo once, at most this many in one call. It returns those that are left, with the error of one of them and
// its region.
func (c *Client) getRound(ctx context.Context, table string, gets []Get, todo []int, most int, results []Result) ([]int, *Region, error) {
	byServer := make(map[string]map[*Region][]int)
	for _, i := range todo {
		r, err := c.locator.Find(ctx, table, gets[i].Row)
		if err != nil {
			return todo, nil, err
		}
		if byServer[r.Server] == nil {
			byServer[r.Server] = make(map[*Region][]int)
		}
		byServer[r.Server][r] = append(byServer[r.Server][r], i)
	}
	var (
		g       errgroup.Group
		mu      sync.Mutex
		left    []int
		failed  *Region
		failure error
	)
	for server, regions := range byServer {
		g.Go(func() error {
			for _, m := range chunkGets(regions, most) {
				m.run(ctx, c, server, gets, results)
				mu.Lock()
				left = append(left, m.left...)
				if m.err != nil && (failure == nil || remote.Diagnose(m.err).Final()) {
					failed, failure = m.failed, m.err
				}
				mu.Unlock()
			}
			return nil
		})
	}
	err := g.Wait()
	return left, failed, errors.Join(err, failure)
}

// multiGet is one Multi of gets.
type multiGet struct {
	regions []*Region
	indexes [][]int // into gets, by region

	left   []int   // not answered
	failed *Region // one that failed, why
	err    error
}

// chunkGets cuts a server's gets into Multis of at most rows.
func chunkGets(regions map[*Region][]int, rows int) []*multiGet {
	var out []*multiGet
	room := 0
	for r, indexes := range regions {
		for len(indexes) > 0 {
			if room == 0 {
				out, room = append(out, new(multiGet)), rows
			}
			m, n := out[len(out)-1], min(room, len(indexes))
			m.regions = append(m.regions, r)
			m.indexes = append(m.indexes, indexes[:n])
			indexes, room = indexes[n:], room-n
		}
	}
	return out
}

func (m *multiGet) run(ctx context.Context, c *Client, server string, gets []Get, results []Result) {
	in := new(hbasepb.MultiRequest)
	for k, r := range m.regions {
		ra := &hbasepb.RegionAction{Region: locate.Specifier(r)}
		for n, i := range m.indexes[k] {
			get, err := gets[i].message()
			if err != nil {
				m.fail(k, m.indexes[k], err, c)
				return
			}
			ra.Action = append(ra.Action, &hbasepb.Action{Index: proto.Uint32(uint32(n)), Get: get})
		}
		in.RegionAction = append(in.RegionAction, ra)
	}
	var out hbasepb.MultiResponse
	cells, err := c.servers.Call(ctx, rpc.ClientService.At(server), "Multi", in, &out)
	for k := range m.regions {
		if err != nil {
			m.fail(k, m.indexes[k], err, c)
			continue
		}
		var answer *hbasepb.RegionActionResult
		if k < len(out.RegionActionResult) {
			answer = out.RegionActionResult[k]
		}
		cells = m.take(k, answer, cells, c, server, gets, results)
	}
}

// take stores one region's results. The cells of all results follow each other in the one cell block.
func (m *multiGet) take(
	k int, answer *hbasepb.RegionActionResult, cells []byte, c *Client, server string, gets []Get, results []Result,
) []byte {
	indexes := m.indexes[k]
	if e := answer.GetException(); e != nil {
		m.fail(k, indexes, remote.ExceptionOf(server, e), c)
		return cells
	}
	answered := make([]bool, len(indexes))
	for _, o := range answer.GetResultOrException() {
		n := int(o.GetIndex())
		if n >= len(indexes) || answered[n] || o.Result == nil && o.Exception == nil {
			continue
		}
		answered[n] = true
		if e := o.Exception; e != nil {
			m.fail(k, indexes[n:n+1], remote.ExceptionOf(server, e), c)
			continue
		}
		row, rest, err := rpc.DecodeResult(o.Result, cells)
		if err != nil {
			m.fail(k, indexes[n:n+1], remote.Invalid(server, err), c)
			return nil
		}
		row.Row = gets[indexes[n]].Row
		results[indexes[n]], cells = row, rest
	}
	for n, ok := range answered {
		if !ok {
			m.fail(k, indexes[n:n+1], remote.Invalid(server, remote.ErrMissing), c)
		}
	}
	return cells
}

func (m *multiGet) fail(k int, indexes []int, err error, c *Client) {
	m.left = append(m.left, indexes...)
	if m.err == nil || remote.Diagnose(err).Final() {
		m.failed, m.err = m.regions[k], err
	}
	c.locator.Correct(m.regions[k], remote.Diagnose(err))
}
