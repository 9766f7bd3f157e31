package indexer

import "time"

// Hooks are told what the writer does; a nil hook is not called. They are called from the writer's own goroutines, must be
// safe for concurrent use, and must not block.
type Hooks struct {
	Call     func(CallInfo)                                // after every call of the engine
	Items    func(index string, outcome Outcome, n int)    // events by what became of them, after every round of calls
	Retry    func(RetryInfo)                               // before every pause
	Expired  func(index string, parts []string, err error) // when parts of an index were dropped, their rows being over, or could not be
	Purged   func(index string, n int, err error)          // when deleted documents were removed for good, or could not be
	Buffered func(bytes int64)                             // bytes of documents in memory, whenever a batch comes or goes
}

// CallInfo is one finished call of the engine.
type CallInfo struct {
	Kind      CallKind
	Documents int
	Bytes     int // of the documents sent
	Duration  time.Duration
	Err       error // of the call as a whole
}

// CallKind is what a call does.
type CallKind string

// The kinds of call.
const (
	CallBulk CallKind = "bulk"
	CallGet  CallKind = "get"
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
