package embedded_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/embedded/internal/store/storetest"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// TestFullDiskIsReportedAndRecovered: while the disk is full, every read and write gets an IOException that a client may retry and that
// names cause and path. Nothing acknowledged is lost, and once there is space everything continues, including regions and tables.
func TestFullDiskIsReportedAndRecovered(t *testing.T) {
	disk := storetest.NewDisk(syscall.ENOSPC)
	warned := make(chan string, 100)
	dir := t.TempDir()
	s, err := embedded.StartOnDisk(embedded.Options{Dir: dir, Servers: 2, DetectAfter: time.Millisecond, Warn: func(err error) { warned <- err.Error() }}, disk.FS)
	if err != nil {
		t.Fatal(err)
	}
	createOn(t, s, "t", "5")
	c := at(t, s, holder(s, "1"))
	name := holder(s, "1").Name
	for n := range 5 {
		row := fmt.Sprint("1", n)
		c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf(row, 1)}, &hbasepb.MutateResponse{}, block(cell(row, "e", "q", 1, 4, row)))
	}
	disk.Full.Store(true)
	for _, call := range []struct {
		method        string
		param, result proto.Message
		cells         []byte
	}{
		{"Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf("2", 1)}, &hbasepb.MutateResponse{}, block(cell("2", "e", "q", 1, 4, "2"))},
		{"Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf("3", 1)}, &hbasepb.MutateResponse{}, block(cell("3", "e", "q", 1, 4, "3"))},
		{"Get", &hbasepb.GetRequest{Region: region(name), Get: &hbasepb.Get{Row: []byte("10")}}, &hbasepb.GetResponse{}, nil},
	} {
		_, err := c.call(call.method, call.param, call.result, call.cells)
		var e *remote
		if !errors.As(err, &e) || e.GetExceptionClassName() != "java.io.IOException" || e.GetDoNotRetry() ||
			!strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", call.method, err)
		}
	}
	if err := s.Broken(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Broken is %v", err)
	}
	gone := s.Nodes()[holder(s, "1").Node]
	gone.Kill() // its regions move to the other node once that can be written
	if got := <-warned; !strings.Contains(got, "no space left on device") || !strings.Contains(got, dir) {
		t.Errorf("warned %q", got)
	}
	disk.Full.Store(false)
	if got := <-warned; !strings.Contains(got, "is writable again") {
		t.Errorf("warned %q", got)
	}
	for holder(s, "1").Node != 1-gone.Index() {
		time.Sleep(time.Millisecond)
	}
	c = at(t, s, holder(s, "1"))
	c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf("4", 1)}, &hbasepb.MutateResponse{}, block(cell("4", "e", "q", 1, 4, "4")))
	found := map[string]bool{}
	for _, cell := range scanCells(t, c, name) {
		found[string(cell.Row)] = true
	}
	for _, row := range []string{"10", "11", "12", "13", "14", "4"} {
		if !found[row] {
			t.Errorf("row %s was acknowledged and is missing", row)
		}
	}
	createOn(t, s, "u", "5")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCloseWithAFullDisk: Close returns although calls and a change of the catalogue wait for space.
func TestCloseWithAFullDisk(t *testing.T) {
	disk := storetest.NewDisk(syscall.ENOSPC)
	s, err := embedded.StartOnDisk(embedded.Options{Dir: t.TempDir()}, disk.FS)
	if err != nil {
		t.Fatal(err)
	}
	names := create(t, s.Addr(), "t", nil, family("e"))
	c, m := dial(t, s.Addr(), "ClientService"), dial(t, s.Addr(), "MasterService")
	disk.Full.Store(true)
	m.send("CreateNamespace", &hbasepb.CreateNamespaceRequest{NamespaceDescriptor: &hbasepb.NamespaceDescriptor{Name: []byte("ns")}}, nil)
	for s.Broken() == nil {
		time.Sleep(time.Millisecond)
	}
	if _, err := c.call("Mutate", &hbasepb.MutateRequest{Region: region(names[0]), Mutation: putOf("2", 1)}, &hbasepb.MutateResponse{}, block(cell("2", "e", "q", 1, 4, "2"))); err == nil {
		t.Error("a put was acknowledged")
	}
	if err := s.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close: %v", err)
	}
}
