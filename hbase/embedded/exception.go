package embedded

import (
	"errors"
	"fmt"

	"brine/hbase/embedded/internal/filter"
	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// Exception is an exception as HBase's clients read it: a Java class, a message, and what a client may conclude.
type Exception struct {
	Class            string // org.apache.hadoop.hbase.…
	Message          string
	DoNotRetry       bool
	ServerOverloaded bool
	Bare             bool   // the message goes alone, not as a printed stack trace: of what is answered before a call begins
	Host             string // where the region is now, with RegionMovedException
	Port             int32
}

func (e *Exception) Error() string { return e.Class + ": " + e.Message }

// stack is what Java's clients give their exception's constructor: a printed stack trace.
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

// pair is the exception inside a Multi's response.
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
	classBadAuth            = hbasePackage + "ipc.BadAuthException"
	classUnknownService     = hbasePackage + "ipc.UnknownServiceException"
	classUnsupportedCodec   = hbasePackage + "ipc.UnsupportedCellCodecException"
	classUnsupportedCompr   = hbasePackage + "ipc.UnsupportedCompressionCodecException"
	classUnsupportedCrypto  = hbasePackage + "ipc.UnsupportedCryptoException"
	classSecurityNotEnabled = hbasePackage + "exceptions.SecurityNotEnabledException"
	classRequestTooBig      = hbasePackage + "exceptions.RequestTooBigException"
	classIllegalArgument    = "java.lang.IllegalArgumentException"
	classIO                 = "java.io.IOException"
)

// final makes an exception that a client must not retry.
func final(class, format string, args ...any) *Exception {
	return &Exception{Class: class, Message: fmt.Sprintf(format, args...), DoNotRetry: true}
}

func notServing(message string) *Exception {
	return &Exception{Class: classNotServing, Message: message}
}

// unsupported is the answer to what LIMITS.md lists.
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
