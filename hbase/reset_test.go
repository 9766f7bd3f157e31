package hbase

import (
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"brine/hbase/embedded"
)

// resetAt resets one connection, once: as soon as the given number of bytes has passed in one direction over all connections.
type resetAt struct {
	answers bool         // otherwise requests
	left    atomic.Int64 // bytes; from 0 on, nothing more happens
}

// arm resets the connection that carries the n-th byte from now on.
func (r *resetAt) arm(n int) { r.left.Store(int64(n)) }

// pass returns how many of n bytes may pass, and whether the connection ends after them.
func (r *resetAt) pass(n int) (most int, end bool) {
	for {
		left := r.left.Load()
		if left <= 0 {
			return n, false
		}
		most = min(n, int(left))
		if r.left.CompareAndSwap(left, left-int64(most)) {
			return most, left == int64(most)
		}
	}
}

type resetConn struct {
	net.Conn
	at    *resetAt
	ended bool // everything read before the reset has been returned
}

func (c *resetConn) Read(b []byte) (int, error) {
	if c.ended {
		return 0, errInjected
	}
	n, err := c.Conn.Read(b)
	if !c.at.answers || err != nil {
		return n, err
	}
	n, c.ended = c.at.pass(n)
	if c.ended {
		c.reset()
	}
	return n, nil
}

func (c *resetConn) Write(b []byte) (int, error) {
	if c.at.answers {
		return c.Conn.Write(b)
	}
	n, end := c.at.pass(len(b))
	n, err := c.Conn.Write(b[:n])
	if end {
		c.reset()
		err = errInjected
	}
	return n, err
}

// reset closes the connection with a reset.
func (c *resetConn) reset() {
	_ = c.Conn.(*net.TCPConn).SetLinger(0) // otherwise it closes normally
	_ = c.Close()
}

// The connection is reset after the first byte of the frames of a write and the following read, then after the second byte, and so on: in
// the length, the header, the message, the cells and between frames. Each time, everything is written and read.
func TestConnectionResetBehindEachByte(t *testing.T) {
	for name, answers := range map[string]bool{"answers": true, "requests": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startEmbedded(t, embedded.Options{})
			opts := patient("rpc://" + s.Addr())
			at := &resetAt{answers: answers}
			badNetwork(func(c net.Conn) net.Conn { return &resetConn{Conn: c, at: at} })(&opts)
			c := open(t, opts)
			createTable(t, c, "t", "m")
			rows := []string{"a", "b", "z"}
			n := 1
			for ; ; n++ {
				if failed := land(t, c, versioned(rows, n)); failed != nil { // all connections are made, all regions known
					t.Fatal(failed)
				}
				at.arm(n)
				if failed := land(t, c, versioned(rows, 1<<20+n)); failed != nil {
					t.Fatalf("byte %d: %v", n, failed)
				}
				if got := valuesOf(t, c, rows); !slices.Equal(got, slices.Repeat([]string{fmt.Sprint(1<<20 + n)}, len(rows))) {
					t.Fatalf("byte %d: read %q", n, got)
				}
				if at.left.Load() > 0 {
					break
				}
			}
			if n < 100 || c.Stats().Buffered != 0 {
				t.Errorf("only %d resets; %+v", n-1, c.Stats())
			}
			t.Logf("%d resets, each behind another byte", n-1)
		})
	}
}

// versioned returns a batch with a version in each row.
func versioned(rows []string, version int) *Batch {
	b := NewBatch("t")
	for _, row := range rows {
		b.Mutate([]byte(row))
		b.Put([]byte("e"), []byte("q"), int64(version), fmt.Append(nil, version))
	}
	return b
}

// valuesOf returns the values of the rows' only cells.
func valuesOf(t *testing.T, c *Client, rows []string) (out []string) {
	t.Helper()
	var gets []Get
	for _, row := range rows {
		gets = append(gets, Get{Row: []byte(row)})
	}
	found, err := c.GetAll(t.Context(), "t", gets)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found {
		if len(r.Cells) > 0 {
			out = append(out, string(r.Cells[0].Value))
		}
	}
	return out
}
