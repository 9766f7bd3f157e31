package guard

import (
	"container/list"
	"net"
	"net/netip"
)

// askers are connections whose request has not arrived, by their peers' addresses. When one must be closed, it is one of the address that
// has the most, so that a thousand connections from a few addresses do not push out the one of somebody who has just come.
type askers struct {
	peers  map[netip.Prefix]*peer
	levels []*list.List // of peers; [n-1] has those with n connections, in the order in which they came to that many
}

// peer is an address with connections.
type peer struct {
	from  netip.Prefix
	conns list.List     // of *standing, the oldest first
	at    *list.Element // in its level
}

// addressLen is the length of the part of an IPv6 address that counts: the rest is chosen freely by whoever has it.
const addressLen = 64

// fromOf returns the address that a connection comes from. It is the zero Prefix for one that has none, such as that of a local socket.
func fromOf(conn net.Conn) netip.Prefix {
	at, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	addr := at.AddrPort().Addr().Unmap().WithZone("")
	p, _ := addr.Prefix(min(addr.BitLen(), addressLen)) // it fails only for a longer one
	return p
}

func (a *askers) add(s *standing) {
	from := fromOf(s.conn)
	p := a.peers[from]
	if p == nil {
		p = &peer{from: from}
		a.peers[from] = p
	} else {
		a.levels[p.conns.Len()-1].Remove(p.at)
	}
	s.peer, s.at = p, p.conns.PushBack(s)
	a.rank(p)
}

func (a *askers) remove(s *standing) {
	p := s.peer
	a.levels[p.conns.Len()-1].Remove(p.at)
	p.conns.Remove(s.at)
	if s.peer = nil; p.conns.Len() > 0 {
		a.rank(p)
	} else {
		delete(a.peers, p.from)
	}
	for n := len(a.levels); n > 0 && a.levels[n-1].Len() == 0; n-- {
		a.levels = a.levels[:n-1]
	}
}

// rank adds a peer to the level of its number of connections.
func (a *askers) rank(p *peer) {
	for len(a.levels) < p.conns.Len() {
		a.levels = append(a.levels, list.New())
	}
	p.at = a.levels[p.conns.Len()-1].PushBack(p)
}

// next returns the connection to close, or nil if there is none.
func (a *askers) next() *standing {
	if len(a.levels) == 0 {
		return nil
	}
	p := a.levels[len(a.levels)-1].Front().Value.(*peer)
	return p.conns.Front().Value.(*standing)
}
