package embedded_test

import (
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

const maxHeld = 32 << 20

// TestUnreadAnswersAreBounded: clients that keep asking for all rows and read nothing do not use up what others need.
func TestUnreadAnswersAreBounded(t *testing.T) {
	s := start(t, embedded.Options{MaxHeld: maxHeld})
	name := create(t, s.Addr(), "t", nil, family("f"))[0]
	fillRows(t, s.Addr(), name, 4<<20)
	good := dial(t, s.Addr(), "ClientService")
	all := &hbasepb.ScanRequest{Region: region(name), NumberOfRows: proto.Uint32(1 << 20), CloseScanner: proto.Bool(true), Scan: &hbasepb.Scan{}}
	before := live()
	for range 60 {
		c := dial(t, s.Addr(), "ClientService")
		if err := c.c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if _, err := c.post("Scan", all, nil); err != nil {
				break // cut off already
			}
		}
		if got := len(cellsOf(t, good.must("Scan", all, &hbasepb.ScanResponse{}, nil))); got != 64 {
			t.Fatalf("a client that reads got %d cells", got)
		}
		settlesBelow(before + 6*maxHeld) // an answer, its bytes, and answers in the making for clients that are cut off
	}
}

// TestUnfinishedRequestsAreBounded: clients that announce long requests and do not finish them do not use up what others need.
func TestUnfinishedRequestsAreBounded(t *testing.T) {
	s := start(t, embedded.Options{MaxHeld: maxHeld})
	good := dial(t, s.Addr(), "ClientMetaService")
	before := live()
	for range 40 {
		c := dial(t, s.Addr(), "ClientService")
		_ = c.c.SetWriteDeadline(time.Now().Add(time.Minute))
		part := make([]byte, 4+8<<20)
		copy(part, []byte{0, 0xf0, 0, 0}) // announces 15 MiB
		if _, err := c.c.Write(part); err != nil {
			t.Fatal(err)
		}
		good.must("GetClusterId", &hbasepb.GetClusterIdRequest{}, &hbasepb.GetClusterIdResponse{}, nil)
		settlesBelow(before + 4*maxHeld) // requests being read, and those of clients that were cut off
	}
}

// fillRows writes 64 rows with the given number of bytes in all.
func fillRows(t *testing.T, addr string, name []byte, bytes int) {
	t.Helper()
	c := dial(t, addr, "ClientService")
	for i := range 64 {
		put := &hbasepb.MutationProto{Row: fmt.Appendf(nil, "%02d", i), MutateType: hbasepb.MutationProto_PUT.Enum(), ColumnValue: []*hbasepb.MutationProto_ColumnValue{{
			Family: []byte("f"), QualifierValue: []*hbasepb.MutationProto_ColumnValue_QualifierValue{{Qualifier: []byte("q"), Value: make([]byte, bytes/64)}},
		}}}
		c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: put}, &hbasepb.MutateResponse{}, nil)
	}
}

// settlesBelow waits until the heap in use is at most the given size: the memory of clients that were cut off is freed when their
// goroutines run next, whenever that is.
func settlesBelow(most int64) {
	for live() > most {
		time.Sleep(50 * time.Millisecond)
	}
}

// live returns the heap in use in bytes.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
