package sockets

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
)

// TestLimiterCutsOffWhoMakesNoProgress plays connections by name: +a joins, -a leaves, a asks or reads, a5 holds 5 bytes more, a-5 fewer.
func TestLimiterCutsOffWhoMakesNoProgress(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []string
		cut   []string
		held  int64
	}{
		{"all that fit stay", []string{"+a", "+b", "+c", "a4", "b6"}, nil, 10},
		{"one connection more", []string{"+a", "+b", "+c", "+d"}, []string{"a"}, 0},
		{"who asks stays", []string{"+a", "+b", "+c", "a", "b", "+d"}, []string{"c"}, 0},
		{"who left has made room", []string{"+a", "+b", "+c", "-a", "-a", "+d"}, nil, 0},
		{"a byte more", []string{"+a", "+b", "a6", "b5"}, []string{"a"}, 5},
		{"who holds nothing is not closed for bytes", []string{"+a", "+b", "+c", "b6", "c5"}, []string{"b"}, 5},
		{"who reads stays", []string{"+a", "+b", "+c", "a4", "b4", "a", "c4"}, []string{"b"}, 8},
		{"as many as it takes", []string{"+a", "+b", "+c", "a2", "b6", "c10"}, []string{"a", "b"}, 10},
		{"what is freed makes room", []string{"+a", "+b", "a8", "a-8", "b10"}, nil, 10},
		{"more than all may have", []string{"+a", "+b", "a1", "b11"}, []string{"a", "b"}, 0},
		{"who is cut off holds no more", []string{"+a", "a11", "a1", "a", "-a"}, []string{"a"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			names, members := map[net.Conn]string{}, map[string]*Member{}
			var cut []string
			l := NewLimiter(3, 10, func(c net.Conn) { cut = append(cut, names[c]) })
			for _, step := range c.steps {
				play(l, step, names, members, func(name string, err error) {
					if cutOff := slices.Contains(cut, name); errors.Is(err, ErrCutOff) != cutOff {
						t.Errorf("%s holds more: %v; cut off: %v", name, err, cutOff)
					}
				})
			}
			if !slices.Equal(cut, c.cut) || l.Held() != c.held {
				t.Errorf("cut off %q and holds %d, want %q and %d", cut, l.Held(), c.cut, c.held)
			}
			for conn, name := range names {
				if closed := conn.(*closing).closed; closed != slices.Contains(cut, name) {
					t.Errorf("%s is closed: %v", name, closed)
				}
			}
		})
	}
}

// closing is a connection that can only be closed.
type closing struct {
	net.Conn
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func play(l *Limiter, step string, names map[net.Conn]string, members map[string]*Member, held func(string, error)) {
	var n int
	switch {
	case step[0] == '+':
		conn := &closing{}
		names[conn] = step[1:]
		members[step[1:]] = l.Join(conn)
	case step[0] == '-':
		members[step[1:]].Leave()
	case len(step) == 1:
		members[step].Progress()
	default:
		_, _ = fmt.Sscan(step[1:], &n)
		held(step[:1], members[step[:1]].Hold(n))
	}
}
