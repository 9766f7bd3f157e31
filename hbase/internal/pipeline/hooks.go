package pipeline

import (
	"context"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// Hooks are called from the pipeline's goroutines and must not block. None is nil.
type Hooks struct {
	Send     func(SendInfo)
	Sent     func(*SentInfo)
	Retry    func(RetryInfo)
	Applied  func(*AppliedInfo)
	Flush    func(FlushInfo)
	Buffered func(BufferedInfo)
	Blocked  func(BlockedInfo)
}

// BlockedInfo is a Submit that had to wait for room.
type BlockedInfo struct {
	Context  context.Context // of the Submit
	Duration time.Duration
}

// BufferedInfo is what the client has in memory. Calls of the hook may overtake each other, so their changes add up to the bytes, while
// those of the last call may not be the current ones.
type BufferedInfo struct {
	Bytes  int // of mutations without a result
	Change int // of Bytes, by this batch
}

// SendInfo is a call of mutations about to be sent.
type SendInfo struct {
	Server  string
	Regions int
	Rows    int
	Bytes   int           // of the cells
	Waited  time.Duration // since the Submit of the mutation that waited longest
	Out     int           // calls of mutations pending at the server, including this one
}

// SentInfo is a finished call of mutations. It is valid only while the hook runs.
type SentInfo struct {
	Server   string
	Regions  int
	Rows     int
	Left     time.Time     // when it was sent
	Waited   time.Duration // before that, since the Submit of the mutation that waited longest
	Duration time.Duration // from then until the answer
	Again    int           // number of mutations to send again
	Err      error         // error of the call as a whole

	parts []*part
}

// Contexts yields the contexts of the Submits whose mutations the call carried, once per flight and region.
func (s *SentInfo) Contexts(yield func(context.Context) bool) {
	for _, p := range s.parts {
		var last *Flight
		for _, e := range p.entries {
			if e.flight != last {
				if last = e.flight; !yield(last.ctx) {
					return
				}
			}
		}
	}
}

// RetryInfo is one retry of one region's mutations, or of a read.
type RetryInfo struct {
	Table, Region, Server string
	// Class is the class of an exception (NoServerForRegionException: in hbase:meta, the region is on no server), or "timeout", "connection"
	// or "invalid response"; see Reason.
	Class     string
	Remedy    string // wait, relocate, reconnect, split, isolate, reopen
	Pause     time.Duration
	Mutations int
	Failures  int   // consecutive failures of the region or the read
	Err       error // the last error; it names the server
}

// Reason returns a short form of Class from a closed set, suitable as a metrics label: the exception's simple name if it is in the table of
// remedies, or "connection", "timeout", "invalid_response" or "other".
func (r RetryInfo) Reason() string { return remote.Reason(r.Class) }

// NewRetryInfo describes a retry in region r, which may be nil.
func NewRetryInfo(table string, r *locate.Region, d remote.Diagnosis, pause time.Duration, mutations, failures int, err error) RetryInfo {
	info := RetryInfo{
		Table: table, Class: d.Class, Remedy: d.Remedy.String(), Pause: pause, Mutations: mutations, Failures: failures, Err: err,
	}
	if r != nil {
		info.Region, info.Server = r.Encoded, r.Server
	}
	return info
}

// AppliedInfo is what one region acknowledged in one call. It is valid only while the hook runs.
type AppliedInfo struct {
	Table    string
	Region   *locate.Region
	Rows     int
	Bytes    int
	Duration time.Duration // from sending the call until its answer

	applied []entry
}

// Row returns the row key of mutation i, which must be less than Rows. It returns nil if the client did not make the AppliedInfo.
func (a *AppliedInfo) Row(i int) []byte {
	if a.applied == nil {
		return nil
	}
	return a.applied[i].row()
}

// announceSend calls the hook for a call about to be sent.
func (w *Writer) announceSend(m *multi, server string) {
	i := SendInfo{Server: server, Regions: len(m.parts), Out: m.nth}
	for _, p := range m.parts {
		i.Rows += len(p.entries)
		i.Bytes += p.bytes
		i.Waited = max(i.Waited, m.left.Sub(p.entries[0].flight.submitted))
	}
	w.hooks.Send(i)
}

// announceSent calls the hook for a call that was answered or failed.
func (w *Writer) announceSent(m *multi, server string, took time.Duration, err error) {
	m.info = SentInfo{Server: server, Regions: len(m.parts), Left: m.left, Duration: took, Err: err, parts: m.parts}
	for _, p := range m.parts {
		m.info.Rows += len(p.entries)
		m.info.Waited = max(m.info.Waited, m.left.Sub(p.entries[0].flight.submitted))
	}
	for i := range m.outcomes {
		m.info.Again += len(m.outcomes[i].back)
	}
	w.hooks.Sent(&m.info)
}

// announceRetry calls the hook if mutations will be sent again.
func (w *Writer) announceRetry(o *outcome) {
	if len(o.back) > 0 {
		w.hooks.Retry(NewRetryInfo(o.part.region.Table, o.part.region, o.cure, o.pause, len(o.back), o.part.failed+1, o.cause))
	}
}
