package hbase

import (
	"brine/hbase/internal/pipeline"
	"brine/hbase/internal/rpc"
)

// Hooks are called with what the client does; any may be nil. They are called from the client's own goroutines, must be safe for
// concurrent use, and must not block.
type Hooks struct {
	Call         func(CallInfo)         // after every RPC
	Send         func(SendInfo)         // before every call of mutations
	Sent         func(*SentInfo)        // after every call of mutations
	Retry        func(RetryInfo)        // before every wait and resend
	Applied      func(*AppliedInfo)     // per region and answered Multi: how much was acknowledged
	Flush        func(FlushInfo)        // whenever a Mutator lets mutations go
	Buffered     func(BufferedInfo)     // whenever the bytes of mutations in memory change by a batch
	Blocked      func(BlockedInfo)      // after every wait of a Submit for room
	Dial         func(DialInfo)         // after every attempt to connect
	Certificates func(CertificatesInfo) // after the files of Options.TLS have changed
	Renewal      func(RenewalInfo)      // after the ticket of Options.Kerberos could not be renewed; it is tried again
	Running      func(ProcedureInfo)    // every 5 s that the master works on a change of a table or of regions
	Untested     func(UntestedInfo)     // within Open, if this client is not tested with the release of the master; nil: it is not asked
}

// ensureDefaults puts a no-op where a hook is nil, but for Untested.
func (h *Hooks) ensureDefaults() {
	orNothing(&h.Call)
	orNothing(&h.Send)
	orNothing(&h.Sent)
	orNothing(&h.Retry)
	orNothing(&h.Applied)
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

// SendInfo is one call of mutations that leaves.
type SendInfo = pipeline.SendInfo

// SentInfo is one finished call of mutations. It is valid while the hook runs.
type SentInfo = pipeline.SentInfo

// RetryInfo is one retry of one region's mutations, or of a read.
type RetryInfo = pipeline.RetryInfo

// AppliedInfo is what one region acknowledged in one call. It is valid while the hook runs.
type AppliedInfo = pipeline.AppliedInfo

// BlockedInfo is one Submit that had to wait for room.
type BlockedInfo = pipeline.BlockedInfo

// BufferedInfo is what the client holds.
type BufferedInfo = pipeline.BufferedInfo

// DialInfo is one attempt to connect to a server.
type DialInfo = rpc.DialInfo

// CertificatesInfo is what became of a change of the files of Options.TLS.
type CertificatesInfo struct {
	Err error // why they cannot be used, and those before are; nil: new connections use them
}

// RenewalInfo is why the ticket of Options.Kerberos could not be renewed, and when it ends.
type RenewalInfo struct{ Err error }

// UntestedInfo is a cluster of a release that this client is not tested with.
type UntestedInfo struct{ Version string }

// FlushInfo is one time that a Mutator let mutations go, and FlushReason why.
type (
	FlushInfo   = pipeline.FlushInfo
	FlushReason = pipeline.FlushReason
)

// The reasons.
const (
	FlushAuto   = pipeline.FlushAuto   // by Submit itself
	FlushFull   = pipeline.FlushFull   // WriteBuffer was reached, or a Submit waited for room in the client's byte bound
	FlushLinger = pipeline.FlushLinger // Linger was over
	FlushCalled = pipeline.FlushCalled // by Flush
	FlushDrain  = pipeline.FlushDrain  // by Release
)

// Stats is what a client holds and has under way at one moment.
type Stats = pipeline.Stats

// ServerStats is what is under way to one region server.
type ServerStats = pipeline.ServerStats
