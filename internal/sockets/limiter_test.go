package sockets

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"testing"
)

// TestLimiterCutsOffWhoMakesNoProgress plays connections by name: +a joins, -a leaves, a makes progress, a5 holds 5 bytes more, a-5 fewer.
func TestLimiterCutsOffWhoMakesNoProgress(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []string
		cut   []string
		held  int64
	}{
		{"all that fit stay", []string{"+a", "+b", "+c", "+d", "a4", "b6"}, nil, 10},
		{"one connection more", []string{"+a", "+b", "+c", "+d", "+e"}, []string{"a"}, 0},
		{"who asks stays", []string{"+a", "+b", "+c", "+d", "a", "b", "+e"}, []string{"c"}, 0},
		{"a flood of those who have not asked", []string{"+a", "a", "+b", "+c", "+d", "+e", "+f"}, []string{"b", "c"}, 0},
		{"a new one among those who have asked", []string{"+a", "+b", "+c", "+d", "d", "c", "a", "b", "+e", "e", "+f", "f"}, []string{"d", "c"}, 0},
		{"who left has made room", []string{"+a", "+b", "+c", "+d", "-a", "-a", "+e"}, nil, 0},
		{"a byte more", []string{"+a", "+b", "a6", "b5"}, []string{"a"}, 5},
		{"who holds less than a share stays", []string{"+a", "+b", "+c", "a1", "b4", "c6"}, []string{"b"}, 7},
		{"who holds nothing is not closed for bytes", []string{"+a", "+b", "+c", "b6", "c5"}, []string{"b"}, 5},
		{"who reads stays", []string{"+a", "+b", "+c", "a4", "b4", "a", "c4"}, []string{"b"}, 8},
		{"as many as it takes", []string{"+a", "+b", "+c", "a5", "b5", "c6"}, []string{"a", "b"}, 6},
		{"what is freed makes room", []string{"+a", "+b", "a8", "a-8", "b10"}, nil, 10},
		{"more than all may have", []string{"+a", "+b", "a1", "b11"}, []string{"b"}, 1},
		{"who is new and holds, after one who asked longer ago", []string{"+a", "a", "+b", "a6", "b5"}, []string{"a"}, 5},
		{"who is cut off holds no more", []string{"+a", "a11", "a1", "a", "-a"}, []string{"a"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			members := map[string]*Member{}
			var cut []string
			l := NewLimiter(4, 10, nil)
			for _, step := range c.steps {
				play(t, l, step, members, &cut)
			}
			if !slices.Equal(cut, c.cut) || l.held != c.held {
				t.Errorf("cut off %q and holds %d, want %q and %d", cut, l.held, c.cut, c.held)
			}
		})
	}
}

// named is a connection that can only be closed; it then records its name.
type named struct {
	net.Conn
	name   string
	closed *[]string
}

func (n named) Close() error         { *n.closed = append(*n.closed, n.name); return nil }
func (n named) RemoteAddr() net.Addr { return nil }

func play(t *testing.T, l *Limiter, step string, members map[string]*Member, cut *[]string) {
	t.Helper()
	switch {
	case step[0] == '+':
		members[step[1:]] = l.Join(named{name: step[1:], closed: cut})
	case step[0] == '-':
		members[step[1:]].Leave()
	case len(step) == 1:
		members[step].Progress()
	default:
		n, err := strconv.Atoi(step[1:])
		if err != nil {
			t.Fatal(err)
		}
		err = members[step[:1]].Hold(n)
		if cutOff := slices.Contains(*cut, step[:1]); errors.Is(err, ErrCutOff) != cutOff {
			t.Errorf("%s: %v; cut off: %v", step, err, cutOff)
		}
	}
}
