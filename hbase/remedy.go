package hbase

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

// remedy is what to do about a failed call before trying again. Remedies never leave the package.
type remedy uint8

const (
	giveUp    remedy = iota
	wait             // same region, same server, after a pause
	relocate         // drop the region's location and look it up again
	reconnect        // the connection broke: the server may be dead, so the location is dropped as well
	split            // the request was too big: send it in smaller ones
	reopen           // the scanner is gone: open another behind the last row; without a scanner, give up
	isolate          // refused without saying which mutation is at fault: send fewer until one is alone, then give it up
)

func (r remedy) String() string {
	return [...]string{"give up", "wait", "relocate", "reconnect", "split", "reopen", "isolate"}[r]
}

// rule is what one exception class asks for.
type rule struct {
	remedy     remedy
	kind       Kind  // for mutations, if it ends in giving up
	err        error // which of the package's errors it is
	overloaded bool  // pause as for an overloaded server
	uncounted  bool  // no fault of anyone's: again at once, not counted as an attempt
	dead       bool  // the server has gone, and all regions that were on it
}

const packagePrefix = "org.apache.hadoop.hbase."

// rules are the exceptions that HBase 2.6 sends, by class without packagePrefix, with the remedies of its own client. Those
// that extend DoNotRetryIOException must all be here: inside a Multi they travel without the flag that says so.
var rules = map[string]rule{
	"NotServingRegionException":                 {remedy: relocate},
	"exceptions.RegionMovedException":           {remedy: relocate}, // says whither: see movedTo
	"exceptions.RegionOpeningException":         {remedy: relocate},
	"regionserver.WrongRegionException":         {remedy: relocate},
	"client.RegionOfflineException":             {remedy: relocate},
	"client.NoServerForRegionException":         {remedy: relocate},
	"UnknownRegionException":                    {remedy: relocate},
	"ipc.ServerNotRunningYetException":          {remedy: relocate},
	"regionserver.RegionServerStoppedException": {remedy: relocate, dead: true},
	"regionserver.RegionServerAbortedException": {remedy: relocate, dead: true},
	"RegionTooBusyException":                    {remedy: wait},
	"PleaseHoldException":                       {remedy: wait},
	"MasterNotRunningException":                 {remedy: relocate},
	"NotAllMetaRegionsOnlineException":          {remedy: wait},
	"quotas.RpcThrottlingException":             {remedy: wait}, // says how long: see throttleWait
	"CallQueueTooBigException":                  {remedy: wait, overloaded: true},
	"CallDroppedException":                      {remedy: wait, overloaded: true},
	"RetryImmediatelyException":                 {remedy: wait, uncounted: true},
	"MultiActionResultTooLarge":                 {remedy: wait, uncounted: true},
	"exceptions.RequestTooBigException":         {remedy: split, kind: BadRow},
	"UnknownScannerException":                   {remedy: reopen, kind: Refused},
	"exceptions.OutOfOrderScannerNextException": {remedy: reopen, kind: Refused},
	"exceptions.ScannerResetException":          {remedy: reopen, kind: Refused},
	"regionserver.LeaseException":               {remedy: reopen, kind: Refused},
	"TableNotFoundException":                    {kind: NoTable, err: ErrNoTable},
	"TableNotEnabledException":                  {kind: NoTable, err: ErrDisabled},
	"regionserver.NoSuchColumnFamilyException":  {kind: NoTable, err: ErrNoFamily},
	"InvalidFamilyOperationException":           {kind: NoTable, err: ErrNoFamily},
	"TableExistsException":                      {kind: Refused, err: ErrTableExists},
	"security.AccessDeniedException":            {kind: Denied, err: ErrDenied},
	"NamespaceExistException":                   {kind: Refused, err: errNamespaceExists},
	"NamespaceNotFoundException":                {kind: NoTable, err: errNoNamespace},
	"DoNotRetryIOException":                     {remedy: isolate, kind: Refused},
	"client.DoNotRetryRegionException":          {remedy: isolate, kind: Refused},
	"client.RowTooBigException":                 {remedy: isolate, kind: BadRow},
	"regionserver.RowTooBigException":           {remedy: isolate, kind: BadRow},
	"exceptions.FailedSanityCheckException":     {remedy: isolate, kind: Refused},
	"exceptions.MergeRegionException":           {kind: Refused},
	"exceptions.MasterStoppedException":         {kind: Refused},
	"exceptions.UnknownProtocolException":       {kind: Refused},
	"ConcurrentTableModificationException":      {kind: Refused},
	"TableNotDisabledException":                 {kind: Refused},
	"constraint.ConstraintException":            {remedy: isolate, kind: Refused},
	"coprocessor.CoprocessorException":          {remedy: isolate, kind: Refused},
	"filter.IncompatibleFilterException":        {kind: Refused},
	"io.hfile.CorruptHFileException":            {kind: Refused},
	"quotas.QuotaExceededException":             {kind: Refused},
	"quotas.SpaceLimitingException":             {kind: Refused},
	"security.visibility.InvalidLabelException": {remedy: isolate, kind: Refused},
	"ipc.FatalConnectionException":              {kind: Refused},
	"ipc.BadAuthException":                      {kind: Denied, err: ErrDenied},
	"ipc.WrongVersionException":                 {kind: Refused},
	"ipc.UnsupportedCellCodecException":         {kind: Refused},
	"ipc.UnsupportedCompressionCodecException":  {kind: Denied}, // to all alike: no mutation is at fault
	"ipc.UnsupportedCryptoException":            {kind: Refused},
	"ipc.UnknownServiceException":               {kind: Refused},
	"ipc.EmptyServiceNameException":             {kind: Refused},
	"snapshot.HBaseSnapshotException":           {kind: Refused},
}

func ruleOf(class string) (rule, bool) {
	r, ok := rules[strings.TrimPrefix(class, packagePrefix)]
	return r, ok
}

// Reason is Class in few words out of a closed set, as labels of metrics need it: the exception's simple name if the table of
// remedies has it, "connection", "timeout", "invalid_response", or "other".
func (r RetryInfo) Reason() string {
	switch r.Class {
	case "connection", "timeout":
		return r.Class
	case "invalid response":
		return "invalid_response"
	}
	if _, known := ruleOf(r.Class); known {
		return r.Class[strings.LastIndexByte(r.Class, '.')+1:]
	}
	return "other"
}

// diagnosis is what an error means for what is to be done next.
type diagnosis struct {
	rule
	class   string
	exactly time.Duration // the server said how long to wait
	moved   place         // the server said where the region is now
	cut     bool          // the connection ended, or what came over it made no sense: perhaps because of what was sent
}

// final reports whether the remedy leaves nothing to try with one mutation alone, or one read.
func (d diagnosis) final() bool {
	return d.remedy == giveUp || d.remedy == split || d.remedy == isolate || d.remedy == reopen
}

// diagnose turns the error of a try into a diagnosis. A server's exception that no rule knows is retried at a freshly
// looked-up location, unless the server says that it is not to be retried.
func diagnose(err error) diagnosis {
	if _, ok := errors.AsType[*final](err); ok {
		return diagnosis{rule: rule{kind: Transient}, class: "connection"}
	}
	if remote, ok := errors.AsType[*remoteError](err); ok {
		return diagnoseRemote(remote)
	}
	if conn, ok := errors.AsType[*connError](err); ok {
		return diagnosis{rule: rule{remedy: reconnect, kind: Transient, dead: conn.dead}, class: conn.class, cut: conn.cut}
	}
	switch {
	case errors.Is(err, errInvalidResponse):
		return diagnosis{rule: rule{remedy: relocate, kind: Transient}, class: "invalid response", cut: true}
	case errors.Is(err, errNoServer), errors.Is(err, errHole):
		return diagnoseRemote(&remoteError{class: packagePrefix + "client.NoServerForRegionException"}) // HBase's client's word for it
	case errors.Is(err, errNoActiveMaster), errors.Is(err, errNoZnode):
		return diagnoseRemote(&remoteError{class: packagePrefix + "MasterNotRunningException"})
	case errors.Is(err, ErrNoTable), errors.Is(err, ErrDisabled), errors.Is(err, ErrNoFamily):
		return diagnosis{rule: rule{kind: NoTable}}
	case errors.Is(err, context.DeadlineExceeded):
		return diagnosis{rule: rule{kind: Transient}, class: "timeout"}
	default:
		return diagnosis{rule: rule{kind: Transient}}
	}
}

func diagnoseRemote(e *remoteError) diagnosis {
	d := diagnosis{class: e.class}
	var known bool
	d.rule, known = ruleOf(e.class)
	switch {
	case !known && e.doNotRetry:
		d.rule = rule{remedy: isolate, kind: Refused}
	case !known:
		d.rule = rule{remedy: relocate}
	case e.doNotRetry && (d.remedy == wait || d.remedy == relocate):
		d.remedy, d.kind = isolate, Refused
	}
	if d.kind == 0 {
		d.kind = Transient
	}
	d.overloaded = d.overloaded || e.overloaded
	switch strings.TrimPrefix(e.class, packagePrefix) {
	case "quotas.RpcThrottlingException":
		d.exactly = throttleWait(e.text)
	case "exceptions.RegionMovedException":
		d.moved = movedTo(e.text)
	}
	return d
}

// pause is how long to wait after so many failures before (0 for the first).
func (o *Options) pause(d diagnosis, failures int) time.Duration {
	switch {
	case d.uncounted:
		return 0
	case d.exactly > 0:
		return d.exactly
	case d.overloaded:
		return o.bearable(backoff.HBase(o.PauseServerOverloaded, failures))
	default:
		return o.bearable(backoff.HBase(o.Pause, failures))
	}
}

// bearable is a pause after which there is patience left to see that the server is back.
func (o *Options) bearable(pause time.Duration) time.Duration {
	if o.Patience == 0 {
		return pause
	}
	return min(pause, o.Patience/10)
}

var movedPattern = regexp.MustCompile(`hostname=(\S+) port=(\d{1,5}) startCode=(\d+)\. As of locationSeqNum=(-?\d+)\.`)

// place is where a region is, and since which opening of it.
type place struct {
	addr string // host:port
	seq  int64
}

// movedTo reads the new server out of a RegionMovedException's message; the zero place if it does not say.
func movedTo(text string) place {
	m := movedPattern.FindStringSubmatch(text)
	if m == nil {
		return place{}
	}
	seq, _ := strconv.ParseInt(m[4], 10, 64) // digits; out of range is as good as unknown
	return place{net.JoinHostPort(m[1], m[2]), seq}
}

var throttlePattern = regexp.MustCompile(` - wait (?:(\d+)hrs?, )?(?:(\d+)mins?, )?(?:(\d+)sec[, ]{0,2})?(?:(\d+)ms)?`)

// throttleWait reads "… - wait 1hr, 2mins, 3sec, 4ms" out of a RpcThrottlingException's message; 0 if it does not say.
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

// Errors that only the remedies know.
var (
	errInvalidResponse = errors.New("invalid answer")
	errMissing         = errors.New("neither a result nor an exception")
	errNoServer        = errors.New("the region is on no server just now")
	errHole            = errors.New("hbase:meta has no region for it just now")
	errNoActiveMaster  = errors.New("no master is active: start one, or wait until a standby takes over")
	errNoZnode         = errors.New("HBase has not written where it is: start it, or wait until its master is active")
	errNamespaceExists = errors.New("namespace exists")
	errNoNamespace     = errors.New("no such namespace")
)
