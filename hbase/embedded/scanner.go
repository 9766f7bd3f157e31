package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"brine/hbase/embedded/internal/filter"
	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// scanner is an open scan of one region. It sees the region as it was when the scanner was opened.
type scanner struct {
	id     uint64
	region *region
	query  *store.Query
	batch  int // cells per result; 0 means all
	limit  int // bytes per response that the scan requests; 0 means the server's limit

	cursors bool // heartbeats carry the scan's position

	mu      sync.Mutex // guards the fields below: one call at a time
	reader  *store.Reader
	nextSeq uint64
	row     store.Row    // the last row read
	rest    []store.Cell // cells of row not yet sent

	lost    bool      // under scanners.mu: its region was closed
	expires time.Time // under scanners.mu
	busy    bool      // under scanners.mu: in use by a call, so its lease does not run
}

// scanners holds a node's open scanners and, for a while, the ids of those that ended by themselves, because a client may still close them.
type scanners struct {
	mu    sync.Mutex
	open  map[uint64]*scanner
	ended map[uint64]ended
	next  uint64
}

type ended struct {
	lastSeq uint64
	expires time.Time
}

// add registers a scanner, as busy, under a new id. The ids start at random, to differ from those of an earlier server on the same port.
func (ss *scanners) add(s *scanner) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.open == nil {
		ss.open, ss.ended = make(map[uint64]*scanner), make(map[uint64]ended)
		ss.next = rand.Uint64() >> 2
	}
	ss.next++
	s.id, s.busy = ss.next, true
	ss.open[s.id] = s
}

// take returns a scanner for a call and stops its lease. ended reports that the scanner ended by itself and that seq, if given, is the next
// in order.
func (ss *scanners) take(id uint64, seq *uint64, now time.Time) (s *scanner, ended bool, err error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s, ok := ss.open[id]; ok && s.lost {
		delete(ss.open, id)
		return nil, false, notServing(fmt.Sprintf("Region has changed on the scanner %d: regionName=%s, scannerRegionName=%[2]s", id,
			s.region.name))
	} else if ok && (s.busy || now.Before(s.expires)) {
		s.busy = true
		return s, false, nil
	}
	if e, ok := ss.ended[id]; ok {
		if seq != nil && *seq != e.lastSeq+1 {
			return nil, false, final(classOutOfOrder, "Expected nextCallSeq for closed request: %d But the nextCallSeq got from client: %d",
				e.lastSeq+1, *seq)
		}
		return nil, true, nil
	}
	return nil, false, final(classUnknownScanner, "Unknown scanner '%d'. %s", id, unknownScannerReasons)
}

const unknownScannerReasons = "This can happen due to any of the following reasons: a) Scanner id given is wrong, b) Scanner lease " +
	"expired because of long wait between consecutive client checkins, c) Server may be closing down, d) RegionServer restart during upgrade."

// release returns a scanner after a call and restarts its lease.
func (ss *scanners) release(s *scanner, expires time.Time) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s.busy, s.expires = false, expires
}

// end closes a scanner whose call has finished.
func (ss *scanners) end(s *scanner, expires time.Time) {
	ss.mu.Lock()
	delete(ss.open, s.id)
	ss.ended[s.id] = ended{lastSeq: s.nextSeq - 1, expires: expires}
	ss.mu.Unlock()
	s.close()
}

func (s *scanner) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		_ = s.reader.Close() // only its own reads can have failed, and those were answered
		s.reader = nil
	}
}

// expire closes the scanners whose lease has expired.
func (ss *scanners) expire(now time.Time) {
	ss.closeWhere(func(s *scanner) bool { return !s.busy && !now.Before(s.expires) }, true)
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for id, e := range ss.ended {
		if now.After(e.expires) {
			delete(ss.ended, id)
		}
	}
}

// closeRegion closes the scanners of a closed region. As in HBase, the next call of such a scanner gets an exception and removes it.
func (ss *scanners) closeRegion(r *region) {
	ss.closeWhere(func(s *scanner) bool {
		s.lost = s.lost || s.region == r
		return s.region == r
	}, false)
}

func (ss *scanners) closeAll() { ss.closeWhere(func(*scanner) bool { return true }, true) }

func (ss *scanners) closeWhere(which func(*scanner) bool, forget bool) {
	ss.mu.Lock()
	var gone []*scanner
	for id, s := range ss.open {
		if which(s) {
			gone = append(gone, s)
			if forget {
				delete(ss.open, id)
			}
		}
	}
	ss.mu.Unlock()
	for _, s := range gone {
		s.close()
	}
}

// table returns the table that an open scanner reads, or "" if there is no such scanner.
func (ss *scanners) table(id uint64) string {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s, open := ss.open[id]; open {
		return s.region.table.name.String()
	}
	return ""
}

// question is what Get and Scan have in common.
type question interface {
	GetColumn() []*hbasepb.Column
	GetFilter() *hbasepb.Filter
	GetTimeRange() *hbasepb.TimeRange
	GetCfTimeRange() []*hbasepb.ColumnFamilyTimeRange
	GetMaxVersions() uint32
}

// query returns the store's query for a Get or Scan, without its rows.
func (k *call) query(p question, limit, offset *uint32) (*store.Query, error) {
	q := &store.Query{
		MaxVersions: int(min(p.GetMaxVersions(), math.MaxInt32)), Times: timeRange(p.GetTimeRange()),
		StoreLimit: -1, StoreOffset: 0, Now: k.now(),
	}
	if q.MaxVersions == 0 {
		return nil, final(classDoNotRetry, "max_versions must be positive")
	}
	if limit != nil {
		q.StoreLimit = int(*limit)
	}
	if offset != nil {
		q.StoreOffset = int(*offset)
	}
	for _, c := range p.GetColumn() {
		q.Columns = append(q.Columns, store.FamilyColumns{Family: c.Family, Qualifiers: c.Qualifier})
	}
	for _, t := range p.GetCfTimeRange() {
		if q.FamilyTimes == nil {
			q.FamilyTimes = make(map[string]store.TimeRange)
		}
		q.FamilyTimes[string(t.ColumnFamily)] = timeRange(t.TimeRange)
	}
	if f := p.GetFilter(); f != nil {
		var err error
		if q.Filter, err = filter.New(f); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func timeRange(t *hbasepb.TimeRange) store.TimeRange {
	r := store.TimeRange{From: int64(t.GetFrom()), To: math.MaxInt64}
	if t != nil && t.To != nil {
		r.To = int64(t.GetTo())
	}
	if r.From == 0 && r.To == math.MaxInt64 {
		return store.AllTime
	}
	return r
}

// readRow returns a row of the region. The caller has entered the region.
func (r *region) readRow(ctx context.Context, st *store.Store, row []byte, q *store.Query) (found *store.Row, err error) {
	q.Rows = store.RowRange(row)
	reader, err := st.NewReader(r.table.space, r.schema(), q)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	found = new(store.Row)
	ok, err := reader.Next(ctx, found)
	if !ok {
		found.Cells = nil
	}
	return found, err
}

// result returns a Result with the cells, or appends them to the answer's cell block if the client reads those.
func (k *call) result(cells []store.Cell) *hbasepb.Result {
	for i := range cells {
		k.size += cells[i].Size()
	}
	if k.conn.cells {
		k.appendCells(cells)
		return &hbasepb.Result{AssociatedCellCount: proto.Int32(int32(len(cells)))}
	}
	return resultMessage(cells)
}

func (k *call) appendCells(cells []store.Cell) {
	before := len(k.out)
	for i := range cells {
		k.out = wire.AppendCell(k.out, wireCell(&cells[i]))
	}
	k.grow(len(k.out) - before)
}

func wireCell(c *store.Cell) wire.Cell {
	return wire.Cell{Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value, Timestamp: c.Timestamp, Type: wire.CellType(c.Type)}
}

func resultMessage(cells []store.Cell) *hbasepb.Result {
	r := &hbasepb.Result{}
	for i := range cells {
		c := &cells[i]
		t := hbasepb.CellType(c.Type)
		r.Cell = append(r.Cell, &hbasepb.Cell{
			Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value, Timestamp: proto.Uint64(uint64(c.Timestamp)), CellType: &t,
		})
	}
	return r
}
