package indexer

import (
	"context"
	"time"
)

// Hooks report what the writer does; any may be nil. They are called from the writer's own goroutines, must be safe for
// concurrent use, and must not block.
type Hooks struct {
	Call     func(*CallInfo)    // after every call of the engine
	Items    func(ItemsInfo)    // after every round of calls, for each outcome
	Retry    func(RetryInfo)    // before every pause
	Expired  func(ExpiredInfo)  // when parts of an index were dropped, their rows being over, or could not be
	Purged   func(PurgedInfo)   // when deleted documents were removed for good, or could not be
	Buffered func(BufferedInfo) // whenever a batch comes or goes
	Blocked  func(BlockedInfo)  // after every wait of a Submit for room in memory
	Probe    func(ProbeInfo)    // how soon a document was shown by a search, every Options.ProbeEvery; nil: none is asked for
}

// ItemsInfo is events that one round of calls ended alike.
type ItemsInfo struct {
	Index   string
	Outcome Outcome
	Events  int
}

// ExpiredInfo is one look for parts of an index that are over.
type ExpiredInfo struct {
	Index string
	Parts []string // that were dropped
	Err   error    // why others were not
}

// PurgedInfo is one look for documents that were deleted long ago.
type PurgedInfo struct {
	Index     string
	Documents int   // that were removed
	Err       error // why others were not
}

// BlockedInfo is one Submit that had to wait for room.
type BlockedInfo struct{ Duration time.Duration }

// BufferedInfo is what the writer holds.
type BufferedInfo struct{ Bytes int64 } // of documents

// ProbeInfo is one document that an index has taken, and was asked for by searches until it was shown, in its new version or a newer
// one. A change that comes again, with the version that the index has, is shown at once.
type ProbeInfo struct {
	Flight   context.Context // that its event was submitted with
	Index    string
	Outcome  ProbeOutcome
	Produced int64     // the timestamp of its record, in ms since 1970
	Durable  time.Time // when the index had taken it
	Ended    time.Time // when it was shown, or given up
}

// ProbeOutcome is what became of a document that was asked for.
type ProbeOutcome string

// The outcomes of a probe.
const (
	Shown      ProbeOutcome = "shown"
	NotShown   ProbeOutcome = "not_shown"  // for a minute
	Unanswered ProbeOutcome = "unanswered" // it was not shown for a minute, and at the end the engine did not answer
)

// RetryInfo is one pause before documents are sent again.
type RetryInfo struct {
	Documents int
	Pause     time.Duration
	Attempt   int   // pauses in a row
	Err       error // of the call, or of the first document
}

// Outcome is what became of an event's document in one round; only Again leaves it with the writer.
type Outcome string

// The outcomes.
const (
	Written  Outcome = "written"
	Conflict Outcome = "conflict" // the index held something as new: durable
	Again    Outcome = "again"    // is sent once more
	Retried  Outcome = "retry"    // given back, to be submitted again
	Rejected Outcome = "reject"
	Halted   Outcome = "halt"

	untried Outcome = "" // in this round: it waits, or an earlier change of its document does
)

// ensureDefaults puts a no-op where a hook is nil, but for Probe.
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
