package faulthttp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

const (
	maxFaults = 1000
	maxDelay  = time.Hour
)

// Fault describes what happens to which requests. It matches requests that match all fields of the first group.
type Fault struct {
	ID int `json:"id"`

	Call      string `json:"call,omitempty"`       // HBase's method (Get, Scan, Mutate, Multi, CreateTable …), or read, write, admin
	Table     string `json:"table,omitempty"`      // namespace:name, or name
	Row       string `json:"row,omitempty"`        // read or changed, or the start row of a scan
	RowBase64 string `json:"row_base64,omitempty"` // the same, for rows that are not text
	RowPrefix string `json:"row_prefix,omitempty"`
	Node      *int   `json:"node,omitempty"` // number of the region server; -1: the separate master

	After  int  `json:"after,omitempty"`  // number of matching requests to let pass first
	Count  int  `json:"count,omitempty"`  // number of requests then affected; default 1
	Always bool `json:"always,omitempty"` // affect requests until the fault is deleted, instead of Count

	Delay   string `json:"delay,omitempty"`   // wait before anything else
	Fail    string `json:"fail,omitempty"`    // answer with this exception; in a Multi only for the rows and tables that match
	Message string `json:"message,omitempty"` // of the exception; default as HBase writes it
	Drop    bool   `json:"drop,omitempty"`    // close the connection instead of answering
	Silent  bool   `json:"silent,omitempty"`  // never answer
	Apply   bool   `json:"apply,omitempty"`   // with fail, drop or silent: execute the whole request nonetheless

	Hits int  `json:"hits"` // number of requests affected
	Done bool `json:"done"` // no further request will be affected
}

// fault is a registered Fault.
type fault struct {
	server *embedded.Server
	row    []byte
	delay  time.Duration
	thrown *embedded.Exception
	remove func()

	mu   sync.Mutex
	say  Fault
	seen int
}

// faults are the registered faults in order.
type faults struct {
	mu   sync.Mutex
	all  []*fault
	last int
}

// newFault returns a fault, or an error if say is invalid.
func newFault(server *embedded.Server, say Fault) (*fault, error) {
	f := &fault{server: server, say: say, row: []byte(say.Row)}
	var err error
	switch {
	case say.ID != 0 || say.Hits != 0 || say.Done:
		return nil, badRequest("id, hits and done are only for answers")
	case say.Row != "" && say.RowBase64 != "":
		return nil, badRequest("give row or row_base64")
	case say.After < 0 || say.Count < 0 || say.Always && say.Count > 0:
		return nil, badRequest("after and count must be at least 0, and count cannot be combined with always")
	case !slices.Contains([]string{"", "read", "write", "admin"}, say.Call) && !embedded.Serves(say.Call):
		return nil, badRequest("call: unknown %q: use a method of HBase (Get, Scan, Mutate, Multi, CreateTable …), read, write or admin",
			say.Call)
	case say.Fail == "" && (say.Message != "" || say.Apply && !say.Drop && !say.Silent):
		return nil, badRequest("message and apply require fail")
	case say.Fail == "" && !say.Drop && !say.Silent && say.Delay == "":
		return nil, badRequest("give delay, fail, drop or silent")
	case say.Fail != "" && (say.Drop || say.Silent) || say.Drop && say.Silent:
		return nil, badRequest("give one of fail, drop and silent")
	}
	if say.RowBase64 != "" {
		if f.row, err = base64.StdEncoding.DecodeString(say.RowBase64); err != nil {
			return nil, badRequest("row_base64: %v", err)
		}
	}
	if say.Delay != "" {
		if f.delay, err = time.ParseDuration(say.Delay); err != nil || f.delay <= 0 || f.delay > maxDelay {
			return nil, badRequest("delay: give a duration such as 250ms or 10s, up to %v", maxDelay)
		}
	}
	if say.Fail != "" {
		name := say.Fail[strings.LastIndexByte(say.Fail, '.')+1:]
		if f.thrown = embedded.Exceptions()[name]; f.thrown == nil {
			return nil, badRequest("fail: unknown exception %q: use a simple name such as NotServingRegionException", say.Fail)
		}
		f.thrown.Message = cmp.Or(say.Message, f.thrown.Message)
	}
	if !say.Always {
		f.say.Count = max(say.Count, 1)
	}
	return f, nil
}

// seize is the control function of the fault.
func (f *fault) seize(r *embedded.Request) *embedded.Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.say.Done || !f.fits(r) {
		return nil
	}
	if f.seen++; f.seen <= f.say.After {
		return nil
	}
	f.say.Hits++
	if f.say.Done = !f.say.Always && f.say.Hits >= f.say.Count; !f.say.Done {
		r.Keep()
	}
	return f.outcome(r)
}

func (f *fault) fits(r *embedded.Request) bool {
	return (f.say.Node == nil || *f.say.Node == r.Node) && f.fitsCall(r) &&
		(f.say.Table == "" || slices.Contains(r.Tables(), f.say.Table)) &&
		(!f.ofRows() || slices.ContainsFunc(r.Rows(), f.fitsRow))
}

func (f *fault) fitsCall(r *embedded.Request) bool {
	switch f.say.Call {
	case "", r.Method:
		return true
	case "admin":
		return r.Service == "MasterService" || r.Service == "AdminService"
	case "read":
		return r.Method == "Get" || r.Method == "Scan" || hasAction(r, (*hbasepb.Action).GetGet)
	case "write":
		return r.Method == "Mutate" || hasAction(r, (*hbasepb.Action).GetMutation)
	}
	return false
}

// hasAction reports whether a request is a Multi with an action of a kind.
func hasAction[T any](r *embedded.Request, of func(*hbasepb.Action) *T) bool {
	m, ok := r.Param.(*hbasepb.MultiRequest)
	return ok && slices.ContainsFunc(m.RegionAction, func(a *hbasepb.RegionAction) bool {
		return slices.ContainsFunc(a.Action, func(a *hbasepb.Action) bool { return of(a) != nil })
	})
}

func (f *fault) ofRows() bool { return len(f.row) > 0 || f.say.RowPrefix != "" }

func (f *fault) fitsRow(row []byte) bool {
	return (len(f.row) == 0 || bytes.Equal(row, f.row)) && bytes.HasPrefix(row, []byte(f.say.RowPrefix))
}

// outcome returns the outcome for a matching request.
func (f *fault) outcome(r *embedded.Request) *embedded.Outcome {
	o := &embedded.Outcome{Delay: f.delay, Drop: f.say.Drop, Silent: f.say.Silent, Apply: f.say.Apply}
	m, multi := r.Param.(*hbasepb.MultiRequest)
	switch {
	case f.thrown == nil:
	case multi && !f.say.Apply && f.ofRows():
		o.Rows = map[string]*embedded.Exception{}
		for _, row := range r.Rows() {
			if f.fitsRow(row) {
				o.Rows[string(row)] = f.thrown
			}
		}
	case multi && !f.say.Apply && f.say.Table != "":
		o.Regions = map[string]*embedded.Exception{}
		for _, a := range m.RegionAction {
			if name := string(a.Region.GetValue()); f.server.TableOf(name) == f.say.Table {
				o.Regions[name] = f.thrown
			}
		}
	default:
		o.Exception = f.thrown
	}
	return o
}

func (f *fault) said() Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.say
}

func (p *port) addFault(r *http.Request) (any, error) {
	var say Fault
	if err := read(r, &say); err != nil {
		return nil, err
	}
	f, err := newFault(p.server, say)
	if err != nil {
		return nil, err
	}
	return p.faults.add(f)
}

func (fs *faults) add(f *fault) (any, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if len(fs.all) >= maxFaults { // finished faults make room
		fs.all = slices.DeleteFunc(fs.all, func(f *fault) bool { return f.said().Done })
	}
	if len(fs.all) >= maxFaults {
		return nil, badRequest("there are already %d faults: delete some", len(fs.all))
	}
	fs.last++
	f.say.ID = fs.last
	answer := f.say
	f.remove = f.server.Control("", f.seize)
	fs.all = append(fs.all, f)
	return answer, nil
}

func (p *port) listFaults(*http.Request) (any, error) { return p.faults.list(), nil }

func (fs *faults) list() []Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	said := []Fault{}
	for _, f := range fs.all {
		said = append(said, f.said())
	}
	return said
}

func (p *port) dropFaults(*http.Request) (any, error) {
	p.faults.drop(func(int) bool { return true })
	return p.faults.list(), nil
}

func (p *port) dropFault(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || p.faults.drop(func(n int) bool { return n == id }) == 0 {
		return nil, notFound("there is no fault %q", r.PathValue("id"))
	}
	return p.faults.list(), nil
}

// drop removes faults by id and returns the number removed.
func (fs *faults) drop(which func(id int) bool) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	before := len(fs.all)
	fs.all = slices.DeleteFunc(fs.all, func(f *fault) bool {
		if !which(f.said().ID) {
			return false
		}
		f.remove()
		return true
	})
	return before - len(fs.all)
}
