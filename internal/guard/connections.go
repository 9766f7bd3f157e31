package guard

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Connections keeps a server's connections few: a new one too many closes the one that has been idle for longest, or, when none is idle,
// the one whose request or answer has taken longest. So a new client is always served, and those who sit there make room.
type Connections struct {
	most  int
	mu    sync.Mutex
	open  map[net.Conn]standing
	moves uint64 // changes of state so far, by which connections are compared
}

type standing struct {
	idle  bool // between two requests
	since uint64
}

// NewConnections allows so many.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]standing{}}
}

// Changed is the server's ConnState.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.open[conn]
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		delete(c.open, conn)
		return
	case state != http.StateNew && !known: // closed here, and its server has yet to see that
		return
	}
	if !known && len(c.open) == c.most {
		c.closeOne()
	}
	c.moves++
	c.open[conn] = standing{state == http.StateIdle, c.moves}
}

func (c *Connections) closeOne() {
	conn := slices.MinFunc(slices.Collect(maps.Keys(c.open)), func(a, b net.Conn) int {
		x, y := c.open[a], c.open[b]
		if x.idle != y.idle {
			return map[bool]int{true: -1, false: 1}[x.idle]
		}
		return cmp.Compare(x.since, y.since)
	})
	delete(c.open, conn)
	_ = conn.Close() // nothing was said that could be lost
}
