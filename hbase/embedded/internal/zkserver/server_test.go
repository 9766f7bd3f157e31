package zkserver

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is the znodes of a test, which can change them.
type world struct {
	mu     sync.Mutex
	znodes map[string][]byte
}

func (w *world) get() map[string][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.znodes)
}

func (w *world) set(name, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.znodes[name] = []byte(value)
}

func (w *world) remove(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.znodes, name)
}

func start(t testing.TB) (*Server, *world) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{znodes: map[string][]byte{"/hbase/master": []byte("m1"), "/hbase/rs/a": nil}}
	s := New(l, w.get, nil)
	t.Cleanup(s.Close)
	return s, w
}

// peer is a client that speaks the protocol byte by byte, without our client's code.
type peer struct {
	t        *testing.T
	c        net.Conn
	session  int64
	password []byte
	timeout  int32
	xid      int32
}

// greet connects, with or without a session.
func greet(t *testing.T, s *Server, session int64, password []byte) *peer {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	p := &peer{t: t, c: c}
	b := appendLong(appendInt(appendLong(appendInt(nil, 0), 0), 10_000), session)
	p.write(append(appendBytes(b, password), 0))
	q := p.read()
	q.int()
	p.timeout, p.session, p.password = q.int(), q.long(), q.bytes()
	if q.err != nil || len(q.rest) != 1 {
		t.Fatalf("welcome: %v, %d bytes are left", q.err, len(q.rest))
	}
	return p
}

func (p *peer) write(message []byte) {
	p.t.Helper()
	if _, err := p.c.Write(appendBytes(nil, message)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) read() *request {
	p.t.Helper()
	var prefix [4]byte
	if _, err := io.ReadFull(p.c, prefix[:]); err != nil {
		p.t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint32(prefix[:]))
	if _, err := io.ReadFull(p.c, b); err != nil {
		p.t.Fatal(err)
	}
	return &request{rest: b}
}

// ask sends a request and returns its answer.
func (p *peer) ask(op int32, body []byte) (code int32, rest *request) {
	p.t.Helper()
	p.xid++
	p.write(append(appendInt(appendInt(nil, p.xid), op), body...))
	q := p.read()
	if xid := q.int(); xid != p.xid {
		p.t.Fatalf("the answer is to %d, not to %d", xid, p.xid)
	}
	q.long()
	return q.int(), q
}

func of(name string, watched bool) []byte {
	return append(appendString(nil, name), map[bool]byte{true: 1}[watched])
}

// event reads a watch's event.
func (p *peer) event() (kind int32, name string) {
	p.t.Helper()
	q := p.read()
	if xid := q.int(); xid != xidEvent {
		p.t.Fatalf("an answer to %d came before the event", xid)
	}
	q.long()
	q.int()
	kind = q.int()
	q.int()
	return kind, q.string()
}

func TestZnodesAreRead(t *testing.T) {
	s, _ := start(t)
	p := greet(t, s, 0, make([]byte, passwordLen))
	if p.session == 0 || p.timeout != 10_000 {
		t.Errorf("session %d, time-out %d", p.session, p.timeout)
	}
	const stat = 68
	for _, c := range []struct {
		name string
		op   int32
		path string
		code int32
		want []byte // before the Stat
		stat bool
	}{
		{"data", opGetData, "/hbase/master", 0, appendString(nil, "m1"), true},
		{"data of a parent", opGetData, "/hbase", 0, appendString(nil, ""), true},
		{"exists", opExists, "/hbase/master", 0, nil, true},
		{"does not exist", opExists, "/hbase/none", codeNoNode, nil, false},
		{"children", opGetChildren, "/hbase", 0, appendStrings(nil, []string{"master", "rs"}), false},
		{"children and Stat", opGetChildren2, "/", 0, appendStrings(nil, []string{"hbase"}), true},
		{"no children", opGetChildren, "/hbase/rs/a", 0, appendStrings(nil, nil), false},
		{"no path", opGetData, "hbase", codeBadArguments, nil, false},
		{"create", opCreate, "/hbase/x", codeNoAuth, nil, false},
		{"delete", opDelete, "/hbase/master", codeNoAuth, nil, false},
		{"create and Stat", opCreate2, "/hbase/x", codeNoAuth, nil, false},
		{"set data", opSetData, "/hbase/master", codeNoAuth, nil, false},
		{"set ACL", opSetACL, "/hbase/master", codeNoAuth, nil, false},
		{"transaction", opMulti, "/hbase", codeNoAuth, nil, false},
		{"persistent watch", 106, "/hbase", codeUnimplemented, nil, false},
		{"SASL", 102, "/hbase", codeUnimplemented, nil, false},
		{"reconfiguration", 16, "/hbase", codeUnimplemented, nil, false},
		{"unknown", 77, "/hbase", codeUnimplemented, nil, false},
		{"sync", opSync, "/hbase", 0, appendString(nil, "/hbase"), false},
	} {
		code, q := p.ask(c.op, of(c.path, false))
		want := len(c.want)
		if c.stat {
			want += stat
		}
		if code != c.code || len(q.rest) != want || !bytes.HasPrefix(q.rest, c.want) {
			t.Errorf("%s: code %d, %q; want %d, %q", c.name, code, q.rest, c.code, c.want)
		}
	}
	if code, _ := p.ask(opPing, nil); code != 0 {
		t.Errorf("ping: %d", code)
	}
	if code, _ := p.ask(opGetData, []byte{0, 0, 0, 9, 'x'}); code != codeMarshalling {
		t.Errorf("a path that ends too early: %d", code)
	}
}

// TestWatchesFireOnce: each kind of watch fires its event once, before the answer that shows the change.
func TestWatchesFireOnce(t *testing.T) {
	s, w := start(t)
	p := greet(t, s, 0, nil)
	p.ask(opGetData, of("/hbase/master", true))
	p.ask(opExists, of("/hbase/soon", true))
	p.ask(opGetChildren, of("/hbase/rs", true))
	want := []struct {
		change func()
		kind   int32
		path   string
	}{
		{func() { w.set("/hbase/master", "m2") }, eventDataChanged, "/hbase/master"},
		{func() { w.set("/hbase/soon", "") }, eventCreated, "/hbase/soon"},
		{func() { w.set("/hbase/rs/b", "") }, eventChildrenChanged, "/hbase/rs"},
	}
	for _, c := range want {
		c.change()
		s.Changed()
		if kind, name := p.event(); kind != c.kind || name != c.path {
			t.Errorf("event %d of %s, want %d of %s", kind, name, c.kind, c.path)
		}
		c.change()
		s.Changed()
	}
	w.set("/hbase/master", "m3")
	s.Changed()
	if _, q := p.ask(opGetData, of("/hbase/master", true)); string(q.bytes()) != "m3" { // ask fails if an event arrives first
		t.Error("the data is not the newest")
	}
	w.remove("/hbase/master")
	s.Changed()
	if kind, name := p.event(); kind != eventDeleted || name != "/hbase/master" {
		t.Errorf("event %d of %s", kind, name)
	}
}

// TestSessionsOutliveConnections: a client that reconnects keeps its session and gets the events that it missed. One that closed its
// session, or has the wrong password, is refused.
func TestSessionsOutliveConnections(t *testing.T) {
	s, w := start(t)
	p := greet(t, s, 0, nil)
	_, q := p.ask(opExists, of("/hbase/master", false))
	q.long()
	seen := q.long()
	p.c.Close()
	w.set("/hbase/master", "m2")
	s.Changed()
	again := greet(t, s, p.session, p.password)
	if again.session != p.session {
		t.Fatalf("session %d is %d after it came again", p.session, again.session)
	}
	again.xid = 100
	watches := appendStrings(appendStrings(appendStrings(appendLong(nil, seen), []string{"/hbase/master"}), []string{"/hbase/soon"}), nil)
	again.write(append(appendInt(appendInt(nil, 101), opSetWatches), watches...))
	if kind, name := again.event(); kind != eventDataChanged || name != "/hbase/master" {
		t.Errorf("event %d of %s", kind, name)
	}
	again.read() // the answer
	if other := greet(t, s, p.session, make([]byte, passwordLen)); other.session != 0 || other.timeout != 0 {
		t.Errorf("a wrong password has session %d", other.session)
	}
	again.xid = 101
	if code, _ := again.ask(opClose, nil); code != 0 {
		t.Errorf("close: %d", code)
	}
	if _, err := again.c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on after its session was closed")
	}
	if other := greet(t, s, p.session, p.password); other.session != 0 {
		t.Error("a session goes on after it was closed")
	}
}

// TestClientsThatDoNotRead: clients that do not read are cut off, and delay nobody.
func TestClientsThatDoNotRead(t *testing.T) {
	s, w := start(t)
	slow, other := greet(t, s, 0, nil), greet(t, s, 0, nil)
	w.set("/hbase/big", string(make([]byte, maxMessage)))
	s.Changed()
	if err := slow.c.SetWriteDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for range 100_000 { // 64 KiB each: more than all buffers between us hold
		if _, err := slow.c.Write(appendBytes(nil, append(appendInt(appendInt(nil, 1), opGetData), of("/hbase/big", false)...))); err != nil {
			break
		}
	}
	if code, _ := other.ask(opExists, of("/hbase/master", false)); code != 0 {
		t.Errorf("another client gets %d", code)
	}
}

// FuzzRequests: nothing that a client sends crashes the server or goes unanswered, except a message that is too short or too long.
func FuzzRequests(f *testing.F) {
	f.Add(append(appendInt(appendInt(nil, 1), opGetData), of("/hbase/master", true)...))
	f.Add(append(appendInt(appendInt(nil, 1), opSetWatches), appendStrings(appendLong(nil, 1), []string{"/a", "b"})...))
	f.Add(appendInt(appendInt(nil, 1), opClose))
	f.Add(append(appendInt(appendInt(nil, 1), opSetWatches), 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff))
	s := &Server{tree: map[string]*znode{"/": {}, "/a": {data: []byte("x")}}, conns: map[*conn]struct{}{}}
	f.Fuzz(func(t *testing.T, frame []byte) {
		client, ours := net.Pipe() // closed when the queue is full
		defer client.Close()
		defer ours.Close()
		c := &conn{server: s, net: ours, out: make(chan []byte, queued), watches: watches{}}
		q := request{rest: frame}
		q.xid, q.op = q.int(), q.int()
		if q.err != nil {
			return
		}
		code, body := s.answer(c, &q)
		if code != 0 && body != nil {
			t.Errorf("code %d with %q", code, body)
		}
		if _, err := parseHello(frame); err != nil {
			return
		}
	})
}

// TestChildrenAreThoseOfTheTree: names are listed once, in order, whatever is below them.
func TestChildrenAreThoseOfTheTree(t *testing.T) {
	all := withParents(map[string][]byte{"/a/b/c": nil, "/a/d": []byte("x"), "/a": []byte("y")})
	names := slices.Sorted(maps.Keys(all))
	if want := []string{"/", "/a", "/a/b", "/a/b/c", "/a/d"}; !slices.Equal(names, want) || string(all["/a"]) != "y" {
		t.Errorf("znodes are %v, with %q; want %v", names, all["/a"], want)
	}
	if path.Dir("/a") != "/" {
		t.Error("the root is not its children's parent")
	}
}
