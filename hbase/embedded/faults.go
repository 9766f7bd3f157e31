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

// Request is a request as a control function sees it. Param is the method's message (a *hbasepb.MultiRequest for "Multi");
// neither it nor Cells may be changed, nor kept after the function returned.
type Request struct {
	Node            int // index in Server.Nodes; -1: the master by itself
	Service, Method string
	Param           proto.Message
	Cells           []byte // its cell block
	Remote          string // the client's address

	at   *node
	keep bool
}

// Keep keeps the control function registered also after this request.
func (r *Request) Keep() { r.keep = true }

// Tables returns the names of the tables that the request is about: of its regions, of the scanner that it goes on with, or that its
// message names.
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

// Rows returns the rows that the request is about: those that it reads or changes, and where a scan begins.
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

// mentioned calls add with the tables that a message names by themselves or by their regions.
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

// tableOf returns the table of a region, which is named by its name or encoded name; empty when there is none.
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

// TableOf returns the table of a region, which is named by its name or encoded name; empty when there is none.
func (s *Server) TableOf(region string) string { return s.cluster.tableOf(region) }

// Serves reports whether there is a method of that name, which Control can wait for.
func Serves(method string) bool {
	for _, methods := range services {
		if _, ok := methods[method]; ok {
			return true
		}
	}
	return false
}

// FillDisk has the server answer as one whose disk is full, in memory too, until it is called with false: every call that reads or writes
// gets an IOException that may be retried, and what was acknowledged is there afterwards.
func (s *Server) FillDisk(full bool) { s.cluster.store.Fill(full) }

// Outcome is what a control function makes of a request. The zero Outcome handles it as usual.
type Outcome struct {
	Delay time.Duration   // wait before anything else
	Until <-chan struct{} // and until this is closed

	Exception *Exception    // answer with it
	Answer    proto.Message // answer with it
	Drop      bool          // close the connection instead of answering
	Silent    bool          // never answer
	Apply     bool          // handle the request nonetheless: the client cannot know that it was applied

	// Regions fails the named regions of a Multi (by name or encoded name) and leaves the others alone; Rows fails
	// single mutations and gets by their row. What fails so is not applied.
	Regions map[string]*Exception
	Rows    map[string]*Exception
}

// controls are the registered control functions, oldest first.
type controls struct {
	mu  sync.Mutex
	all []*control
}

type control struct {
	method string
	f      func(*Request) *Outcome
}

// Control registers a function for the requests of a method ("Multi", "Scan", "Get", "CreateTable" …; "" means all). It is
// called before the request is handled and may seize it by returning an Outcome: once, after which it is forgotten, unless it
// calls the request's Keep. Returning nil leaves the request to others, and the function registered: so it can observe, or wait
// for the one request it is meant for. Functions are called one at a time and must not block: an Outcome with Until does.
// The returned function removes the registration.
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

// ask returns the outcome of the first function that seizes the request, nil when none does.
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

// before waits as the outcome says and reports whether the server is still there.
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

// handle returns the outcome's answer, after the handler's work when the request is applied nonetheless.
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

// region returns the exception that a control function wants for a region of a Multi.
func (o *Outcome) region(r *region) *Exception {
	if o == nil {
		return nil
	}
	if e := o.Regions[string(r.name)]; e != nil {
		return e
	}
	return o.Regions[r.encoded]
}

// action returns the exception that a control function wants for one action.
func (o *Outcome) action(a *hbasepb.Action) *Exception {
	if o == nil || o.Rows == nil {
		return nil
	}
	if g := a.GetGet(); g != nil {
		return o.Rows[string(g.GetRow())]
	}
	return o.Rows[string(a.GetMutation().GetRow())]
}

// CutMeta makes hbase:meta unreachable: calls of its region are never answered, until fix is called.
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

// HoldMaster makes the master answer PleaseHoldException, as one that has just started, until release is called.
func (s *Server) HoldMaster() (release func()) {
	s.cluster.waiting.Add(1)
	return sync.OnceFunc(func() { s.cluster.waiting.Add(-1) })
}
