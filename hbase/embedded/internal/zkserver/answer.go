package zkserver

import (
	"strings"
	"time"
)

// Operations that clients request.
const (
	opCreate       = 1
	opDelete       = 2
	opExists       = 3
	opGetData      = 4
	opSetData      = 5
	opGetACL       = 6
	opSetACL       = 7
	opGetChildren  = 8
	opSync         = 9
	opPing         = 11
	opGetChildren2 = 12
	opMulti        = 14
	opCreate2      = 15
	opAuth         = 100
	opSetWatches   = 101
	opClose        = -11
)

// Error codes of answers; 0 is success.
const (
	codeMarshalling   = -5
	codeUnimplemented = -6
	codeBadArguments  = -8
	codeNoNode        = -101
	codeNoAuth        = -102
)

// Events of watches.
const (
	eventCreated         = 1
	eventDeleted         = 2
	eventDataChanged     = 3
	eventChildrenChanged = 4
)

// kind is the kind of a watch.
type kind int

const (
	ofData kind = iota // set by getData, or by exists on an existing znode
	ofExistence
	ofChildren
)

type watch struct {
	kind kind
	name string
}

// watches are the watches of one connection.
type watches map[watch]struct{}

// take removes the watches that an event fires, and reports whether there were any.
func (w watches) take(event int32, name string) (found bool) {
	kinds := map[int32][]kind{
		eventCreated: {ofExistence}, eventDataChanged: {ofData, ofExistence},
		eventDeleted: {ofData, ofExistence, ofChildren}, eventChildrenChanged: {ofChildren},
	}
	for _, k := range kinds[event] {
		if _, is := w[watch{k, name}]; is {
			delete(w, watch{k, name})
			found = true
		}
	}
	return found
}

// leave adds a watch; it returns false if there are too many.
func (w watches) leave(k kind, name string) bool {
	if len(w) >= maxWatches {
		return false
	}
	w[watch{k, name}] = struct{}{}
	return true
}

// answer executes a request. The caller holds s.mu.
func (s *Server) answer(c *conn, q *request) (code int32, body []byte) {
	switch q.op {
	case opPing, opAuth, opClose: // authentication grants no further rights
		return 0, nil
	case opExists, opGetData, opGetChildren, opGetChildren2:
		return s.read(c, q)
	case opGetACL:
		return s.acl(q)
	case opSync:
		name := q.string()
		if q.err != nil {
			return codeMarshalling, nil
		}
		return noCode, appendString(nil, name)
	case opSetWatches:
		return s.resume(c, q), nil
	case opCreate, opCreate2, opDelete, opSetData, opSetACL, opMulti:
		return codeNoAuth, nil // only the cluster writes
	}
	return codeUnimplemented, nil
}

func (s *Server) read(c *conn, q *request) (code int32, body []byte) {
	name, watched := q.string(), q.bool()
	switch {
	case q.err != nil:
		return codeMarshalling, nil
	case !strings.HasPrefix(name, "/"):
		return codeBadArguments, nil
	}
	z := s.tree[name]
	if watched && (z != nil || q.op == opExists) {
		k := map[bool]kind{true: ofChildren}[q.op == opGetChildren || q.op == opGetChildren2]
		if z == nil {
			k = ofExistence
		}
		if !c.watches.leave(k, name) {
			return codeBadArguments, nil
		}
	}
	if z == nil {
		return codeNoNode, nil
	}
	switch q.op {
	case opGetData:
		body = appendBytes(body, z.data)
	case opGetChildren, opGetChildren2:
		body = appendStrings(body, s.list(name))
	}
	if q.op != opGetChildren {
		body = s.appendStat(body, name, z)
	}
	return 0, body
}

// acl answers that everyone may read a znode.
func (s *Server) acl(q *request) (code int32, body []byte) {
	name := q.string()
	z := s.tree[name]
	switch {
	case q.err != nil:
		return codeMarshalling, nil
	case z == nil:
		return codeNoNode, nil
	}
	const one, read = 1, 1
	body = appendString(appendString(appendInt(appendInt(body, one), read), "world"), "anyone")
	return 0, s.appendStat(body, name, z)
}

// resume sets the watches of a session that continues on a new connection, and sends the events that it missed.
func (s *Server) resume(c *conn, q *request) int32 {
	seen := q.long()
	var names [3][]string
	for k := range names {
		names[k] = q.strings()
	}
	if q.err != nil {
		return codeMarshalling
	}
	for k, of := range names {
		for _, name := range of {
			if event := s.missed(kind(k), name, seen); event != 0 {
				c.send(appendEvent(nil, event, name))
			} else if !c.watches.leave(kind(k), name) {
				return codeBadArguments
			}
		}
	}
	return 0
}

// missed returns the event that a watch missed since a zxid, or 0 if there was none.
func (s *Server) missed(k kind, name string, seen int64) int32 {
	z := s.tree[name]
	switch {
	case k == ofExistence && z != nil:
		return eventCreated
	case k == ofExistence:
		return 0
	case z == nil:
		return eventDeleted
	case k == ofData && z.changed > seen:
		return eventDataChanged
	case k == ofChildren && z.children > seen:
		return eventChildrenChanged
	}
	return 0
}

// timeoutMillis returns a timeout as it appears in messages.
func timeoutMillis(d time.Duration) int32 { return int32(d / time.Millisecond) }
