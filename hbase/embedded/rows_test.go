package embedded_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

func containsBug(stack string) bool { return strings.Contains(stack, "BUG: ") }

func putOf(row string, cells int) *hbasepb.MutationProto {
	return &hbasepb.MutationProto{Row: []byte(row), MutateType: hbasepb.MutationProto_PUT.Enum(), AssociatedCellCount: proto.Int32(int32(cells))}
}

func action(index int, m *hbasepb.MutationProto) *hbasepb.Action {
	return &hbasepb.Action{Index: proto.Uint32(uint32(index)), Mutation: m}
}

func block(cells ...wire.Cell) (b []byte) {
	for _, c := range cells {
		b = wire.AppendCell(b, c)
	}
	return b
}

// outcomes formats a Multi's response: for each region its exception or, by index, ok, the number of cells, or an exception.
func outcomes(r *hbasepb.MultiResponse) string {
	var regions []string
	for _, a := range r.RegionActionResult {
		if a.Exception != nil {
			regions = append(regions, "!"+short(a.Exception))
			continue
		}
		var parts []string
		for _, o := range a.ResultOrException {
			switch {
			case o.Exception != nil:
				parts = append(parts, fmt.Sprintf("%d!%s", o.GetIndex(), short(o.Exception)))
			case o.Result.GetAssociatedCellCount() > 0:
				parts = append(parts, fmt.Sprintf("%d:%d", o.GetIndex(), o.Result.GetAssociatedCellCount()))
			default:
				parts = append(parts, fmt.Sprintf("%d", o.GetIndex()))
			}
		}
		slices.Sort(parts)
		regions = append(regions, strings.Join(parts, " "))
	}
	return strings.Join(regions, " | ")
}

func short(e *hbasepb.NameBytesPair) string {
	return e.GetName()[strings.LastIndexByte(e.GetName(), '.')+1:]
}

// Each action of a Multi has its own outcome. A failure of a region affects all of its actions and no others. Cells of actions that are not
// applied are skipped, so that the others find their own.
func TestMultiOutcomes(t *testing.T) {
	s := start(t, embedded.Options{MaxCell: 1000})
	regions := create(t, s.Addr(), "t", []string{"m"}, family("e"))
	c := dial(t, s.Addr(), "ClientService")
	get := func(row string) *hbasepb.Get { return &hbasepb.Get{Row: []byte(row)} }
	for _, k := range []struct {
		name, want string
		actions    []*hbasepb.RegionAction
		cells      []wire.Cell
	}{
		{"puts and a get", "0 1 2:2 | 0", []*hbasepb.RegionAction{
			{Region: region(regions[0]), Action: []*hbasepb.Action{action(0, putOf("a", 2)), action(1, putOf("b", 1)), {Index: proto.Uint32(2), Get: get("ask")}}},
			{Region: region(regions[1]), Action: []*hbasepb.Action{action(0, putOf("z", 1))}},
		}, []wire.Cell{cell("a", "e", "1", 1, 4, "a1"), cell("a", "e", "2", 1, 4, "a2"), cell("b", "e", "1", 1, 4, "b1"), cell("z", "e", "1", 1, 4, "z1")}},
		{"wrong region, family and row among good ones", "!NotServingRegionException | 0 1!NoSuchColumnFamilyException 2!WrongRegionException 3!WrongRowIOException 4", []*hbasepb.RegionAction{
			{Region: region([]byte("t,,1.x.")), Action: []*hbasepb.Action{action(0, putOf("a", 2))}},
			{Region: region(regions[1]), Action: []*hbasepb.Action{action(0, putOf("n", 1)), action(1, putOf("o", 1)), action(2, putOf("a", 1)), action(3, putOf("p", 1)), action(4, putOf("q", 1))}},
		}, []wire.Cell{
			cell("a", "e", "1", 5, 4, "no"), cell("a", "e", "2", 5, 4, "no"), cell("n", "e", "1", 1, 4, "n1"), cell("o", "x", "1", 1, 4, "no"),
			cell("a", "e", "1", 5, 4, "no"), cell("not p", "e", "1", 1, 4, "no"), cell("q", "e", "1", 1, 4, "q1"),
		}},
		{"a cell that is too large takes its neighbours with it, not the other region's", "0!DoNotRetryIOException 1!DoNotRetryIOException | 0", []*hbasepb.RegionAction{
			{Region: region(regions[0]), Action: []*hbasepb.Action{action(0, putOf("c", 1)), action(1, putOf("d", 1))}},
			{Region: region(regions[1]), Action: []*hbasepb.Action{action(0, putOf("r", 1))}},
		}, []wire.Cell{cell("c", "e", "1", 1, 4, "no"), cell("d", "e", "1", 1, 4, strings.Repeat("x", 1000)), cell("r", "e", "1", 1, 4, "r1")}},
		{"atomic mutations of one row are applied all or none", "!NoSuchColumnFamilyException | 0 1", []*hbasepb.RegionAction{
			{Region: region(regions[0]), Atomic: proto.Bool(true), Action: []*hbasepb.Action{action(0, putOf("e", 1)), action(1, putOf("e", 1))}},
			{Region: region(regions[1]), Atomic: proto.Bool(true), Action: []*hbasepb.Action{action(0, putOf("s", 1)), action(1, putOf("s", 1))}},
		}, []wire.Cell{cell("e", "e", "1", 1, 4, "no"), cell("e", "x", "1", 1, 4, "no"), cell("s", "e", "1", 1, 4, "s1"), cell("s", "e", "2", 1, 4, "s2")}},
		{"cells are missing", "0 1!DoNotRetryIOException", []*hbasepb.RegionAction{
			{Region: region(regions[0]), Action: []*hbasepb.Action{action(0, putOf("f", 1)), action(1, putOf("g", 2))}},
		}, []wire.Cell{cell("f", "e", "1", 1, 4, "f1"), cell("g", "e", "1", 1, 4, "no")}},
	} {
		t.Run(k.name, func(t *testing.T) {
			if k.name == "puts and a get" {
				c.must("Mutate", &hbasepb.MutateRequest{Region: region(regions[0]), Mutation: putOf("ask", 2)}, &hbasepb.MutateResponse{}, block(cell("ask", "e", "1", 1, 4, "o1"), cell("ask", "e", "2", 1, 4, "o2")))
			}
			r := &hbasepb.MultiResponse{}
			c.must("Multi", &hbasepb.MultiRequest{RegionAction: k.actions}, r, block(k.cells...))
			if got := outcomes(r); got != k.want {
				t.Fatalf("got  %s\nwant %s", got, k.want)
			}
		})
	}
	want := "a1 a2 o1 o2 b1 f1 n1 q1 r1 s1 s2 z1"
	var got []string
	for _, name := range regions {
		for _, c := range scanCells(t, c, name) {
			got = append(got, string(c.Value))
		}
	}
	if strings.Join(got, " ") != want {
		t.Fatalf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func scanCells(t testing.TB, c *client, name []byte) []wire.Cell {
	t.Helper()
	return cellsOf(t, c.must("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(1 << 20)}, &hbasepb.ScanResponse{}, nil))
}

// A batch's results, which are cells for some of its actions and exceptions for others, are in the order of the actions: asynchbase takes the
// n-th for the n-th, and every client takes cells from the block in the order of the results.
func TestResultsOfABatchAreInItsOrder(t *testing.T) {
	s := start(t, embedded.Options{})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	c := dialHeader(t, s.Addr(), &hbasepb.ConnectionHeader{ServiceName: proto.String("ClientService")})
	change := func(kind hbasepb.MutationProto_MutationType, family, value string) *hbasepb.Action {
		return &hbasepb.Action{Mutation: &hbasepb.MutationProto{Row: []byte("r"), MutateType: &kind, ColumnValue: []*hbasepb.MutationProto_ColumnValue{
			{Family: []byte(family), QualifierValue: []*hbasepb.MutationProto_ColumnValue_QualifierValue{{Qualifier: []byte("q"), Value: []byte(value)}}},
		}}}
	}
	get := func() *hbasepb.Action { return &hbasepb.Action{Get: &hbasepb.Get{Row: []byte("r")}} }
	actions := []*hbasepb.Action{
		change(hbasepb.MutationProto_PUT, "e", "a"), change(hbasepb.MutationProto_PUT, "x", "-"), change(hbasepb.MutationProto_APPEND, "e", "b"), get(),
		change(hbasepb.MutationProto_PUT, "x", "-"), change(hbasepb.MutationProto_PUT, "e", "c"), get(), change(hbasepb.MutationProto_APPEND, "e", "d"),
	}
	for i, a := range actions {
		a.Index = proto.Uint32(uint32(i))
	}
	response := &hbasepb.MultiResponse{}
	c.must("Multi", &hbasepb.MultiRequest{RegionAction: []*hbasepb.RegionAction{{Region: region(name), Action: actions}}}, response, nil)
	got := ""
	for _, r := range response.RegionActionResult[0].ResultOrException {
		got += fmt.Sprintf("%d:", r.GetIndex())
		for _, cell := range r.GetResult().GetCell() {
			got += string(cell.Value)
		}
		if r.Exception != nil {
			got += "!"
		}
		got += " "
	}
	if want := "0: 1:! 2:ab 3:ab 4:! 5: 6:ab 7:cd "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A client without a codec sends and receives cells inside messages.
func TestCellsInsideMessages(t *testing.T) {
	s := start(t, embedded.Options{})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	c := dialHeader(t, s.Addr(), &hbasepb.ConnectionHeader{ServiceName: proto.String("ClientService")})
	put := &hbasepb.MutationProto{Row: []byte("r"), MutateType: hbasepb.MutationProto_PUT.Enum(), Timestamp: proto.Uint64(7), ColumnValue: []*hbasepb.MutationProto_ColumnValue{
		{Family: []byte("e"), QualifierValue: []*hbasepb.MutationProto_ColumnValue_QualifierValue{{Qualifier: []byte("a"), Value: []byte("1")}, {Qualifier: []byte("b"), Value: []byte("2"), Timestamp: proto.Uint64(9)}}},
	}}
	c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: put}, &hbasepb.MutateResponse{}, nil)
	r := &hbasepb.GetResponse{}
	if b := c.must("Get", &hbasepb.GetRequest{Region: region(name), Get: &hbasepb.Get{Row: []byte("r")}}, r, nil); len(b) > 0 {
		t.Fatal("a cell block")
	}
	if cells := r.Result.Cell; len(cells) != 2 || cells[0].GetTimestamp() != 7 || cells[1].GetTimestamp() != 9 || string(cells[1].Value) != "2" {
		t.Fatal(cells)
	}
	sr := &hbasepb.ScanResponse{}
	c.must("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(10)}, sr, nil)
	if len(sr.Results) != 1 || len(sr.Results[0].Cell) != 2 || len(sr.CellsPerResult) != 0 {
		t.Fatal(sr)
	}
	for _, row := range []string{"s", "u"} {
		c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: &hbasepb.MutationProto{Row: []byte(row), MutateType: hbasepb.MutationProto_PUT.Enum(), ColumnValue: []*hbasepb.MutationProto_ColumnValue{
			{Family: []byte("e"), QualifierValue: []*hbasepb.MutationProto_ColumnValue_QualifierValue{{Qualifier: []byte("a"), Value: []byte("of " + row)}}},
		}}}, &hbasepb.MutateResponse{}, nil)
	}
	sr = &hbasepb.ScanResponse{}
	c.must("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(10)}, sr, nil)
	got := ""
	for _, r := range sr.Results {
		got += fmt.Sprintf("%s=%s ", r.Cell[0].Row, r.Cell[0].Value)
	}
	if got != "r=1 s=of s u=of u " {
		t.Errorf("several rows of one answer: %s", got)
	}
}

// Concurrent increments lose nothing, an increment sent twice with the same nonce is applied once, and conditions hold while they are
// applied.
func TestReadModifyWrite(t *testing.T) {
	s := start(t, embedded.Options{})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	increment := func(nonce uint64) (*hbasepb.MutateRequest, []byte) {
		m := &hbasepb.MutationProto{Row: []byte("r"), MutateType: hbasepb.MutationProto_INCREMENT.Enum(), AssociatedCellCount: proto.Int32(1), Nonce: &nonce}
		return &hbasepb.MutateRequest{Region: region(name), Mutation: m, NonceGroup: proto.Uint64(1)}, block(cell("r", "e", "n", 1<<63-1, 4, "\x00\x00\x00\x00\x00\x00\x00\x01"))
	}
	var wg sync.WaitGroup
	for g := range 4 {
		c := dial(t, s.Addr(), "ClientService")
		wg.Go(func() {
			for i := range 25 {
				for range 2 {
					q, b := increment(uint64(1 + g*25 + i))
					if _, err := c.call("Mutate", q, &hbasepb.MutateResponse{}, b); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	c := dial(t, s.Addr(), "ClientService")
	if got := scanCells(t, c, name); len(got) != 1 || string(got[0].Value) != "\x00\x00\x00\x00\x00\x00\x00\x64" {
		t.Fatal(got)
	}
	for _, k := range []struct {
		value   string
		op      hbasepb.CompareType
		applied bool
	}{{"x", hbasepb.CompareType_EQUAL, false}, {"", hbasepb.CompareType_EQUAL, true}, {"1", hbasepb.CompareType_EQUAL, true}, {"0", hbasepb.CompareType_GREATER, false}, {"2", hbasepb.CompareType_GREATER, true}} {
		comparable, err := proto.Marshal(&hbasepb.BinaryComparator{Comparable: &hbasepb.ByteArrayComparable{Value: []byte(k.value)}})
		if err != nil {
			t.Fatal(err)
		}
		q := &hbasepb.MutateRequest{Region: region(name), Mutation: putOf("r", 1), Condition: &hbasepb.Condition{
			Row: []byte("r"), Family: []byte("e"), Qualifier: []byte("c"), CompareType: &k.op, Comparator: &hbasepb.Comparator{Name: proto.String(hbase + "filter.BinaryComparator"), SerializedComparator: comparable},
		}}
		r := &hbasepb.MutateResponse{}
		c.must("Mutate", q, r, block(cell("r", "e", "c", 1<<63-1, 4, "1")))
		if r.GetProcessed() != k.applied {
			t.Errorf("%v %q: processed %v", k.op, k.value, r.GetProcessed())
		}
	}
}

// A scanner answers in order, and each call once. It ends when its lease expires by the server's clock, and with its region.
func TestScannerLife(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	var mu sync.Mutex
	s := start(t, embedded.Options{Clock: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }, ScannerLease: time.Hour})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	c := dial(t, s.Addr(), "ClientService")
	for i := range 5 {
		c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf(fmt.Sprint(i), 1)}, &hbasepb.MutateResponse{}, block(cell(fmt.Sprint(i), "e", "q", 1, 4, "v")))
	}
	open := func() uint64 {
		r := &hbasepb.ScanResponse{}
		c.must("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(0), NextCallSeq: proto.Uint64(0)}, r, nil)
		if !r.GetMoreResults() || !r.GetMoreResultsInRegion() {
			t.Fatal(r)
		}
		return r.GetScannerId()
	}
	next := func(id, seq uint64, rows uint32) (*hbasepb.ScanResponse, error) {
		r := &hbasepb.ScanResponse{}
		_, err := c.call("Scan", &hbasepb.ScanRequest{ScannerId: &id, NumberOfRows: &rows, NextCallSeq: &seq}, r, nil)
		return r, err
	}
	id := open()
	if r, err := next(id, 1, 3); err != nil || len(r.CellsPerResult) != 3 || !r.GetMoreResultsInRegion() {
		t.Fatal(r, err)
	}
	_, err := next(id, 1, 3)
	wantException(t, err, hbase+"exceptions.OutOfOrderScannerNextException", true)
	if r, err := next(id, 2, 3); err != nil || len(r.CellsPerResult) != 2 || r.GetMoreResultsInRegion() {
		t.Fatal(r, err)
	}
	if r, err := next(id, 3, 3); err != nil || len(r.CellsPerResult) != 0 {
		t.Fatal("the call after the last:", r, err)
	}
	id = open()
	mu.Lock()
	now = now.Add(61 * time.Minute)
	mu.Unlock()
	_, err = next(id, 1, 3)
	wantException(t, err, hbase+"UnknownScannerException", true)
	id = open()
	dial(t, s.Addr(), "MasterService").must("DisableTable", &hbasepb.DisableTableRequest{TableName: tableNamed("t")}, &hbasepb.DisableTableResponse{}, nil)
	_, err = next(id, 1, 3)
	wantException(t, err, hbase+"NotServingRegionException", false)
	_, err = next(id, 1, 3)
	wantException(t, err, hbase+"UnknownScannerException", true)
	_, err = c.call("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{}}, &hbasepb.ScanResponse{}, nil)
	wantException(t, err, hbase+"NotServingRegionException", false)
}

// A scan may be cut within rows, by bytes, batch, rows and limit, only if the client reassembles them.
func TestScanLimits(t *testing.T) {
	s := start(t, embedded.Options{})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	c := dial(t, s.Addr(), "ClientService")
	for _, row := range []string{"a", "b", "c"} {
		c.must("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: putOf(row, 3)}, &hbasepb.MutateResponse{},
			block(cell(row, "e", "1", 1, 4, "v"), cell(row, "e", "2", 1, 4, "v"), cell(row, "e", "3", 1, 4, "v")))
	}
	for _, k := range []struct {
		name, want string
		q          *hbasepb.ScanRequest
	}{
		{"all", "3 3 3", &hbasepb.ScanRequest{Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(9)}},
		{"two at a time", "3 3, 3", &hbasepb.ScanRequest{Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(2)}},
		{"one by default", "3, 3, 3", &hbasepb.ScanRequest{Scan: &hbasepb.Scan{}}},
		{"bytes, whole rows", "3, 3, 3", &hbasepb.ScanRequest{Scan: &hbasepb.Scan{MaxResultSize: proto.Uint64(1)}, NumberOfRows: proto.Uint32(9)}},
		{"bytes, partial rows", "2p, 1 1p, 2, 2p, 1", &hbasepb.ScanRequest{Scan: &hbasepb.Scan{MaxResultSize: proto.Uint64(40)}, NumberOfRows: proto.Uint32(9), ClientHandlesPartials: proto.Bool(true)}},
		{"batch", "2p 1 2p 1 2p 1", &hbasepb.ScanRequest{Scan: &hbasepb.Scan{BatchSize: proto.Uint32(2)}, NumberOfRows: proto.Uint32(9)}},
		{"limit", "3 3.", &hbasepb.ScanRequest{Scan: &hbasepb.Scan{}, NumberOfRows: proto.Uint32(9), LimitOfRows: proto.Uint32(2)}},
	} {
		if got := scanShape(t, c, name, k.q); got != k.want {
			t.Errorf("%s: got %s, want %s", k.name, got, k.want)
		}
	}
}

// scanShape returns the number of cells of each result, with p for a partial one; a comma ends a response, a dot a scan without more
// results.
func scanShape(t *testing.T, c *client, name []byte, q *hbasepb.ScanRequest) string {
	t.Helper()
	q.Region = region(name)
	var shape strings.Builder
	for {
		r := &hbasepb.ScanResponse{}
		c.must("Scan", q, r, nil)
		for i, n := range r.CellsPerResult {
			if i > 0 {
				shape.WriteByte(' ')
			}
			fmt.Fprint(&shape, n)
			if r.PartialFlagPerResult[i] {
				shape.WriteByte('p')
			}
		}
		switch {
		case !r.GetMoreResults():
			return shape.String() + "."
		case !r.GetMoreResultsInRegion():
			return shape.String()
		}
		shape.WriteString(", ")
		q = &hbasepb.ScanRequest{ScannerId: r.ScannerId, NumberOfRows: q.NumberOfRows, LimitOfRows: q.LimitOfRows, ClientHandlesPartials: q.ClientHandlesPartials}
	}
}

// When the results of a Multi exceed the limit, the remaining actions are refused, and the cells of mutations among them are skipped.
func TestMultiResultTooLarge(t *testing.T) {
	s := start(t, embedded.Options{MaxResult: 100})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	c := dial(t, s.Addr(), "ClientService")
	if err := putRow(c, name, "a", strings.Repeat("x", 100)); err != nil {
		t.Fatal(err)
	}
	get := &hbasepb.Get{Row: []byte("a")}
	r := &hbasepb.MultiResponse{}
	c.must("Multi", &hbasepb.MultiRequest{RegionAction: []*hbasepb.RegionAction{
		{Region: region(name), Action: []*hbasepb.Action{action(0, putOf("b", 1)), {Index: proto.Uint32(1), Get: get}, {Index: proto.Uint32(2), Get: get}, action(3, putOf("c", 1))}},
	}}, r, block(cell("b", "e", "q", 1, 4, "v"), cell("c", "e", "q", 1, 4, "v")))
	if got := outcomes(r); got != "0 1:1 2!MultiActionResultTooLarge 3!MultiActionResultTooLarge" {
		t.Error(got)
	}
	for row, want := range map[string]string{"b": "1", "c": ""} {
		if got := scanShape(t, c, name, &hbasepb.ScanRequest{Scan: &hbasepb.Scan{StartRow: []byte(row)}, NumberOfRows: proto.Uint32(9)}); got != want {
			t.Errorf("row %s: %q", row, got)
		}
	}
}

// A data folder from before TTLs can be read and written in its own format.
func TestFolderWithoutTTLs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "BRINE-FORMAT"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, embedded.Options{Dir: dir})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	c := dial(t, s.Addr(), "ClientService")
	if err := putRow(c, name, "a", "value\x01"); err != nil {
		t.Fatal(err)
	}
	m := putOf("b", 1)
	m.Attribute = []*hbasepb.NameBytesPair{{Name: proto.String("_ttl"), Value: make([]byte, 8)}}
	_, err := c.call("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: m}, &hbasepb.MutateResponse{}, block(cell("b", "e", "q", 1, 4, "v")))
	wantException(t, err, hbase+"DoNotRetryIOException", true)
	if cells := scanCells(t, c, name); len(cells) != 1 || string(cells[0].Value) != "value\x01" {
		t.Error(cells)
	}
}

// A mutation's own TTL counts from its cells' timestamps. Unsupported requests are refused instead of stored without the TTL.
func TestTTLOfAMutation(t *testing.T) {
	clock := &testClock{now: time.UnixMilli(1_000_000)}
	s := start(t, embedded.Options{Clock: clock.Now})
	name := create(t, s.Addr(), "t", nil, family("e"))[0]
	c := dial(t, s.Addr(), "ClientService")
	put := func(row string, ttl []byte) error {
		m := putOf(row, 1)
		m.Attribute = []*hbasepb.NameBytesPair{{Name: proto.String("_ttl"), Value: ttl}}
		_, err := c.call("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: m}, &hbasepb.MutateResponse{}, block(cell(row, "e", "q", 1_000_000, 4, "v")))
		return err
	}
	for row, ms := range map[string]uint64{"a": 1000, "b": 2000, "c": math.MaxInt64} {
		if err := put(row, binary.BigEndian.AppendUint64(nil, ms)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		cells int
	}{{0, 3}, {time.Second, 3}, {time.Millisecond, 2}, {time.Second, 1}, {time.Hour, 1}} {
		clock.Add(step.after)
		if cells := scanCells(t, c, name); len(cells) != step.cells {
			t.Errorf("%s later: %v", step.after, cells)
		}
	}
	wantException(t, put("d", []byte("30d")), "java.lang.IllegalArgumentException", true)
	increment := &hbasepb.MutationProto{Row: []byte("e"), MutateType: hbasepb.MutationProto_INCREMENT.Enum(), AssociatedCellCount: proto.Int32(1),
		Attribute: []*hbasepb.NameBytesPair{{Name: proto.String("_ttl"), Value: make([]byte, 8)}}}
	_, err := c.call("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: increment}, &hbasepb.MutateResponse{}, block(cell("e", "e", "q", 1, 4, "12345678")))
	wantException(t, err, hbase+"DoNotRetryIOException", true)
	if cells := scanCells(t, c, name); len(cells) != 1 {
		t.Error(cells)
	}
}
