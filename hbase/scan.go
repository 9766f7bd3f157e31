package hbase

import (
	"bytes"
	"context"
	"iter"
	"math"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/hedge"
	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/internal/backoff"

	"google.golang.org/protobuf/proto"
)

// Scan describes a read of the rows from Start (inclusive) to Stop (exclusive). In a reverse scan, Start is the greater row. Nil means the
// end of the table in the scan's direction.
type Scan struct {
	Start, Stop    []byte
	Reverse        bool
	Limit          int // rows; 0 means all
	Caching        int // rows per call; 0 means as many as fit in MaxResultBytes
	Columns        []Column
	MaxVersions    int   // 0 means 1
	From, To       int64 // time range [From, To); both 0 means all
	Raw            bool  // include delete markers and deleted cells
	MaxResultBytes int   // per call; 0 means 2 MiB
	Filter         Filter
	Cursors        bool         // also yield a Result without Cells when a server reports how far it has looked in vain: see Result
	Renew          bool         // renew the open scanner's lease while the caller is busy, so that the view of the region stays the same
	Metrics        *ScanMetrics // incremented during the scan; nil: not counted

	// Progress, unless nil, is called after each answer of a server with what it read for it, including the rows that the filter dropped. An
	// error from it ends the scan, unless the scan is complete. A server answers when it has read for half of the time-out of a call, however
	// few rows it has found: see CallOptions.
	Progress func(ScanProgress) error

	Consistency Consistency // with Timeline, a region's scanner may be opened on a replica, which then serves the rest of that region
}

// ScanMetrics is the cost of a scan. It may be read in the scan's loop body and after the scan.
type ScanMetrics struct {
	Rows    int // yielded to the caller
	Calls   int // answered calls
	Regions int // opened scanners
	Lost    int // failed calls, after which the scanner was reopened

	// Counts by the servers: see ScanProgress. RowsScanned ÷ Rows is 1 if no row was read in vain.
	RowsScanned, RowsFiltered, BytesScanned int64

	Seen map[string]bool // if not nil, set to true for the encoded name of every region read
}

// ScanProgress is what a server read for an answer, by its own count.
type ScanProgress struct {
	Rows     int64 // including those that the filter dropped; from HBase 2.0
	Filtered int64 // those that the filter dropped; from HBase 2.0

	// Bytes are those of the blocks of files that were read, without what the server holds in memory only; from HBase 2.6.
	Bytes int64
}

const (
	defaultMaxResultBytes = 2 << 20
	closeTimeout          = 5 * time.Second // for closing a scanner on a server
)

// Scan reads rows in order. The sequence ends after the first error. The caller may keep a Result.
//
// Rows come from one scanner after another, one per region. A scanner that is lost (because its region moved, or its lease expired while
// the caller was busy) is reopened after the last complete row, so no row is missed or seen twice.
func (c *Client) Scan(ctx context.Context, table string, s Scan) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		ctx, cancel := c.joined(ctx)
		defer cancel()
		sc := c.newScanner(locate.TableKey(table), s)
		defer sc.close()
		for !sc.done {
			rows, err := sc.next(ctx)
			if err != nil {
				yield(Result{}, err)
				return
			}
			if !sc.give(ctx, rows, yield) {
				return
			}
			if err := sc.report(); err != nil {
				yield(Result{}, err)
				return
			}
		}
	}
}

// give yields rows to the caller, which may take as long as it likes.
func (s *scanner) give(ctx context.Context, rows []Result, yield func(Result, error) bool) bool {
	defer s.keepLease(ctx)()
	for _, r := range rows {
		if len(r.Cells) > 0 {
			s.count(func(m *ScanMetrics) { m.Rows++ })
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// report passes on what servers have read since the last report.
func (s *scanner) report() error {
	p := s.read
	if s.read = (ScanProgress{}); s.scan.Progress == nil || s.done {
		return nil
	}
	return s.scan.Progress(p)
}

// keepLease renews the open scanner's lease, if the scan wants that, until the returned function is called. Until then, its goroutine owns
// the scanner.
func (s *scanner) keepLease(ctx context.Context) (stop func()) {
	if !s.scan.Renew || s.region == nil || s.lease <= 0 {
		return func() {}
	}
	needed, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s.region != nil && backoff.Wait(needed, s.lease/3) == nil {
			s.renew(ctx)
		}
	}()
	return func() {
		cancel()
		<-done // wait for a renewal in progress: cutting it off would lose the scanner
	}
}

// renew makes one call to keep the lease. The call counts in the sequence of calls; if it fails, it is unknown whether the server counted
// it.
func (s *scanner) renew(ctx context.Context) {
	in := s.nextRequest()
	in.NumberOfRows, in.Renew = proto.Uint32(0), proto.Bool(true)
	if _, err := s.c.servers.Call(ctx, rpc.ClientService.At(s.region.Server), "Scan", in, new(hbasepb.ScanResponse)); err != nil {
		s.lose()
		return
	}
	s.seq++
}

// scanner is the state of one Scan.
type scanner struct {
	c     *Client
	table string
	scan  Scan
	done  bool
	left  int // rows still wanted; meaningless without scan.Limit

	// Where to continue if the scanner is lost.
	start     []byte
	inclusive bool

	region *Region // nil: no scanner is open
	id     uint64
	seq    uint64 // sequence number of the next call to the open scanner
	lease  time.Duration
	torn   *Result      // an incomplete row
	read   ScanProgress // by servers, and not reported yet
}

func (c *Client) newScanner(table string, s Scan) *scanner {
	if s.MaxResultBytes <= 0 {
		s.MaxResultBytes = defaultMaxResultBytes
	}
	s.MaxResultBytes = min(s.MaxResultBytes, max(defaultMaxResultBytes, c.opts.MaxAnswerBytes-c.opts.MaxCellBytes))
	if s.Caching <= 0 {
		s.Caching = math.MaxInt32
	}
	return &scanner{c: c, table: table, scan: s, left: s.Limit, start: s.Start, inclusive: true}
}

// next makes one call, with its retries, and returns the rows that it completed, often none.
func (s *scanner) next(ctx context.Context) (rows []Result, err error) {
	t := s.c.newTries("scan", s.table)
	err = t.run(ctx, func(ctx context.Context) (*Region, error) {
		ctx, cancel := context.WithTimeout(ctx, s.c.opts.ScannerTimeout)
		defer cancel()
		region, out, pieces, err := s.call(ctx)
		if err != nil {
			s.count(func(m *ScanMetrics) { m.Lost++ })
			s.lose()
			return region, err
		}
		rows = s.take(out, pieces)
		return region, nil
	})
	return rows, err
}

func (s *scanner) call(ctx context.Context) (*Region, *hbasepb.ScanResponse, []rpc.Piece, error) {
	if s.region == nil {
		return s.open(ctx)
	}
	region, in := s.region, s.nextRequest()
	a, err := s.c.scanOnce(ctx, region, in)
	if err != nil {
		return region, nil, nil, err
	}
	s.seq++
	s.answered(a.out)
	return region, a.out, a.pieces, nil
}

// open opens a scanner at the next rows.
func (s *scanner) open(ctx context.Context) (*Region, *hbasepb.ScanResponse, []rpc.Piece, error) {
	region, err := s.locate(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	var a scanAnswer
	at := region
	if s.scan.Consistency == Timeline && len(region.Replicas) > 0 {
		a, at, err = s.openHedged(ctx, region)
	} else {
		a, err = s.openAt(region)(ctx)
	}
	if err != nil {
		return region, nil, nil, err
	}
	s.region, s.id, s.seq = at, a.out.GetScannerId(), 0
	s.lease = time.Duration(a.out.GetTtl()) * time.Millisecond
	s.count(func(m *ScanMetrics) { m.opened(region) })
	s.answered(a.out)
	return at, a.out, a.pieces, nil
}

// openHedged opens a scanner on a region or one of its replicas. A late call is not cancelled; its scanner is closed, because the server
// would otherwise keep it until its lease expires.
func (s *scanner) openHedged(ctx context.Context, region *Region) (scanAnswer, *Region, error) {
	c := s.c
	h := hedge.Read[scanAnswer]{Region: region, Delay: c.opts.ReplicaDelayScan, Locator: c.locator, Go: c.goroutines.Go}
	h.Call = func(at *Region) func(context.Context) (scanAnswer, error) {
		open := s.openAt(at)
		return func(ctx context.Context) (scanAnswer, error) {
			ctx, cancel := c.joined(context.WithoutCancel(ctx))
			defer cancel()
			ctx, cancel = context.WithTimeout(ctx, c.opts.ScannerTimeout)
			defer cancel()
			return open(ctx)
		}
	}
	h.Late = func(at *Region, a scanAnswer) { c.closeScanner(at, a.out.GetScannerId()) }
	return h.Run(ctx)
}

// openAt returns a function that opens a scanner on a region or a replica. That function does not touch the state of the scan.
func (s *scanner) openAt(at *Region) func(context.Context) (scanAnswer, error) {
	c := s.c
	in, err := s.openRequest(at)
	return func(ctx context.Context) (scanAnswer, error) {
		if err != nil {
			return scanAnswer{}, err
		}
		return c.scanOnce(ctx, at, in)
	}
}

// scanAnswer is the answer to one call of a scan.
type scanAnswer struct {
	out    *hbasepb.ScanResponse
	pieces []rpc.Piece
}

func (c *Client) scanOnce(ctx context.Context, at *Region, in *hbasepb.ScanRequest) (scanAnswer, error) {
	out := new(hbasepb.ScanResponse)
	sent := time.Now()
	cells, err := c.servers.Call(ctx, rpc.ClientService.At(at.Server), "Scan", in, out)
	if err != nil {
		return scanAnswer{}, err
	}
	c.opts.Hooks.Read(ReadInfo{at, time.Since(sent)})
	pieces, err := rpc.DecodeScan(out, cells)
	if err != nil {
		return scanAnswer{}, remote.Invalid(at.Server, err)
	}
	return scanAnswer{out, pieces}, nil
}

func (s *scanner) locate(ctx context.Context) (*Region, error) {
	if s.scan.Reverse && (!s.inclusive || s.start == nil) {
		return s.c.locator.FindBefore(ctx, s.table, s.start)
	}
	return s.c.find(ctx, s.table, s.start, s.scan.Consistency)
}

func (s *scanner) count(f func(*ScanMetrics)) {
	if s.scan.Metrics != nil {
		f(s.scan.Metrics)
	}
}

// answered counts what an answer has cost.
func (s *scanner) answered(out *hbasepb.ScanResponse) {
	l := ScanProgress{metric(out, rowsScanned), metric(out, rowsFiltered), metric(out, bytesScanned)}
	s.read.Rows += l.Rows
	s.read.Filtered += l.Filtered
	s.read.Bytes += l.Bytes
	s.count(func(m *ScanMetrics) {
		m.Calls++
		m.RowsScanned += l.Rows
		m.RowsFiltered += l.Filtered
		m.BytesScanned += l.Bytes
	})
}

// Names of ScanMetrics.
const (
	rowsScanned  = "ROWS_SCANNED"
	rowsFiltered = "ROWS_FILTERED"
	bytesScanned = "BLOCK_BYTES_SCANNED"
)

func metric(out *hbasepb.ScanResponse, name string) (n int64) {
	for _, p := range out.GetScanMetrics().GetMetrics() {
		if p.GetName() == name {
			n += p.GetValue()
		}
	}
	return n
}

func (m *ScanMetrics) opened(r *Region) {
	m.Regions++
	if m.Seen != nil {
		m.Seen[r.Encoded] = true
	}
}

func (s *scanner) openRequest(r *Region) (*hbasepb.ScanRequest, error) {
	filter, err := filterMessage(s.scan.Filter)
	if err != nil {
		return nil, err
	}
	m := &hbasepb.Scan{
		Column: columnsOf(s.scan.Columns), StartRow: s.start, StopRow: s.scan.Stop,
		IncludeStartRow: proto.Bool(s.inclusive), IncludeStopRow: proto.Bool(false), Reversed: proto.Bool(s.scan.Reverse),
		TimeRange: timeRange(s.scan.From, s.scan.To), MaxVersions: proto.Uint32(uint32(max(1, s.scan.MaxVersions))),
		MaxResultSize: proto.Uint64(uint64(s.scan.MaxResultBytes)), Caching: proto.Uint32(uint32(s.scan.Caching)),
		Filter: filter, Consistency: s.scan.Consistency.message(),
	}
	if s.scan.Cursors || s.scan.Progress != nil { // where many rows are read in vain, a lost scanner must not begin again
		m.NeedCursorResult = proto.Bool(true)
	}
	if s.scan.Raw {
		m.Attribute = []*hbasepb.NameBytesPair{{Name: proto.String("_raw_"), Value: []byte{0xff}}}
	}
	in := s.request()
	in.Region, in.Scan = locate.Specifier(r), m
	return in, nil
}

func (s *scanner) nextRequest() *hbasepb.ScanRequest {
	in := s.request()
	in.ScannerId, in.NextCallSeq = proto.Uint64(s.id), proto.Uint64(s.seq)
	return in
}

func (s *scanner) request() *hbasepb.ScanRequest {
	in := &hbasepb.ScanRequest{
		NumberOfRows: proto.Uint32(uint32(s.scan.Caching)), CloseScanner: proto.Bool(false),
		ClientHandlesPartials: proto.Bool(true), ClientHandlesHeartbeats: proto.Bool(true),
		TrackScanMetrics: proto.Bool(s.scan.Metrics != nil || s.scan.Progress != nil),
	}
	if s.scan.Limit > 0 {
		in.LimitOfRows = proto.Uint32(uint32(s.left))
	}
	return in
}

// take joins partial rows and derives from the answer what comes next: more of this scanner, the next region, or the end. After a
// heartbeat, which has no rows, more of this scanner follows.
func (s *scanner) take(out *hbasepb.ScanResponse, pieces []rpc.Piece) (rows []Result) {
	rows = make([]Result, 0, len(pieces)+1)
	for _, p := range pieces {
		if len(p.Cells) == 0 {
			continue
		}
		if s.torn != nil && !bytes.Equal(s.torn.Row, p.Row) {
			rows = s.complete(rows, *s.torn)
		}
		if s.torn != nil {
			p.Cells = append(s.torn.Cells, p.Cells...)
			s.torn = nil
		}
		if p.Partial {
			s.torn = &Result{Row: p.Row, Cells: p.Cells, Stale: p.Stale}
		} else {
			rows = s.complete(rows, p.Result)
		}
	}
	if row := out.GetCursor().GetRow(); len(row) > 0 && s.torn == nil {
		rows = s.looked(rows, row)
	}
	endOfScan := out.MoreResults != nil && !out.GetMoreResults()
	endOfRegion := out.MoreResultsInRegion == nil || !out.GetMoreResultsInRegion()
	if (endOfScan || endOfRegion) && s.torn != nil {
		rows = s.complete(rows, *s.torn)
	}
	switch {
	case s.scan.Limit > 0 && s.left <= 0:
		s.done = true
		if endOfScan || endOfRegion {
			s.region = nil // the server has closed the scanner
		}
	case endOfScan:
		s.region, s.done = nil, true
	case endOfRegion:
		s.nextRegion()
	}
	return rows
}

// looked records that everything before row has been seen, and adds a cursor to rows if the caller wants that.
func (s *scanner) looked(rows []Result, row []byte) []Result {
	ahead := bytes.Compare(row, s.start)
	if s.scan.Reverse {
		ahead = -ahead
	}
	if s.start != nil && ahead <= 0 {
		return rows
	}
	s.start, s.inclusive = row, true
	if s.scan.Cursors {
		rows = append(rows, Result{Row: row})
	}
	return rows
}

// complete records that everything up to this row has been seen.
func (s *scanner) complete(rows []Result, r Result) []Result {
	s.torn = nil
	s.start, s.inclusive = r.Row, false
	if s.scan.Limit > 0 {
		if s.left <= 0 {
			return rows
		}
		s.left--
	}
	return append(rows, r)
}

// nextRegion moves on to the next region, or ends the scan.
func (s *scanner) nextRegion() {
	r := s.region
	s.region = nil
	if s.scan.Reverse {
		s.done = len(r.Start) == 0 || len(s.scan.Stop) > 0 && bytes.Compare(s.scan.Stop, r.Start) >= 0
		s.start, s.inclusive = r.Start, false
		return
	}
	s.done = len(r.End) == 0 || len(s.scan.Stop) > 0 && bytes.Compare(s.scan.Stop, r.End) <= 0
	s.start, s.inclusive = r.End, true
}

// lose forgets the open scanner and the part of a row that it had returned.
func (s *scanner) lose() { s.region, s.id, s.torn = nil, 0, nil }

// close closes an open scanner on the server, which would otherwise keep it until its lease expires.
func (s *scanner) close() {
	if s.region == nil {
		return
	}
	s.c.closeScanner(s.region, s.id)
	s.region = nil
}

func (c *Client) closeScanner(at *Region, id uint64) {
	ctx, cancel := context.WithTimeout(c.ctx, min(closeTimeout, c.opts.RPCTimeout))
	defer cancel()
	in := &hbasepb.ScanRequest{ScannerId: proto.Uint64(id), NumberOfRows: proto.Uint32(0), CloseScanner: proto.Bool(true)}
	_, _ = c.servers.Call(ctx, rpc.ClientService.At(at.Server), "Scan", in, new(hbasepb.ScanResponse)) // if it fails, the lease expires
}
