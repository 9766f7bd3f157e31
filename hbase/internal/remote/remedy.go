// Package remote describes what a call to a server can result in besides an answer, and what to do about it: exceptions, broken
// connections, answers that make no sense. Diagnose turns the error of one try into a remedy by a table of exceptions, and the caller
// applies the remedy. Remedies are internal to hbase: its callers see a Kind, and errors to test with errors.Is.
package remote

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"brine/internal/backoff"
)

// Remedy is what to do about a failed call before the next try.
type Remedy uint8

// The remedies.
const (
	GiveUp    Remedy = iota
	Wait             // same region, same server, after a pause
	Relocate         // drop the region's location and look it up again
	Reconnect        // the connection broke: the server may be dead, so drop the location as well
	Split            // the request was too big: send smaller ones
	Reopen           // the scanner is gone: open another after the last row; without a scanner, give up
	Isolate          // refused without naming the mutation at fault: send fewer until one is alone, then give that one up
)

func (r Remedy) String() string {
	return [...]string{"give up", "wait", "relocate", "reconnect", "split", "reopen", "isolate"}[r]
}

// rule is what one exception class requires.
type rule struct {
	Remedy     Remedy
	Kind       Kind  // of mutations that are given up in the end
	err        error // the matching error of this package
	overloaded bool  // pause as for an overloaded server
	Uncounted  bool  // nobody's fault: try again at once, not counted as an attempt
	Dead       bool  // the server and all regions on it are gone
}

// Package is the prefix of the class of each of HBase's own exceptions.
const Package = "org.apache.hadoop.hbase."

// rules are the exceptions of HBase 2.6 by class without Package, with the remedies of HBase's own client. All that extend
// DoNotRetryIOException must be listed, because inside a Multi they are sent without the flag for that.
var rules = map[string]rule{
	"NotServingRegionException":                 {Remedy: Relocate},
	"exceptions.RegionMovedException":           {Remedy: Relocate}, // names the new server: see movedTo
	"exceptions.RegionOpeningException":         {Remedy: Relocate},
	"regionserver.WrongRegionException":         {Remedy: Relocate},
	"client.RegionOfflineException":             {Remedy: Relocate},
	"client.NoServerForRegionException":         {Remedy: Relocate},
	"UnknownRegionException":                    {Remedy: Relocate},
	"ipc.ServerNotRunningYetException":          {Remedy: Relocate},
	"regionserver.RegionServerStoppedException": {Remedy: Relocate, Dead: true},
	"regionserver.RegionServerAbortedException": {Remedy: Relocate, Dead: true},
	"RegionTooBusyException":                    {Remedy: Wait},
	"PleaseHoldException":                       {Remedy: Wait},
	"MasterNotRunningException":                 {Remedy: Relocate},
	"NotAllMetaRegionsOnlineException":          {Remedy: Wait},
	"quotas.RpcThrottlingException":             {Remedy: Wait}, // says how long: see throttleWait
	"CallQueueTooBigException":                  {Remedy: Wait, overloaded: true},
	"CallDroppedException":                      {Remedy: Wait, overloaded: true},
	"RetryImmediatelyException":                 {Remedy: Wait, Uncounted: true},
	"MultiActionResultTooLarge":                 {Remedy: Wait, Uncounted: true},
	"exceptions.RequestTooBigException":         {Remedy: Split, Kind: BadRow},
	"UnknownScannerException":                   {Remedy: Reopen, Kind: Refused},
	"exceptions.OutOfOrderScannerNextException": {Remedy: Reopen, Kind: Refused},
	"exceptions.ScannerResetException":          {Remedy: Reopen, Kind: Refused},
	"regionserver.LeaseException":               {Remedy: Reopen, Kind: Refused},
	"TableNotFoundException":                    {Kind: NoTable, err: ErrNoTable},
	"TableNotEnabledException":                  {Kind: NoTable, err: ErrDisabled},
	"regionserver.NoSuchColumnFamilyException":  {Kind: NoTable, err: ErrNoFamily},
	"InvalidFamilyOperationException":           {Kind: NoTable, err: ErrNoFamily},
	"TableExistsException":                      {Kind: Refused, err: ErrTableExists},
	"security.AccessDeniedException":            {Kind: Denied, err: ErrDenied},
	"NamespaceExistException":                   {Kind: Refused, err: ErrNamespaceExists},
	"NamespaceNotFoundException":                {Kind: NoTable, err: ErrNoNamespace},
	"DoNotRetryIOException":                     {Remedy: Isolate, Kind: Refused},
	"client.DoNotRetryRegionException":          {Remedy: Isolate, Kind: Refused},
	"client.RowTooBigException":                 {Remedy: Isolate, Kind: BadRow},
	"regionserver.RowTooBigException":           {Remedy: Isolate, Kind: BadRow},
	"exceptions.FailedSanityCheckException":     {Remedy: Isolate, Kind: Refused},
	"exceptions.MergeRegionException":           {Kind: Refused},
	"exceptions.MasterStoppedException":         {Kind: Refused},
	"exceptions.UnknownProtocolException":       {Kind: Refused},
	"ConcurrentTableModificationException":      {Kind: Refused},
	"TableNotDisabledException":                 {Kind: Refused, err: ErrEnabled},
	"constraint.ConstraintException":            {Remedy: Isolate, Kind: Refused},
	"coprocessor.CoprocessorException":          {Remedy: Isolate, Kind: Refused},
	"filter.IncompatibleFilterException":        {Kind: Refused},
	"io.hfile.CorruptHFileException":            {Kind: Refused},
	"quotas.QuotaExceededException":             {Kind: Refused},
	"quotas.SpaceLimitingException":             {Kind: Refused},
	"security.visibility.InvalidLabelException": {Remedy: Isolate, Kind: Refused},
	"ipc.FatalConnectionException":              {Kind: Refused},
	"ipc.BadAuthException":                      {Kind: Denied, err: ErrDenied},
	"ipc.WrongVersionException":                 {Kind: Refused},
	"ipc.UnsupportedCellCodecException":         {Kind: Refused},
	"ipc.UnsupportedCompressionCodecException":  {Kind: Denied}, // the same for all: no mutation is at fault
	"ipc.UnsupportedCryptoException":            {Kind: Refused},
	"ipc.UnknownServiceException":               {Kind: Refused},
	"ipc.EmptyServiceNameException":             {Kind: Refused},
	"snapshot.HBaseSnapshotException":           {Kind: Refused},
	"snapshot.SnapshotExistsException":          {Kind: Refused, err: ErrSnapshotExists},
	"snapshot.SnapshotDoesNotExistException":    {Kind: NoTable, err: ErrNoSnapshot},
	"snapshot.SnapshotCreationException":        {Kind: Refused},
	"snapshot.RestoreSnapshotException":         {Kind: Refused},
}

// Known reports whether an exception class is in the table.
func Known(class string) bool {
	_, ok := ruleOf(class)
	return ok
}

func ruleOf(class string) (rule, bool) {
	r, ok := rules[strings.TrimPrefix(class, Package)]
	return r, ok
}

// Reason returns a short form of class from a closed set, suitable as a metrics label: the exception's simple name if it is in the table of
// remedies, or "connection", "timeout", "invalid_response" or "other".
func Reason(class string) string {
	switch class {
	case "connection", "timeout":
		return class
	case "invalid response":
		return "invalid_response"
	}
	if Known(class) {
		return class[strings.LastIndexByte(class, '.')+1:]
	}
	return "other"
}

// Diagnosis is what an error means for the next step.
type Diagnosis struct {
	rule
	Class   string
	exactly time.Duration // wait requested by the server
	Moved   Location      // new location of the region, from the server
	Cut     bool          // the connection ended, or its data made no sense: possibly because of what was sent
}

// Final reports whether there is nothing left to try with one mutation alone, or with one read.
func (d Diagnosis) Final() bool {
	return d.Remedy == GiveUp || d.Remedy == Split || d.Remedy == Isolate || d.Remedy == Reopen
}

// Diagnose turns the error of a try into a diagnosis. A server's exception without a rule is retried at a freshly looked-up location,
// unless the server marks it do-not-retry.
func Diagnose(err error) Diagnosis {
	if _, ok := errors.AsType[*Permanent](err); ok {
		return Diagnosis{rule: rule{Kind: Transient}, Class: "connection"}
	}
	if e, ok := errors.AsType[*Exception](err); ok {
		return diagnoseException(e)
	}
	if conn, ok := errors.AsType[*ConnError](err); ok {
		return Diagnosis{rule: rule{Remedy: Reconnect, Kind: Transient, Dead: conn.Dead}, Class: conn.Class, Cut: conn.Cut}
	}
	switch {
	case errors.Is(err, ErrInvalid):
		return Diagnosis{rule: rule{Remedy: Relocate, Kind: Transient}, Class: "invalid response", Cut: true}
	case errors.Is(err, ErrNoServer), errors.Is(err, ErrHole):
		return diagnoseException(&Exception{Class: Package + "client.NoServerForRegionException"}) // as HBase's client calls it
	case errors.Is(err, ErrNoActiveMaster), errors.Is(err, ErrNoZnode):
		return diagnoseException(&Exception{Class: Package + "MasterNotRunningException"})
	case errors.Is(err, ErrNoTable), errors.Is(err, ErrDisabled), errors.Is(err, ErrNoFamily):
		return Diagnosis{rule: rule{Kind: NoTable}}
	case errors.Is(err, context.DeadlineExceeded):
		return Diagnosis{rule: rule{Kind: Transient}, Class: "timeout"}
	default:
		return Diagnosis{rule: rule{Kind: Transient}}
	}
}

func diagnoseException(e *Exception) Diagnosis {
	d := Diagnosis{Class: e.Class}
	var known bool
	d.rule, known = ruleOf(e.Class)
	switch {
	case !known && e.DoNotRetry:
		d.rule = rule{Remedy: Isolate, Kind: Refused}
	case !known:
		d.rule = rule{Remedy: Relocate}
	case e.DoNotRetry && (d.Remedy == Wait || d.Remedy == Relocate):
		d.Remedy, d.Kind = Isolate, Refused
	}
	if d.Kind == 0 {
		d.Kind = Transient
	}
	d.overloaded = d.overloaded || e.overloaded
	switch strings.TrimPrefix(e.Class, Package) {
	case "quotas.RpcThrottlingException":
		d.exactly = throttleWait(e.Text)
	case "exceptions.RegionMovedException":
		d.Moved = movedTo(e.Text)
	}
	return d
}

// Pauses are how long a client waits between tries.
type Pauses struct {
	Pause      time.Duration // first pause; later ones grow in HBase's own steps
	Overloaded time.Duration // first pause for an overloaded server
	Patience   time.Duration // bound on all tries together; 0: none
}

// For returns how long to wait after the given number of earlier failures (0 for the first).
func (p Pauses) For(d Diagnosis, failures int) time.Duration {
	switch {
	case d.Uncounted:
		return 0
	case d.exactly > 0:
		return d.exactly
	case d.overloaded:
		return p.bounded(backoff.HBase(p.Overloaded, failures))
	default:
		return p.bounded(backoff.HBase(p.Pause, failures))
	}
}

// bounded limits a pause so that enough of Patience is left to see that the server is back.
func (p Pauses) bounded(pause time.Duration) time.Duration {
	if p.Patience == 0 {
		return pause
	}
	return min(pause, p.Patience/10)
}

var movedPattern = regexp.MustCompile(`hostname=(\S+) port=(\d{1,5}) startCode=(\d+)\. As of locationSeqNum=(-?\d+)\.`)

// Location is a region's server and the sequence number of its opening there.
type Location struct {
	Addr string // host:port
	Seq  int64
}

// movedTo extracts the new server from the message of a RegionMovedException. It returns the zero Location if there is none.
func movedTo(text string) Location {
	m := movedPattern.FindStringSubmatch(text)
	if m == nil {
		return Location{}
	}
	seq, _ := strconv.ParseInt(m[4], 10, 64) // digits; out of range counts as unknown
	return Location{net.JoinHostPort(m[1], m[2]), seq}
}

var throttlePattern = regexp.MustCompile(` - wait (?:(\d+)hrs?, )?(?:(\d+)mins?, )?(?:(\d+)sec[, ]{0,2})?(?:(\d+)ms)?`)

// throttleWait extracts the time from "… - wait 1hr, 2mins, 3sec, 4ms" in the message of an RpcThrottlingException. It returns 0 if there
// is none.
func throttleWait(text string) time.Duration {
	m := throttlePattern.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	var d time.Duration
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second, time.Millisecond} {
		if n, err := strconv.ParseInt(m[i+1], 10, 32); err == nil {
			d += time.Duration(n) * unit
		}
	}
	return d
}
