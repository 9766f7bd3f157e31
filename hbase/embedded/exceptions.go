package embedded

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/hbase/embedded/internal/filter"
	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// Exception is an exception as HBase's clients read it: a Java class, a message, and hints for the client.
type Exception struct {
	Class            string // org.apache.hadoop.hbase.…
	Message          string
	DoNotRetry       bool
	ServerOverloaded bool
	Bare             bool   // send the message alone, not as a printed stack trace, as HBase does before a call begins
	Host             string // for RegionMovedException: where the region is now
	Port             int32
}

func (e *Exception) Error() string { return e.Class + ": " + e.Message }

// stack is a printed stack trace, which Java clients pass to the constructor of the exception.
func (e *Exception) stack() string { return e.Error() + "\n\tat brine.hbase.embedded\n" }

func (e *Exception) response() *hbasepb.ExceptionResponse {
	text := e.stack()
	if e.Bare {
		text = e.Message
	}
	r := &hbasepb.ExceptionResponse{ExceptionClassName: &e.Class, StackTrace: &text, DoNotRetry: &e.DoNotRetry}
	if e.ServerOverloaded {
		r.ServerOverloaded = proto.Bool(true)
	}
	if e.Host != "" {
		r.Hostname, r.Port = &e.Host, &e.Port
	}
	return r
}

// pair returns the exception as it appears inside a Multi's response.
func (e *Exception) pair() *hbasepb.NameBytesPair {
	return &hbasepb.NameBytesPair{Name: &e.Class, Value: []byte(e.stack())}
}

const (
	hbasePackage = "org.apache.hadoop.hbase."

	classDoNotRetry         = hbasePackage + "DoNotRetryIOException"
	classNotServing         = hbasePackage + "NotServingRegionException"
	classOpening            = hbasePackage + "exceptions.RegionOpeningException"
	classStopped            = hbasePackage + "regionserver.RegionServerStoppedException"
	classPleaseHold         = hbasePackage + "PleaseHoldException"
	classUnknownRegion      = hbasePackage + "UnknownRegionException"
	classMergeRegion        = hbasePackage + "exceptions.MergeRegionException"
	classUnknownProtocol    = hbasePackage + "exceptions.UnknownProtocolException"
	classResultTooLarge     = hbasePackage + "MultiActionResultTooLarge"
	classWrongRegion        = hbasePackage + "regionserver.WrongRegionException"
	classNoFamily           = hbasePackage + "regionserver.NoSuchColumnFamilyException"
	classTableNotFound      = hbasePackage + "TableNotFoundException"
	classTableExists        = hbasePackage + "TableExistsException"
	classTableNotDisabled   = hbasePackage + "TableNotDisabledException"
	classTableNotEnabled    = hbasePackage + "TableNotEnabledException"
	classNamespaceNotFound  = hbasePackage + "NamespaceNotFoundException"
	classNamespaceExists    = hbasePackage + "NamespaceExistException"
	classConstraint         = hbasePackage + "constraint.ConstraintException"
	classUnknownScanner     = hbasePackage + "UnknownScannerException"
	classOutOfOrder         = hbasePackage + "exceptions.OutOfOrderScannerNextException"
	classScannerReset       = hbasePackage + "exceptions.ScannerResetException"
	classFatalConnection    = hbasePackage + "ipc.FatalConnectionException"
	classWrongVersion       = hbasePackage + "ipc.WrongVersionException"
	classAccessDenied       = hbasePackage + "security.AccessDeniedException"
	classSASL               = "javax.security.sasl.SaslException"
	classBadAuth            = hbasePackage + "ipc.BadAuthException"
	classUnknownService     = hbasePackage + "ipc.UnknownServiceException"
	classUnsupportedCodec   = hbasePackage + "ipc.UnsupportedCellCodecException"
	classUnsupportedCompr   = hbasePackage + "ipc.UnsupportedCompressionCodecException"
	classUnsupportedCrypto  = hbasePackage + "ipc.UnsupportedCryptoException"
	classSecurityNotEnabled = hbasePackage + "exceptions.SecurityNotEnabledException"
	classRequestTooBig      = hbasePackage + "exceptions.RequestTooBigException"
	classInvalidFamily      = hbasePackage + "InvalidFamilyOperationException"
	classRegionState        = hbasePackage + "client.DoNotRetryRegionException"
	classHBaseIO            = hbasePackage + "HBaseIOException"
	classSnapshotExists     = hbasePackage + "snapshot.SnapshotExistsException"
	classSnapshotCreation   = hbasePackage + "snapshot.SnapshotCreationException"
	classNoSnapshot         = hbasePackage + "snapshot.SnapshotDoesNotExistException"
	classNoPeer             = hbasePackage + "ReplicationPeerNotFoundException"
	classUnsupportedOp      = "java.lang.UnsupportedOperationException"
	classIllegalArgument    = "java.lang.IllegalArgumentException"
	classIO                 = "java.io.IOException"
)

// final returns an exception that clients must not retry.
func final(class, format string, args ...any) *Exception {
	return &Exception{Class: class, Message: fmt.Sprintf(format, args...), DoNotRetry: true}
}

func notServing(message string) *Exception {
	return &Exception{Class: classNotServing, Message: message}
}

// unsupported returns the exception for a feature that LIMITS.md lists as missing.
func unsupported(format string, args ...any) *Exception {
	return final(classDoNotRetry, "the embedded HBase server does not support "+format, args...)
}

// asException returns the exception that answers an error.
func asException(err error) *Exception {
	var e *Exception
	var noFamily *store.ErrNoFamily
	var noFilter *filter.UnsupportedError
	var badFilter *filter.InvalidError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &noFamily):
		return final(classNoFamily, "Column family %s does not exist", noFamily.Family)
	case errors.As(err, &noFilter):
		return unsupported("%s", noFilter.Name)
	case errors.As(err, &badFilter):
		return final(classDoNotRetry, "%s", badFilter.Reason)
	default:
		return &Exception{Class: classIO, Message: err.Error()}
	}
}

// Exceptions returns every exception with which HBase's servers direct a client, by simple class name, each with a message as the server
// writes it, for use in Outcome.Exception, Outcome.Regions and Outcome.Rows. Each call returns new ones, so a test may change the message.
// Exceptions that only a client raises (CallTimeoutException, ConnectionClosedException, FailedServerException …) are not answers: use
// drop, silence or Kill to provoke them.
func Exceptions() map[string]*Exception {
	all := make(map[string]*Exception, len(thrown))
	for _, e := range thrown {
		all[e.Class[strings.LastIndexByte(e.Class, '.')+1:]] = &e
	}
	moved, throttled := RegionMoved("127.0.0.1", 16020, 1, 2), Throttled(100*time.Millisecond)
	all["RegionMovedException"], all["RpcThrottlingException"] = moved, throttled
	return all
}

// RegionMoved returns the exception that names a region's new location, which clients parse from the message.
func RegionMoved(host string, port int32, startCode, seqNum int64) *Exception {
	return &Exception{
		Class:   hbasePackage + "exceptions.RegionMovedException",
		Message: fmt.Sprintf("Region moved to: hostname=%s port=%d startCode=%d. As of locationSeqNum=%d.", host, port, startCode, seqNum),
		Host:    host, Port: port,
	}
}

// Throttled returns the exception of an exceeded quota, which asks the client to wait. Clients parse the time from the message.
func Throttled(wait time.Duration) *Exception {
	return &Exception{Class: hbasePackage + "quotas.RpcThrottlingException",
		Message: "number of write requests exceeded - wait " + javaWait(wait)}
}

// javaWait formats a duration as RpcThrottlingException does: 1hr, 2mins, 3sec, 4ms. It omits zero units except ms.
func javaWait(d time.Duration) string {
	var b strings.Builder
	unit := func(size time.Duration, one, more string) {
		if n := d / size; n > 0 {
			name := one
			if n > 1 {
				name = more
			}
			fmt.Fprintf(&b, "%d%s, ", n, name)
			d -= n * size
		}
	}
	unit(time.Hour, "hr", "hrs")
	unit(time.Minute, "min", "mins")
	unit(time.Second, "sec", "sec")
	fmt.Fprintf(&b, "%dms", d.Milliseconds())
	return b.String()
}

const exampleServer, exampleRegion = "127.0.0.1,16020,1", "t,,1.d41d8cd98f00b204e9800998ecf8427e."

// thrown lists the exceptions for which an example is enough: first those that are retried, then those of scanners, then those that are not
// retried, and last those that end a connection.
var thrown = []Exception{
	{Class: classNotServing, Message: exampleRegion + " is not online on " + exampleServer},
	{Class: classOpening, Message: "Region " + exampleRegion + " is opening on " + exampleServer},
	{Class: classWrongRegion, Message: "Requested row out of range for batchMutate on HRegion " + exampleRegion +
		", startKey='b', getEndKey()='c', row='a'"},
	{Class: hbasePackage + "RegionTooBusyException",
		Message: "Over memstore limit=512.0M, regionName=d41d8cd98f00b204e9800998ecf8427e, server=" + exampleServer},
	{Class: hbasePackage + "CallQueueTooBigException", Message: "Call queue is full on " + exampleServer + ", too many items queued ?",
		ServerOverloaded: true, Bare: true},
	{Class: hbasePackage + "CallDroppedException", Message: "Call dropped, server 127.0.0.1:16020 is overloaded, please retry.",
		ServerOverloaded: true, Bare: true},
	{Class: hbasePackage + "RetryImmediatelyException", Message: "Retry at once"},
	{Class: classResultTooLarge, Message: "Max size exceeded CellSize: 104857600 BlockSize: 104857600"},
	{Class: classPleaseHold, Message: "Master is initializing"},
	{Class: hbasePackage + "MasterNotRunningException", Message: "Another master is active"},
	{Class: hbasePackage + "ipc.ServerNotRunningYetException", Message: "Server " + exampleServer + " is not running yet"},
	{Class: classStopped, Message: "Server " + exampleServer + " stopping"},
	{Class: hbasePackage + "regionserver.RegionServerAbortedException", Message: "Server " + exampleServer + " aborting"},
	{Class: hbasePackage + "ipc.CallerDisconnectedException", Message: "Aborting on region " + exampleRegion +
		", call callId: 1 after 100 ms, since caller disconnected"},
	{Class: hbasePackage + "exceptions.TimeoutIOException", Message: "Timed out while waiting on rows"},
	{Class: classIO, Message: "Invalid argument"},

	{Class: classUnknownScanner, Message: "Unknown scanner '1'. " + unknownScannerReasons, DoNotRetry: true},
	{Class: classOutOfOrder, Message: "Expected nextCallSeq: 2 But the nextCallSeq got from client: 1; request=scanner_id: 1",
		DoNotRetry: true},
	{Class: classScannerReset, Message: "Scanner is closed on the server-side", DoNotRetry: true},
	{Class: hbasePackage + "regionserver.LeaseException", Message: "lease '1' does not exist or has already expired", DoNotRetry: true},

	{Class: classDoNotRetry, Message: "Cell[a/e:q/1/Put/vlen=11534336/seqid=0] with size 11534384 exceeds limit of 10485760 bytes",
		DoNotRetry: true},
	{Class: classRequestTooBig, Message: "RPC data length of 268435457 received from 127.0.0.1:40000 is greater than max allowed " +
		"268435456. Set \"hbase.ipc.max.request.size\" on server to override this limit (not recommended)", DoNotRetry: true, Bare: true},
	{Class: classNoFamily, Message: "Column family x does not exist in region " + exampleRegion +
		" in table 't', {NAME => 'e'}", DoNotRetry: true},
	{Class: hbasePackage + "exceptions.FailedSanityCheckException",
		Message: "Timestamp for KV out of range a/e:q/9/Put/vlen=1/seqid=0 (too.new=1)", DoNotRetry: true},
	{Class: classTableNotFound, Message: "t", DoNotRetry: true},
	{Class: classTableNotEnabled, Message: "t is disabled.", DoNotRetry: true},
	{Class: classTableNotDisabled, Message: "t", DoNotRetry: true},
	{Class: hbasePackage + "security.AccessDeniedException",
		Message: "Insufficient permissions (user=u, scope=t, family=e, params=[table=t,family=e],action=WRITE)", DoNotRetry: true},
	{Class: classInvalidFamily, Message: "Column family 'e' does not exist", DoNotRetry: true},
	{Class: classUnknownProtocol, Message: "Unknown method Frobnicate called on service ClientService", DoNotRetry: true},
	{Class: hbasePackage + "quotas.QuotaExceededException", Message: "The table t is over its quota", DoNotRetry: true},
	{Class: hbasePackage + "exceptions.MasterStoppedException", Message: "Master is stopped", DoNotRetry: true},
	{Class: classUnknownRegion, Message: exampleRegion, DoNotRetry: true},
	{Class: classMergeRegion, Message: "Need two Regions at least to run a Merge", DoNotRetry: true},

	{Class: classFatalConnection, Message: "Expected HEADER=HBas but received HEADER=HTTP from 127.0.0.1:40000", DoNotRetry: true, Bare: true},
	{Class: classWrongVersion, Message: "serverVersion=0, clientVersion=9, authMethod=80, authSupported=true from 127.0.0.1:40000",
		DoNotRetry: true, Bare: true},
	{Class: classBadAuth, Message: "serverVersion=0, clientVersion=0, authMethod=79, authSupported=false from 127.0.0.1:40000",
		DoNotRetry: true, Bare: true},
	{Class: classUnsupportedCodec, Message: "org.example.Codec", DoNotRetry: true},
	{Class: classUnsupportedCompr, Message: "org.example.Compressor", DoNotRetry: true},
	{Class: classUnknownService, Message: "FrobService", DoNotRetry: true},
}
