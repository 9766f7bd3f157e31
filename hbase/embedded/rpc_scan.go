package embedded

import (
	"context"
	"math"
	"time"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// scanMethods read the rows of a region in order: Scan, which opens, reads, renews and closes scanners.
//
// What they do not do:
//   - a heartbeat is sent when a filter has dropped Options.Heartbeat rows in succession, not by time;
//   - a row is read whole before it is cut into partial results; a response has at most Options.MaxResult bytes, give or take a row;
//   - max_result_size counts the bytes of cells, not Java's heap;
//   - a filter's seek hint is treated as "skip"; filters are those of internal/filter;
//   - _raw_ is the only attribute used; small, caching, cache_blocks, load_column_families_on_demand, consistency, readType and
//     mvcc_read_point are ignored: a scanner sees its region as it was when the scanner was opened;
//   - scan metrics are ROWS_SCANNED, ROWS_FILTERED and BLOCK_BYTES_SCANNED, which counts cells, since there are no blocks.
var scanMethods = map[string]method{
	"ClientService.Scan": on(scan),
}

// scan opens a scanner, reads its next rows, renews or closes it, or several of these at once:
//
//	region and scan    open; number_of_rows also reads
//	scanner_id         read number_of_rows (default 1, or 0 when closing)
//	renew              only keep the lease
//	close_scanner      close after reading
//
// A scanner also ends by itself when its region has no more rows or limit_of_rows is reached.
func scan(ctx context.Context, k *call, q *hbasepb.ScanRequest) (*hbasepb.ScanResponse, error) {
	response := &hbasepb.ScanResponse{}
	done, err := k.node.cluster.reading.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s, ended, err := k.scanner(q, response)
	if err != nil || ended {
		return response, err
	}
	clock, lease := k.node.clock, k.node.cluster.opts.ScannerLease
	if q.NextCallSeq != nil && !s.inOrder(q.GetNextCallSeq()) {
		k.node.scanners.release(s, clock().Add(lease))
		return nil, final(classOutOfOrder, "Expected nextCallSeq: %d But the nextCallSeq got from client: %d", s.nextSeq, q.GetNextCallSeq())
	}
	if q.GetRenew() {
		k.node.scanners.release(s, clock().Add(lease))
		return response, nil
	}
	err = s.read(ctx, k, q, response)
	if err != nil || !response.GetMoreResults() || !response.GetMoreResultsInRegion() || q.GetCloseScanner() {
		k.node.scanners.end(s, clock().Add(lease))
	} else {
		k.node.scanners.release(s, clock().Add(lease))
	}
	if err != nil && !asException(err).DoNotRetry {
		err = final(classScannerReset, "Scanner is closed on the server-side: %v", err)
	}
	return response, err
}

// scanner returns the scanner that the request opens or names. ended reports that the scanner ended by itself earlier, in which case the
// answer is empty.
func (k *call) scanner(q *hbasepb.ScanRequest, response *hbasepb.ScanResponse) (s *scanner, ended bool, err error) {
	if q.ScannerId != nil {
		response.ScannerId = q.ScannerId
		return k.node.scanners.take(q.GetScannerId(), q.NextCallSeq, k.node.clock())
	}
	if q.Scan == nil {
		return nil, false, final(classDoNotRetry, "Missing required input: scannerId or scan")
	}
	r, err := k.node.region(q.Region)
	if err != nil {
		return nil, false, err
	}
	if s, err = k.openScanner(r, q.Scan); err != nil {
		return nil, false, err
	}
	response.ScannerId = &s.id
	response.Ttl = proto.Uint32(uint32(k.node.cluster.opts.ScannerLease / time.Millisecond))
	response.MvccReadPoint = proto.Uint64(1)
	return s, false, nil
}

func (k *call) openScanner(r *region, p *hbasepb.Scan) (*scanner, error) {
	q, err := k.query(p, p.StoreLimit, p.StoreOffset)
	if err != nil {
		return nil, err
	}
	q.Reverse, q.Raw = p.GetReversed(), attributeSet(p.Attribute, "_raw_")
	for _, c := range p.Column {
		if q.Raw && len(c.Qualifier) > 0 {
			return nil, final(classDoNotRetry, "Cannot specify any column for a raw scan")
		}
	}
	q.Rows = r.clip(scanRows(p))
	leave, err := r.enter(k.node, false)
	if err != nil {
		return nil, err
	}
	defer leave()
	reader, err := k.node.cluster.store.NewReader(r.table.space, r.schema(), q)
	if err != nil {
		return nil, err
	}
	s := &scanner{region: r, query: q, reader: reader, cursors: p.GetNeedCursorResult(),
		batch: int(p.GetBatchSize()), limit: int(min(p.GetMaxResultSize(), math.MaxInt32))}
	k.node.scanners.add(s)
	return s, nil
}

// scanRows returns the rows of a scan in ascending order; a reverse scan starts at the greater row. If a client is too old to say whether
// the stop row is included, a scan with the same start and stop row is a get.
func scanRows(p *hbasepb.Scan) store.Range {
	start, stop := p.GetStartRow(), p.GetStopRow()
	includeStart := p.GetIncludeStartRow()
	includeStop := p.GetIncludeStopRow() || p.IncludeStopRow == nil && string(start) == string(stop)
	if p.GetReversed() {
		return store.Range{Start: stop, StartExclusive: len(stop) > 0 && !includeStop, Stop: start, StopInclusive: len(start) > 0 && includeStart}
	}
	return store.Range{Start: start, StartExclusive: len(start) > 0 && !includeStart, Stop: stop, StopInclusive: len(stop) > 0 && includeStop}
}

// attributeSet reports whether an operation's boolean attribute is set.
func attributeSet(as []*hbasepb.NameBytesPair, name string) bool {
	for _, a := range as {
		if a.GetName() == name {
			return len(a.Value) > 0 && a.Value[0] != 0
		}
	}
	return false
}

func (s *scanner) inOrder(seq uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nextSeq != seq {
		return false
	}
	s.nextSeq++
	return true
}

// read fills the response with the scanner's next rows, up to the limits of the request.
func (s *scanner) read(ctx context.Context, k *call, q *hbasepb.ScanRequest, response *hbasepb.ScanResponse) error {
	rows := 1
	switch {
	case q.NumberOfRows != nil:
		rows = int(min(q.GetNumberOfRows(), math.MaxInt32))
	case q.GetCloseScanner():
		rows = 0
	}
	response.MoreResults, response.MoreResultsInRegion, response.Stale = proto.Bool(true), proto.Bool(true),
		proto.Bool(s.region.isReplica())
	if rows == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == nil {
		return notServing("the region of the scanner was closed: " + string(s.region.name))
	}
	limit := k.node.cluster.opts.MaxResult
	if s.limit > 0 {
		limit = min(limit, s.limit)
	}
	s.query.MaxSkipped = 0
	if q.GetClientHandlesHeartbeats() {
		s.query.MaxSkipped = k.node.cluster.opts.Heartbeat
	}
	o := scanOutput{k: k, response: response, limit: limit, left: rows, rowsLeft: math.MaxInt, partials: q.GetClientHandlesPartials() &&
		(s.query.Filter == nil || !s.query.Filter.WholeRow())}
	if n := q.GetLimitOfRows(); n > 0 {
		o.rowsLeft = int(n)
	}
	scanned, filtered := s.reader.Scanned()
	bytes := s.reader.Bytes()
	more, err := s.fill(ctx, &o)
	if err != nil {
		return err
	}
	nowScanned, nowFiltered := s.reader.Scanned()
	s.region.reads.Add(int64(nowScanned - scanned))
	s.region.filtered.Add(int64(nowFiltered - filtered))
	response.MoreResultsInRegion = &more
	if o.rowsLeft <= 0 || s.reader.FilterDone() && o.results == 0 {
		response.MoreResults = proto.Bool(false)
	}
	if q.GetTrackScanMetrics() {
		response.ScanMetrics = &hbasepb.ScanMetrics{Metrics: []*hbasepb.NameInt64Pair{
			{Name: proto.String("ROWS_SCANNED"), Value: proto.Int64(int64(nowScanned - scanned))},
			{Name: proto.String("ROWS_FILTERED"), Value: proto.Int64(int64(nowFiltered - filtered))},
			{Name: proto.String("BLOCK_BYTES_SCANNED"), Value: proto.Int64(s.reader.Bytes() - bytes)},
		}}
	}
	return nil
}

// fill reads rows until a limit is reached, and reports whether the region has more.
func (s *scanner) fill(ctx context.Context, o *scanOutput) (more bool, err error) {
	for {
		if len(s.rest) == 0 {
			if !o.k.conn.cells {
				s.row = store.Row{} // earlier results are messages that point into it
			}
			ok, err := s.reader.Next(ctx, &s.row)
			if !ok || err != nil {
				more = err == nil && s.reader.More()
				s.beat(o, more)
				return more, err
			}
			s.rest = s.row.Cells
		}
		n := o.take(s.rest, s.batch)
		s.rest = s.rest[n:]
		if len(s.rest) == 0 {
			o.rowsLeft--
		}
		more = len(s.rest) > 0 || s.reader.More()
		if !more || o.full() {
			return more, nil
		}
	}
}

// beat turns an answer that ends although there may be more rows into a heartbeat, with the scan's position if the client asked for it.
func (s *scanner) beat(o *scanOutput, more bool) {
	if !more {
		return
	}
	o.response.HeartbeatMessage = proto.Bool(true)
	if s.cursors {
		o.response.Cursor = &hbasepb.Cursor{Row: s.reader.At()}
	}
}

// scanOutput collects results within limits.
type scanOutput struct {
	k        *call
	response *hbasepb.ScanResponse
	partials bool // the client reassembles rows
	limit    int  // bytes
	size     int  // bytes used
	left     int  // results left for the request
	rowsLeft int  // rows left for the scan
	results  int
}

func (o *scanOutput) full() bool {
	return o.left <= 0 || o.rowsLeft <= 0 || o.size >= o.limit || o.k.full
}

// take adds a result with the first cells of a row and returns their number. It takes batch cells if batch is set, as many as the limit
// allows if the client handles partial rows, and all cells otherwise.
func (o *scanOutput) take(cells []store.Cell, batch int) int {
	n := 0
	for n < len(cells) && (batch == 0 || n < batch) {
		if n > 0 && o.partials && o.size >= o.limit {
			break
		}
		o.size += cells[n].Size()
		n++
	}
	o.left--
	o.results++
	partial := n < len(cells)
	if o.k.conn.cells {
		o.response.CellsPerResult = append(o.response.CellsPerResult, uint32(n))
		o.response.PartialFlagPerResult = append(o.response.PartialFlagPerResult, partial)
		o.k.appendCells(cells[:n])
		return n
	}
	r := resultMessage(cells[:n])
	if partial {
		r.Partial = proto.Bool(true)
	}
	o.response.Results = append(o.response.Results, r)
	return n
}
