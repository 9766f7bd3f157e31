package indexer

import (
	"context"
	"time"
)

// Hooks report what the writer does; any may be nil. The writer's own goroutines call them, so they must be safe for concurrent use, and
// must not block.
type Hooks struct {
	Call     func(*CallInfo)    // after every call of the engine
	Items    func(ItemsInfo)    // after every round of calls, for each outcome
	Retry    func(RetryInfo)    // before every pause
	Expired  func(ExpiredInfo)  // when expired parts of an index were dropped, or could not be
	Purged   func(PurgedInfo)   // when deleted documents were removed for good, or could not be
	Buffered func(BufferedInfo) // whenever a batch enters or leaves
	Blocked  func(BlockedInfo)  // after every wait of a Submit for memory
	Probe    func(ProbeInfo)    // how soon a search showed a document, every Options.ProbeEvery; nil: not measured
}

// ItemsInfo is the number of events with the same outcome in one round of calls.
type ItemsInfo struct {
	Index   string
	Outcome Outcome
	Events  int
}

// ExpiredInfo is the result of one search for expired parts of an index.
type ExpiredInfo struct {
	Index string
	Parts []string // that were dropped
	Err   error    // the reason that others were not
}

// PurgedInfo is the result of one search for documents that were deleted long ago.
type PurgedInfo struct {
	Index     string
	Documents int   // that were removed
	Err       error // the reason that others were not
}

// BlockedInfo is one Submit that had to wait for memory.
type BlockedInfo struct{ Duration time.Duration }

// BufferedInfo is the size of the documents that the writer holds. Calls of the hook may overtake each other, so their changes add up to
// the bytes, while those of the last call may not be the current ones.
type BufferedInfo struct {
	Bytes  int64 // of documents
	Change int64 // of Bytes, by this batch
}

// ProbeInfo is one document that an index has accepted and that was searched for until a search showed it, in its new version or a newer
// one. A repeated change, with the version that the index already has, is shown at once.
type ProbeInfo struct {
	Flight   context.Context // the context with which its event was submitted
	Index    string
	Outcome  ProbeOutcome
	Produced int64     // the timestamp of its record, in ms since 1970
	Durable  time.Time // when the index had accepted it
	Ended    time.Time // when it was shown, or the probe gave up
}

// ProbeOutcome is the outcome of a probe.
type ProbeOutcome string

// The outcomes of a probe.
const (
	Shown      ProbeOutcome = "shown"
	NotShown   ProbeOutcome = "not_shown"  // for a minute
	Unanswered ProbeOutcome = "unanswered" // it was not shown for a minute, and finally the engine did not answer
)

// RetryInfo is one pause before documents are sent again.
type RetryInfo struct {
	Documents int
	Pause     time.Duration
	Attempt   int   // pauses in a row
	Err       error // of the call, or of the first document
}

// Outcome is what became of an event's document in one round; only with Again does it stay with the writer.
type Outcome string

// The outcomes.
const (
	Written  Outcome = "written"
	Conflict Outcome = "conflict" // the index held an equal or newer version: durable
	Again    Outcome = "again"    // will be sent again
	Retried  Outcome = "retry"    // failed, to be submitted again
	Rejected Outcome = "reject"
	Halted   Outcome = "halt"

	untried Outcome = "" // in this round: it waits, or an earlier change of its document does
)

// ensureDefaults sets every nil hook to a no-op, except Probe.
func (h *Hooks) ensureDefaults() {
	orNothing(&h.Call)
	orNothing(&h.Items)
	orNothing(&h.Retry)
	orNothing(&h.Expired)
	orNothing(&h.Purged)
	orNothing(&h.Buffered)
	orNothing(&h.Blocked)
}

func orNothing[Info any](hook *func(Info)) {
	if *hook == nil {
		*hook = func(Info) {}
	}
}
