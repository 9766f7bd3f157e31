package hbase

import (
	"time"

	"brine/hbase/internal/pipeline"
	"brine/hbase/internal/rpc"
)

// Hooks report what the client does. Any of them may be nil. The client's own goroutines call them, so they must be safe for concurrent use
// and must not block.
type Hooks struct {
	Call         func(CallInfo)         // after every RPC
	Send         func(SendInfo)         // before every call of mutations
	Sent         func(*SentInfo)        // after every call of mutations
	Retry        func(RetryInfo)        // before every wait and resend
	Applied      func(*AppliedInfo)     // per region and answered Multi: how much was acknowledged
	Read         func(ReadInfo)         // per region and answered call of a Get, of gets or of a scan
	Flush        func(FlushInfo)        // when a Mutator releases mutations
	Buffered     func(BufferedInfo)     // when a batch changes the bytes of mutations in memory
	Blocked      func(BlockedInfo)      // after a Submit has waited for room
	Dial         func(DialInfo)         // after every attempt to connect
	Certificates func(CertificatesInfo) // after the files of Options.TLS have changed
	Renewal      func(RenewalInfo)      // when renewing the ticket of Options.Kerberos failed; it is tried again
	Running      func(ProcedureInfo)    // every 5 s while the master works on a change of a table or of regions
	Untested     func(UntestedInfo)     // in Open, if this client is not tested with the master's release; nil: Open does not ask
}

// ensureDefaults sets nil hooks to a no-op, except Untested.
func (h *Hooks) ensureDefaults() {
	orNothing(&h.Call)
	orNothing(&h.Send)
	orNothing(&h.Sent)
	orNothing(&h.Retry)
	orNothing(&h.Applied)
	orNothing(&h.Read)
	orNothing(&h.Flush)
	orNothing(&h.Buffered)
	orNothing(&h.Blocked)
	orNothing(&h.Dial)
	orNothing(&h.Certificates)
	orNothing(&h.Renewal)
	orNothing(&h.Running)
}

func orNothing[Info any](hook *func(Info)) {
	if *hook == nil {
		*hook = func(Info) {}
	}
}

// pipeline returns the hooks of the write path.
func (h *Hooks) pipeline() pipeline.Hooks {
	return pipeline.Hooks{Send: h.Send, Sent: h.Sent, Retry: h.Retry, Applied: h.Applied, Flush: h.Flush, Buffered: h.Buffered,
		Blocked: h.Blocked}
}

// CallInfo is one finished call to a server.
type CallInfo = rpc.CallInfo

// SendInfo is a call of mutations about to be sent.
type SendInfo = pipeline.SendInfo

// SentInfo is a finished call of mutations. It is valid only while the hook runs.
type SentInfo = pipeline.SentInfo

// RetryInfo is one retry of one region's mutations, or of a read.
type RetryInfo = pipeline.RetryInfo

// AppliedInfo is what one region acknowledged in one call. It is valid only while the hook runs.
type AppliedInfo = pipeline.AppliedInfo

// ReadInfo is an answer of one region to a read. A call with gets for several regions has one for each.
type ReadInfo struct {
	Region   *Region       // the region or, with Timeline, the replica that answered
	Duration time.Duration // from sending the call until its answer
}

// BlockedInfo is a Submit that had to wait for room.
type BlockedInfo = pipeline.BlockedInfo

// BufferedInfo is what the client has in memory.
type BufferedInfo = pipeline.BufferedInfo

// DialInfo is one attempt to connect to a server.
type DialInfo = rpc.DialInfo

// CertificatesInfo is the result of reading changed files of Options.TLS.
type CertificatesInfo struct {
	Err error // why they are unusable, so that the previous ones stay in use; nil: new connections use them
}

// RenewalInfo says why the ticket of Options.Kerberos could not be renewed and when it ends.
type RenewalInfo struct{ Err error }

// UntestedInfo is a cluster's release that this client is not tested with.
type UntestedInfo struct{ Version string }

// FlushInfo describes one release of mutations by a Mutator, and FlushReason the reason for it.
type (
	FlushInfo   = pipeline.FlushInfo
	FlushReason = pipeline.FlushReason
)

// The reasons for a flush.
const (
	FlushAuto   = pipeline.FlushAuto   // by Submit itself
	FlushFull   = pipeline.FlushFull   // WriteBuffer was reached, or a Submit waited for room in the client's byte bound
	FlushLinger = pipeline.FlushLinger // Linger had passed
	FlushCalled = pipeline.FlushCalled // by Flush
	FlushDrain  = pipeline.FlushDrain  // by Release
)

// Stats is what a client holds and has in progress at one moment.
type Stats = pipeline.Stats

// ServerStats is what is in progress at one region server.
type ServerStats = pipeline.ServerStats
