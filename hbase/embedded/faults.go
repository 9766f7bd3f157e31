package embedded

import (
	"context"
	"slices"
	"sync"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Request is a request as a control function sees it. Param is the method's message (a *hbasepb.MultiRequest for "Multi"). The function
// must not change Param or Cells, nor keep them after it returns.
type Request struct {
	Node            int // index in Server.Nodes; -1: the separate master
	Service, Method string
	Param           proto.Message
	Cells           []byte // its cell block
	Remote          string // the client's address

	at   *node
	keep bool
}

// Keep keeps the control function registered after this request.
func (r *Request) Keep() { r.keep = true }

// Tables returns the names of the tables that the request concerns: those of its regions, of the scanner that it continues, and those named
// in its message.
func (r *Request) Tables() (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch p := r.Param.(type) {
	case *hbasepb.MultiRequest:
		for _, a := range p.RegionAction {
			add(r.at.cluster.tableOf(string(a.Region.GetValue())))
		}
		return names
	case *hbasepb.ScanRequest:
		if p.ScannerId != nil {
			add(r.at.scanners.table(p.GetScannerId()))
			return names
		}
	}
	r.at.cluster.mentioned(r.Param.ProtoReflect(), add)
	return names
}

// Rows returns the rows that the request reads or changes, and the start row of a scan.
func (r *Request) Rows() (rows [][]byte) {
	switch p := r.Param.(type) {
	case *hbasepb.GetRequest:
		return [][]byte{p.Get.GetRow()}
	case *hbasepb.MutateRequest:
		return [][]byte{p.Mutation.GetRow()}
	case *hbasepb.ScanRequest:
		if p.Scan != nil {
			return [][]byte{p.Scan.GetStartRow()}
		}
	case *hbasepb.MultiRequest:
		for _, of := range p.RegionAction {
			for _, a := range of.Action {
				if g := a.GetGet(); g != nil {
					rows = append(rows, g.GetRow())
				} else {
					rows = append(rows, a.GetMutation().GetRow())
				}
			}
		}
	}
	return rows
}

// mentioned calls add with each table that a message names directly or by a region.
func (c *cluster) mentioned(m protoreflect.Message, add func(table string)) {
	switch p := m.Interface().(type) {
	case *hbasepb.TableName:
		add(nameOf(p).String())
		return
	case *hbasepb.RegionSpecifier:
		add(c.tableOf(string(p.GetValue())))
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				c.mentioned(v.List().Get(i).Message(), add)
			}
		default:
			c.mentioned(v.Message(), add)
		}
		return true
	})
}

// tableOf returns the table of a region, given by its name or encoded name, or "" if there is no such region.
func (c *cluster) tableOf(region string) string {
	if isMeta(region) {
		return metaName.String()
	}
	if r, err := c.named(region); err == nil {
		return r.table.name.String()
	}
	for _, t := range c.sorted() {
		if c.hasReplica(t, region) {
			return t.name.String()
		}
	}
	return ""
}

// TableOf returns the table of a region, given by its name or encoded name, or "" if there is no such region.
func (s *Server) TableOf(region string) string { return s.cluster.tableOf(region) }

// Serves reports whether the server has a method of that name, which Control can intercept.
func Serves(method string) bool {
	for _, methods := range services {
		if _, ok := methods[method]; ok {
			return true
		}
	}
	return false
}

// FillDisk(true) makes the server behave as if its disk were full, even in memory, until FillDisk(false): every call that reads or writes
// gets an IOException that may be retried. Acknowledged writes are there afterwards.
func (s *Server) FillDisk(full bool) { s.cluster.store.Fill(full) }

// Outcome is what a control function does with a request. The zero Outcome handles it as usual.
type Outcome struct {
	Delay time.Duration   // wait before anything else
	Until <-chan struct{} // and wait until this is closed

	Exception *Exception    // answer with it
	Answer    proto.Message // answer with it
	Drop      bool          // close the connection instead of answering
	Silent    bool          // never answer
	Apply     bool          // also handle the request, so that the client cannot know whether it was applied

	// Regions fails the named regions of a Multi (by name or encoded name) and leaves the others alone. Rows fails single mutations and gets
	// by their row. What fails this way is not applied.
	Regions map[string]*Exception
	Rows    map[string]*Exception
}

// controls holds the registered control functions, oldest first.
type controls struct {
	mu  sync.Mutex
	all []*control
}

type control struct {
	method string
	f      func(*Request) *Outcome
}

// Control registers a function for the requests of a method ("Multi", "Scan", "Get", "CreateTable" …; "" means all). The server calls it
// before it handles a request. By returning an Outcome the function seizes the request and is removed, unless it called the request's Keep.
// By returning nil it leaves the request to other functions and stays registered, so that it can observe, or wait for the one request that
// it is meant for. Functions are called one at a time and must not block; use an Outcome with Until to block. The returned function removes
// the registration.
func (s *Server) Control(method string, f func(*Request) *Outcome) (remove func()) {
	c := &control{method: method, f: f}
	s.controls.mu.Lock()
	defer s.controls.mu.Unlock()
	s.controls.all = append(s.controls.all, c)
	return func() {
		s.controls.mu.Lock()
		defer s.controls.mu.Unlock()
		s.controls.drop(c)
	}
}

func (cs *controls) drop(c *control) {
	cs.all = slices.DeleteFunc(cs.all, func(o *control) bool { return o == c })
}

// ask returns the outcome of the first function that seizes the request, or nil if none does.
func (cs *controls) ask(r *Request) *Outcome {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range slices.Clone(cs.all) {
		if c.method != "" && c.method != r.Method {
			continue
		}
		r.keep = false
		if o := c.f(r); o != nil {
			if !r.keep {
				cs.drop(c)
			}
			return o
		}
	}
	return nil
}

// before waits as the outcome demands and reports whether the server is still running.
func (o *Outcome) before(ctx context.Context) bool {
	if o == nil {
		return true
	}
	if o.Delay > 0 {
		t := time.NewTimer(o.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return false
		}
	}
	if o.Until != nil {
		select {
		case <-o.Until:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (o *Outcome) dropped() bool { return o != nil && o.Drop }
func (o *Outcome) silent() bool  { return o != nil && o.Silent }

// handle returns the outcome's answer. If the outcome has Apply, the handler runs first.
func (o *Outcome) handle(ctx context.Context, k *call, m method, param proto.Message) (proto.Message, error) {
	seized := o.Exception != nil || o.Answer != nil || o.Drop || o.Silent
	if !seized || o.Apply {
		k.faults = o
		r, err := k.answer(ctx, m, param)
		if !seized {
			return r, err
		}
		k.out = nil
	}
	if o.Exception != nil {
		return nil, o.Exception
	}
	return o.Answer, nil
}

// region returns the exception that the outcome has for a region of a Multi, if any.
func (o *Outcome) region(r *region) *Exception {
	if o == nil {
		return nil
	}
	if e := o.Regions[string(r.name)]; e != nil {
		return e
	}
	return o.Regions[r.encoded]
}

// action returns the exception that the outcome has for one action, if any.
func (o *Outcome) action(a *hbasepb.Action) *Exception {
	if o == nil || o.Rows == nil {
		return nil
	}
	if g := a.GetGet(); g != nil {
		return o.Rows[string(g.GetRow())]
	}
	return o.Rows[string(a.GetMutation().GetRow())]
}

// CutMeta makes hbase:meta unreachable: calls to its region are never answered until fix is called.
func (s *Server) CutMeta() (fix func()) {
	return s.Control("", func(r *Request) *Outcome {
		p, ok := r.Param.(interface {
			GetRegion() *hbasepb.RegionSpecifier
		})
		if !ok || p.GetRegion() == nil || !isMeta(string(p.GetRegion().GetValue())) {
			return nil
		}
		r.Keep()
		return &Outcome{Silent: true}
	})
}

// HoldMaster makes the master answer PleaseHoldException, as if it had just started, until release is called.
func (s *Server) HoldMaster() (release func()) {
	s.cluster.waiting.Add(1)
	return sync.OnceFunc(func() { s.cluster.waiting.Add(-1) })
}
