package embedded_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
	"brine/internal/testenv"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// start starts a server and closes it when the test ends.
func start(t testing.TB, o embedded.Options) *embedded.Server {
	t.Helper()
	if o.Listen == nil {
		o.Listen = testenv.Listen(t)
	}
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return s
}

// client is a connection that makes one call at a time. These tests must see the meaning of each byte, without a client that retries.
type client struct {
	t    testing.TB
	c    net.Conn
	in   *bufio.Reader
	last uint32
}

func dial(t testing.TB, addr, service string) *client {
	t.Helper()
	return dialHeader(t, addr, &hbasepb.ConnectionHeader{ServiceName: &service, CellBlockCodecClass: proto.String(wire.Codec)})
}

func dialHeader(t testing.TB, addr string, h *hbasepb.ConnectionHeader) *client {
	t.Helper()
	b := wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthSimple})
	b, err := wire.AppendConnectionHeader(b, h)
	if err != nil {
		t.Fatal(err)
	}
	return dialBytes(t, addr, b)
}

func dialBytes(t testing.TB, addr string, b []byte) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	return &client{t: t, c: c, in: bufio.NewReader(c)}
}

// greet starts a connection that may be cut at any time.
func greet(t testing.TB, c net.Conn, service string) *client {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	b, err := wire.AppendConnectionHeader(wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthSimple}), &hbasepb.ConnectionHeader{ServiceName: &service, CellBlockCodecClass: proto.String(wire.Codec)})
	if err != nil {
		t.Error(err)
	}
	_, _ = c.Write(b) // if it fails, so does what follows
	return &client{t: t, c: c, in: bufio.NewReader(c)}
}

// send sends a request and returns its call id.
func (c *client) send(method string, param proto.Message, cells []byte) uint32 {
	c.t.Helper()
	id, err := c.post(method, param, cells)
	if err != nil {
		c.t.Fatal(err)
	}
	return id
}

// post is send for a connection that may have been cut.
func (c *client) post(method string, param proto.Message, cells []byte) (uint32, error) {
	c.last++
	b, err := wire.AppendRequest(nil, wire.Call{ID: c.last, Method: method}, param, cells)
	if err != nil {
		return 0, err
	}
	_, err = c.c.Write(b)
	return c.last, err
}

// receive reads the next response; the error is io.EOF if the server closed the connection.
func (c *client) receive() (wire.Response, error) {
	frame, err := wire.ReadFrame(c.in, 64<<20)
	if err != nil {
		return wire.Response{}, err
	}
	return wire.DecodeResponse(frame)
}

// remote is an exception sent by a server.
type remote struct{ *hbasepb.ExceptionResponse }

func (r *remote) Error() string { return r.GetExceptionClassName() + ": " + r.GetStackTrace() }

// call sends a request, decodes the answer into result and returns its cell block. For an exception the error is a *remote.
func (c *client) call(method string, param, result proto.Message, cells []byte) ([]byte, error) {
	c.t.Helper()
	id, err := c.post(method, param, cells)
	if err != nil {
		return nil, err
	}
	r, err := c.receive()
	if err != nil {
		return nil, err
	}
	if r.Exception != nil {
		return nil, &remote{r.Exception}
	}
	if r.CallID != id {
		return nil, fmt.Errorf("answer to call %d, want %d", r.CallID, id)
	}
	return r.Cells, proto.Unmarshal(r.Param, result)
}

// must is call for calls that have to succeed.
func (c *client) must(method string, param, result proto.Message, cells []byte) []byte {
	c.t.Helper()
	block, err := c.call(method, param, result, cells)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return block
}

func tableNamed(table string) *hbasepb.TableName {
	return &hbasepb.TableName{Namespace: []byte("default"), Qualifier: []byte(table)}
}

func family(name string, attributes ...string) *hbasepb.ColumnFamilySchema {
	f := &hbasepb.ColumnFamilySchema{Name: []byte(name)}
	for i := 0; i < len(attributes); i += 2 {
		f.Attributes = append(f.Attributes, &hbasepb.BytesBytesPair{First: []byte(attributes[i]), Second: []byte(attributes[i+1])})
	}
	return f
}

// create creates a table and returns the names of its regions.
func create(t testing.TB, addr, table string, splits []string, families ...*hbasepb.ColumnFamilySchema) [][]byte {
	t.Helper()
	q := &hbasepb.CreateTableRequest{TableSchema: &hbasepb.TableSchema{TableName: tableNamed(table), ColumnFamilies: families}}
	for _, s := range splits {
		q.SplitKeys = append(q.SplitKeys, []byte(s))
	}
	dial(t, addr, "MasterService").must("CreateTable", q, &hbasepb.CreateTableResponse{}, nil)
	return regionsOf(t, addr, table)
}

// regionsOf reads the region names of a table from hbase:meta.
func regionsOf(t testing.TB, addr, table string) (names [][]byte) {
	t.Helper()
	c := dial(t, addr, "ClientService")
	r := &hbasepb.ScanResponse{}
	block := c.must("Scan", &hbasepb.ScanRequest{Region: region([]byte("hbase:meta,,1")), NumberOfRows: proto.Uint32(10_000), CloseScanner: proto.Bool(true), Scan: &hbasepb.Scan{
		StartRow: []byte(table + ",,"), StopRow: []byte(table + " ,,"), MaxVersions: proto.Uint32(1),
		Column: []*hbasepb.Column{{Family: []byte("info"), Qualifier: [][]byte{[]byte("regioninfo")}}},
	}}, r, nil)
	for _, cell := range cellsOf(t, block) {
		names = append(names, cell.Row)
	}
	return names
}

func region(name []byte) *hbasepb.RegionSpecifier {
	return &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: name}
}

func cellsOf(t testing.TB, block []byte) (cells []wire.Cell) {
	t.Helper()
	for len(block) > 0 {
		var c wire.Cell
		rest, err := wire.NextCell(&c, block)
		if err != nil {
			t.Fatal(err)
		}
		cells, block = append(cells, c), rest
	}
	return cells
}

func cell(row, family, qualifier string, ts int64, kind wire.CellType, value string) wire.Cell {
	return wire.Cell{Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier), Timestamp: ts, Type: kind, Value: []byte(value)}
}

// testClock is a clock that the test controls.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
