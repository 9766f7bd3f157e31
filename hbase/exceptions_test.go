package hbase

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// What happens to the cached location of a region that failed.
const (
	kept     = "kept"     // used again
	dropped  = "dropped"  // looked up again
	replaced = "replaced" // the exception named the new location
	deserted = "deserted" // dropped together with all other regions of the server
)

// The pauses before the first retry in these tests, with up to 1 % jitter.
const (
	pauseTable      = 2 * time.Millisecond
	pauseOverloaded = 5 * time.Millisecond
	pauseThrottled  = 13 * time.Millisecond // requested by the server
	noPause         = time.Duration(0)
)

// exceptionCase is one of HBase's exceptions and what the client does about it.
type exceptionCase struct {
	class      string
	message    string
	overloaded bool // flag in the answer
	doNotRetry bool // flag in the answer

	remedy    string
	pause     time.Duration
	uncounted bool   // does not use up retries
	location  string // kept, dropped, replaced, deserted
	final     Kind   // fails at once with this kind; 0: retried
	reads     string // for a scan: "" like other calls, "reopened" although it is final for others
	callOnly  bool   // only answers a whole call
	regional  bool   // only occurs inside a Multi
}

// exceptionCases are all of HBase's exceptions that a region server answers to a call on a region.
var exceptionCases = []exceptionCase{
	{class: "NotServingRegionException", remedy: "relocate", pause: pauseTable, location: dropped},
	{class: "exceptions.RegionMovedException", message: "Region moved to: hostname=$HOST port=$PORT startCode=1. As of locationSeqNum=7.",
		remedy: "relocate", pause: pauseTable, location: replaced},
	{class: "exceptions.RegionMovedException", message: "not to be parsed", remedy: "relocate", pause: pauseTable, location: dropped},
	{class: "exceptions.RegionOpeningException", remedy: "relocate", pause: pauseTable, location: dropped},
	{class: "RegionTooBusyException", remedy: "wait", pause: pauseTable, location: kept},
	{class: "RegionTooBusyException", overloaded: true, callOnly: true, remedy: "wait", pause: pauseOverloaded, location: kept},
	{class: "CallQueueTooBigException", remedy: "wait", pause: pauseOverloaded, location: kept},
	{class: "CallDroppedException", remedy: "wait", pause: pauseOverloaded, location: kept},
	{class: "quotas.RpcThrottlingException", message: "number of requests exceeded - wait 13ms", remedy: "wait", pause: pauseThrottled, location: kept},
	{class: "RetryImmediatelyException", remedy: "wait", pause: noPause, uncounted: true, location: kept},
	{class: "MultiActionResultTooLarge", regional: true, remedy: "wait", pause: noPause, uncounted: true, location: kept},
	{class: "exceptions.RequestTooBigException", doNotRetry: true, callOnly: true, remedy: "split", pause: noPause, uncounted: true, location: kept, final: BadRow},
	{class: "PleaseHoldException", remedy: "wait", pause: pauseTable, location: kept},
	{class: "ipc.ServerNotRunningYetException", callOnly: true, remedy: "relocate", pause: pauseTable, location: dropped},
	{class: "regionserver.RegionServerStoppedException", callOnly: true, remedy: "relocate", pause: pauseTable, location: deserted},
	{class: "regionserver.RegionServerAbortedException", callOnly: true, remedy: "relocate", pause: pauseTable, location: deserted},
	{class: "regionserver.WrongRegionException", remedy: "relocate", pause: pauseTable, location: dropped},
	{class: "DoNotRetryIOException", doNotRetry: true, final: Refused},
	{class: "regionserver.NoSuchColumnFamilyException", doNotRetry: true, final: NoTable},
	{class: "exceptions.FailedSanityCheckException", doNotRetry: true, final: Refused},
	{class: "TableNotFoundException", doNotRetry: true, final: NoTable},
	{class: "TableNotEnabledException", doNotRetry: true, final: NoTable},
	{class: "security.AccessDeniedException", doNotRetry: true, final: Denied},
	{class: "InvalidFamilyOperationException", doNotRetry: true, final: NoTable},
	{class: "exceptions.UnknownProtocolException", doNotRetry: true, final: Refused},
	{class: "quotas.SpaceLimitingException", doNotRetry: true, final: Refused},
	{class: "UnknownScannerException", doNotRetry: true, final: Refused, reads: "reopened"},
	{class: "exceptions.OutOfOrderScannerNextException", doNotRetry: true, final: Refused, reads: "reopened"},
	{class: "exceptions.ScannerResetException", doNotRetry: true, final: Refused, reads: "reopened"},
	{class: "regionserver.LeaseException", doNotRetry: true, final: Refused, reads: "reopened"},
	{class: "some.UnknownException", remedy: "relocate", pause: pauseTable, location: dropped},
	{class: "some.UnknownException", overloaded: true, callOnly: true, remedy: "relocate", pause: pauseOverloaded, location: dropped},
	{class: "some.UnknownException", doNotRetry: true, callOnly: true, final: Refused},
	{class: "RegionTooBusyException", doNotRetry: true, callOnly: true, final: Refused},
}

func (e *exceptionCase) name() string {
	n := e.class
	if e.message != "" {
		n += " " + strings.Fields(e.message)[0]
	}
	if e.overloaded {
		n += " overloaded"
	}
	if e.doNotRetry {
		n += " do-not-retry"
	}
	return n
}

// exceptionBench is an embedded server with a table of three regions and a log of the mutations applied to it, and a client that knows the
// regions' locations and records its retries.
type exceptionBench struct {
	*embedded.Server
	c       *Client
	opts    Options
	applied map[string]int
	mu      sync.Mutex
	retries []RetryInfo
	places  []string // servers of the regions in the cache at the first retry; "" is unknown
}

var benchRows = []string{"a", "h", "z"} // one in each region; the region of h fails

func newExceptionBench(t *testing.T, retries int) *exceptionBench {
	b := &exceptionBench{applied: map[string]int{}}
	b.Server = startEmbedded(t, embedded.Options{Applied: func(a embedded.Applied) {
		if a.Table == "t" {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.applied[string(a.Row)]++
		}
	}})
	b.opts = Options{Connect: "rpc://" + b.Addr(), Pause: pauseTable, PauseServerOverloaded: pauseOverloaded, Retries: retries}
	b.opts.Hooks.Retry = func(r RetryInfo) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.retries = append(b.retries, r); len(b.retries) == 1 {
			b.places = b.cached()
		}
	}
	b.c = open(t, b.opts)
	createTable(t, b.c, "t", "g", "p")
	if failed := land(t, b.c, puts(benchRows...)); failed != nil {
		t.Fatal(failed)
	}
	b.applied = map[string]int{}
	return b
}

func (b *exceptionBench) cached() (places []string) {
	for _, row := range benchRows {
		place := ""
		if r := b.c.locator.Cached("t", []byte(row)); r != nil {
			place = r.Server
		}
		places = append(places, place)
	}
	return places
}

// fail makes the next n calls of a method that include h's region fail with the exception.
func (b *exceptionBench) fail(t *testing.T, method string, e *exceptionCase, whole bool, n int) {
	host, port, err := net.SplitHostPort(b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	other := map[string]string{"127.0.0.1": "localhost"}[host]
	x := &embedded.Exception{
		Class: remote.Package + e.class, Message: strings.NewReplacer("$HOST", other, "$PORT", port).Replace(e.message),
		DoNotRetry: e.doNotRetry, ServerOverloaded: e.overloaded,
	}
	failing := string(b.c.locator.Cached("t", []byte("h")).Name)
	t.Cleanup(b.Control(method, func(r *embedded.Request) *embedded.Outcome {
		if !strings.Contains(fmt.Sprint(r.Param), failing[:len("t,g,")]) || n == 0 {
			return nil
		}
		n--
		r.Keep()
		if whole {
			return &embedded.Outcome{Exception: x}
		}
		return &embedded.Outcome{Regions: map[string]*embedded.Exception{failing: x}}
	}))
}

// checkLocation compares the cache at the first retry with what the exception requires.
func (b *exceptionBench) checkLocation(t *testing.T, want string) {
	t.Helper()
	here := b.Addr()
	_, port, _ := net.SplitHostPort(here)
	expect := map[string][]string{
		kept: {here, here, here}, dropped: {here, "", here}, replaced: {here, "localhost:" + port, here}, deserted: {"", "", ""},
	}[want]
	if !slices.Equal(b.places, expect) {
		t.Errorf("locations %q, want %q (%s)", b.places, expect, want)
	}
}

// Every exception, answered once to a Multi: for one of three regions, or for a whole call to that region.
func TestExceptionsOfAMulti(t *testing.T) {
	for i := range exceptionCases {
		e := &exceptionCases[i]
		for _, whole := range []bool{false, true} {
			if e.callOnly && !whole || e.regional && whole {
				continue
			}
			t.Run(fmt.Sprintf("%s/whole=%v", e.name(), whole), func(t *testing.T) {
				b := newExceptionBench(t, 5)
				b.fail(t, "Multi", e, whole, 1)
				rows := benchRows
				if whole {
					rows = []string{"h", "hh"}
				}
				failed := land(t, b.c, puts(rows...))
				b.checkOutcome(t, e, whole, rows, failed)
			})
		}
	}
}

// A server that applies a Multi and has an empty answer for one of three regions is called again: that region's mutation is sent twice,
// those of the others once.
func TestAnswersOfAMultiThatSayNothing(t *testing.T) {
	for name, nothing := range map[string]*hbasepb.RegionActionResult{
		"no answer for the mutation":   {},
		"neither result nor exception": {ResultOrException: []*hbasepb.ResultOrException{{Index: proto.Uint32(0)}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newExceptionBench(t, 5)
			b.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
				answer := new(hbasepb.MultiResponse)
				failing := -1
				for i, a := range r.Param.(*hbasepb.MultiRequest).RegionAction {
					if strings.HasPrefix(string(a.Region.Value), "t,g,") {
						failing = i
					}
					answer.RegionActionResult = append(answer.RegionActionResult,
						&hbasepb.RegionActionResult{ResultOrException: []*hbasepb.ResultOrException{applied(0)}})
				}
				if failing < 0 {
					return nil
				}
				answer.RegionActionResult[failing] = nothing
				return &embedded.Outcome{Apply: true, Answer: answer}
			})
			if failed := land(t, b.c, puts(benchRows...)); failed != nil {
				t.Fatal(failed)
			}
			if len(b.retries) != 1 || b.retries[0].Remedy != "relocate" {
				t.Errorf("retries %+v, want one, by relocate", b.retries)
			}
			if b.applied["a"] != 1 || b.applied["h"] != 2 || b.applied["z"] != 1 {
				t.Errorf("applied %v", b.applied)
			}
			b.checkLocation(t, dropped)
		})
	}
}

func (b *exceptionBench) checkOutcome(t *testing.T, e *exceptionCase, whole bool, rows []string, failed []MutationError) {
	t.Helper()
	isolated := whole && e.final == Refused && remote.Diagnose(&remote.Exception{Class: remote.Package + e.class, DoNotRetry: e.doNotRetry}).Remedy == remote.Isolate
	if e.final != 0 && e.remedy == "" && !isolated {
		if len(failed) == 0 || failed[0].Kind != e.final || failed[0].Attempts != 1 || failed[0].Class != remote.Package+e.class || len(b.retries) > 0 {
			t.Fatalf("failed %+v, retries %+v; want it given up at once, as %v", failed, b.retries, e.final)
		}
		if !whole && (len(failed) != 1 || b.applied["h"] != 0 || b.applied["a"] != 1 || b.applied["z"] != 1) {
			t.Errorf("failed %+v, applied %v: the others go on", failed, b.applied)
		}
		return
	}
	if failed != nil {
		t.Fatal(failed)
	}
	for _, row := range rows {
		if b.applied[row] != 1 {
			t.Errorf("applied %v: each once", b.applied)
		}
	}
	if isolated {
		if len(b.retries) != 1 || b.retries[0].Remedy != "isolate" || b.retries[0].Pause != 0 {
			t.Errorf("retries %+v: two mutations are refused together, so each is tried alone", b.retries)
		}
		return
	}
	if len(b.retries) != 1 {
		t.Fatalf("retries %+v, want one", b.retries)
	}
	r := b.retries[0]
	if r.Remedy != e.remedy || r.Class != remote.Package+e.class {
		t.Errorf("retry %+v, want remedy %s", r, e.remedy)
	}
	if r.Pause < e.pause || r.Pause > e.pause+e.pause/100 || e.pause == pauseThrottled && r.Pause != e.pause {
		t.Errorf("pause %v, want %v", r.Pause, e.pause)
	}
	b.checkLocation(t, e.location)
}

// If it is answered again and again, an exception uses up the retries, unless it is nobody's fault.
func TestExceptionsThatCount(t *testing.T) {
	for i := range exceptionCases {
		e := &exceptionCases[i]
		if e.final != 0 || e.regional {
			continue
		}
		t.Run(e.name(), func(t *testing.T) {
			const retries = 2
			b := newExceptionBench(t, retries)
			b.fail(t, "Multi", e, true, 6)
			failed := land(t, b.c, puts("h"))
			switch {
			case e.uncounted && failed != nil:
				t.Errorf("%+v: it must not count", failed)
			case !e.uncounted && (len(failed) != 1 || failed[0].Kind != Transient || failed[0].Attempts != retries+1):
				t.Errorf("%+v, want it given back after %d tries", failed, retries+1)
			}
			if want := map[bool]int{true: 1, false: 0}[e.uncounted]; b.applied["h"] != want {
				t.Errorf("applied %v", b.applied)
			}
		})
	}
}

// Every exception, answered once to a get and to each call of a scan.
func TestExceptionsOfReads(t *testing.T) {
	for i := range exceptionCases {
		e := &exceptionCases[i]
		if e.regional {
			continue
		}
		t.Run("get/"+e.name(), func(t *testing.T) {
			b := newExceptionBench(t, 5)
			b.fail(t, "Get", e, true, 1)
			got, err := b.c.Get(t.Context(), "t", Get{Row: []byte("h")})
			b.checkRead(t, e, e.final != 0 && e.reads == "", len(got.Cells), err)
		})
		t.Run("scan/"+e.name(), func(t *testing.T) {
			b := newExceptionBench(t, 5)
			b.fail(t, "Scan", e, true, 1)
			rows := 0
			var failed error
			for _, err := range b.c.Scan(t.Context(), "t", Scan{Start: []byte("g"), Stop: []byte("p")}) {
				if failed = err; err == nil {
					rows++
				}
			}
			b.checkRead(t, e, e.final != 0 && e.reads == "", rows, failed)
		})
	}
}

func (b *exceptionBench) checkRead(t *testing.T, e *exceptionCase, final bool, found int, err error) {
	t.Helper()
	if final {
		if ours, ok := errors.AsType[*Error](err); !ok || ours.Class != remote.Package+e.class || ours.Attempts != 1 {
			t.Errorf("error %v, want %s at once", err, e.class)
		}
		return
	}
	if err != nil || found != 1 || len(b.retries) != 1 {
		t.Fatalf("found %d, error %v, retries %+v", found, err, b.retries)
	}
	if e.reads == "" && b.retries[0].Remedy != e.remedy {
		t.Errorf("retry %+v, want remedy %s", b.retries[0], e.remedy)
	}
}

// If a server refuses the handshake for good, the error is reported at once, in the server's words.
func TestFatalAnswersToTheHandshake(t *testing.T) {
	for _, tt := range []struct {
		class  string
		change func(preamble []byte, h *hbasepb.ConnectionHeader)
		kind   Kind
	}{
		{"ipc.WrongVersionException", func(p []byte, _ *hbasepb.ConnectionHeader) { p[4] = 9 }, Refused},
		{"ipc.BadAuthException", func(p []byte, _ *hbasepb.ConnectionHeader) { p[5] = 81 }, Denied},
		{"ipc.FatalConnectionException", func(p []byte, _ *hbasepb.ConnectionHeader) { p[0] = 'h' }, Refused},
		{"ipc.UnknownServiceException", func(_ []byte, h *hbasepb.ConnectionHeader) { h.ServiceName = proto.String("NoService") }, Refused},
		{"ipc.UnsupportedCellCodecException", func(_ []byte, h *hbasepb.ConnectionHeader) { h.CellBlockCodecClass = proto.String("no.Codec") }, Refused},
		{"ipc.UnsupportedCompressionCodecException", func(_ []byte, h *hbasepb.ConnectionHeader) {
			h.CellBlockCompressorClass = proto.String("no.Compressor")
		}, Denied}, // not a mutation's fault: only the setting fixes it
	} {
		t.Run(tt.class, func(t *testing.T) {
			s := startEmbedded(t, embedded.Options{})
			createTable(t, open(t, patient("rpc://"+s.Addr())), "t")
			opts := patient("rpc://" + s.Addr())
			opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &changedHello{Conn: c, change: tt.change}, err
			}
			c := open(t, opts)
			failed := land(t, c, puts("a", "b"))
			if len(failed) != 2 || failed[0].Kind != tt.kind || failed[0].Class != remote.Package+tt.class {
				t.Fatalf("%+v", failed)
			}
			if !strings.Contains(failed[0].Err.Error(), s.Addr()) {
				t.Errorf("the error names no server: %v", failed[0].Err)
			}
		})
	}
}

// changedHello modifies the handshake of connections to the ClientService.
type changedHello struct {
	net.Conn
	change func(preamble []byte, h *hbasepb.ConnectionHeader)
	said   bool
}

func (c *changedHello) Write(b []byte) (int, error) {
	if c.said {
		return c.Conn.Write(b)
	}
	c.said = true
	h := new(hbasepb.ConnectionHeader)
	if err := proto.Unmarshal(b[wire.PreambleLen+wire.PrefixLen:], h); err != nil {
		return 0, err
	}
	if h.GetServiceName() != "ClientService" {
		return c.Conn.Write(b)
	}
	hello := slices.Clone(b[:wire.PreambleLen])
	c.change(hello, h)
	hello, err := wire.AppendConnectionHeader(hello, h)
	if err != nil {
		return 0, err
	}
	if _, err := c.Conn.Write(hello); err != nil {
		return 0, err
	}
	return len(b), nil
}
