package wire

import (
	"bytes"
	"fmt"
	"testing"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// TestGetsAreWhatProtobufWrites compares an encoded MultiRequest with that of hbasepb, byte for byte.
func TestGetsAreWhatProtobufWrites(t *testing.T) {
	marshal := proto.MarshalOptions{Deterministic: true}
	for _, n := range []int{1, 2, 127, 128, 129, 3000} {
		want := new(hbasepb.MultiRequest)
		var got []byte
		for _, region := range []string{"t,,1.abc.", "t,x,1.abd."} {
			ra := &hbasepb.RegionAction{Region: &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: []byte(region)}}
			var gets []byte
			var ends []int
			for i := range n {
				get := &hbasepb.Get{Row: fmt.Appendf(nil, "row%d%s", i, bytes.Repeat([]byte("x"), i%200)), MaxVersions: proto.Uint32(uint32(1 + i%300))}
				var from, to int64
				if i%3 == 1 {
					from, to = int64(i), 1<<62
					get.TimeRange = &hbasepb.TimeRange{From: proto.Uint64(uint64(from)), To: proto.Uint64(uint64(to))}
				}
				gets = AppendGet(gets, get.Row, nil, get.GetMaxVersions(), from, to)
				ends = append(ends, len(gets))
				ra.Action = append(ra.Action, &hbasepb.Action{Index: proto.Uint32(uint32(i)), Get: get})
			}
			want.RegionAction = append(want.RegionAction, ra)
			got = AppendRegionGets(got, []byte(region), gets, ends)
		}
		if w, err := marshal.Marshal(want); err != nil || !bytes.Equal(got, w) {
			t.Errorf("%d gets: %d bytes differ from the %d of hbasepb, error %v", n, len(got), len(w), err)
		}
	}
}

// TestGetRequestsAreWhatProtobufWrites compares frames of gets with and without columns with those of AppendRequest, byte for byte.
func TestGetRequestsAreWhatProtobufWrites(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 200)
	for _, columns := range [][]*hbasepb.Column{
		nil,
		{{Family: []byte("e")}},
		{{Family: []byte{}, Qualifier: [][]byte{{}}}},
		{{Family: long, Qualifier: [][]byte{[]byte("a"), long, {}}}, {Family: []byte("f")}, {Family: []byte("g"), Qualifier: [][]byte{long}}},
	} {
		for _, row := range [][]byte{{}, []byte("row"), long} {
			for _, to := range []uint64{0, 1, 1 << 62} {
				for _, c := range []Call{{ID: 1, Method: "Get"}, {ID: 1<<31 - 1, Method: "Get", Timeout: 60_000, Priority: 200, Trace: []byte("trace")}} {
					get := &hbasepb.Get{Row: row, Column: columns, MaxVersions: proto.Uint32(uint32(1 + to%1000))}
					if to > 0 {
						get.TimeRange = &hbasepb.TimeRange{From: proto.Uint64(to / 2), To: proto.Uint64(to)}
					}
					for _, region := range []string{"t,,1.abc.", "t," + string(long) + ",1.abc."} {
						specifier := &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: []byte(region)}
						want, err := AppendRequest([]byte("before"), c, &hbasepb.GetRequest{Region: specifier, Get: get}, nil)
						if err != nil {
							t.Fatal(err)
						}
						encoded := AppendGet(nil, row, columns, get.GetMaxVersions(), int64(to/2), int64(to))
						got, err := AppendGetRequest([]byte("before"), c, []byte(region), encoded)
						if err != nil || !bytes.Equal(got, want) {
							t.Errorf("%v:\n%x, error %v, want\n%x", get, got, err, want)
						}
					}
				}
			}
		}
	}
}

// FuzzGet compares an encoded Get with that of hbasepb.
func FuzzGet(f *testing.F) {
	f.Add([]byte("row"), []byte("e"), []byte("q"), true, uint32(1), int64(0), int64(5))
	f.Add([]byte{}, []byte{}, []byte{}, false, uint32(300), int64(-1), int64(0))
	f.Fuzz(func(t *testing.T, row, family, qualifier []byte, whole bool, versions uint32, from, to int64) {
		row, family, qualifier = append([]byte{}, row...), append([]byte{}, family...), append([]byte{}, qualifier...) // not nil
		m := &hbasepb.Get{Row: row, MaxVersions: &versions, Column: []*hbasepb.Column{{Family: family}}}
		if !whole {
			m.Column[0].Qualifier = [][]byte{qualifier, row}
		}
		if from != 0 || to != 0 {
			m.TimeRange = &hbasepb.TimeRange{From: proto.Uint64(uint64(from)), To: proto.Uint64(uint64(to))}
		}
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if got := AppendGet(nil, row, m.Column, versions, from, to); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%x, want %x, error %v", got, want, err)
		}
	})
}

// FuzzGetResponse checks that what is decoded without hbasepb is what hbasepb decodes, for any bytes, and that all answers without cells in
// the message are decoded so.
func FuzzGetResponse(f *testing.F) {
	f.Add(int32(3), true, true, []byte{0x0a, 0x02, 0x10, 0x05})
	f.Add(int32(-1), false, true, []byte{0x0a, 0x00, 0x0a, 0x02, 0x10, 0x05})
	f.Add(int32(0), false, false, []byte{0x0a, 0x03, 0x10, 0x80, 0x80})
	f.Add(int32(0), false, false, []byte("\x0a\x0d\x10\x85\x80\x80\x80\x80\x80\x80\x80\x80\x01\x20\x07"))
	f.Add(int32(0), false, false, []byte("\x0a\x08\x13\x14\x80\x80\x80\x80\x10\x01"))
	f.Fuzz(func(t *testing.T, count int32, stale, result bool, raw []byte) {
		m, want := new(hbasepb.GetResponse), ResultHead{}
		if result {
			m.Result, want = &hbasepb.Result{AssociatedCellCount: &count, Stale: &stale}, ResultHead{Cells: int(count), Stale: stale}
		}
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := DecodeGetResponse(b); !ok || got != want {
			t.Errorf("%v: %+v, %v", m, got, ok)
		}
		got, ok := DecodeGetResponse(raw)
		if !ok {
			return
		}
		if err := proto.Unmarshal(raw, m); err != nil {
			t.Fatalf("%x: %+v, but hbasepb says %v", raw, got, err)
		}
		want = ResultHead{Cells: int(m.GetResult().GetAssociatedCellCount()), Stale: m.GetResult().GetStale(), Inline: len(m.GetResult().GetCell()) > 0}
		if got != want {
			t.Errorf("%x: %+v, want %+v", raw, got, want)
		}
	})
}

func TestResultHeads(t *testing.T) {
	cell := &hbasepb.Cell{Row: []byte("r")}
	for _, c := range []struct {
		result *hbasepb.Result
		want   ResultHead
	}{
		{&hbasepb.Result{}, ResultHead{}},
		{&hbasepb.Result{AssociatedCellCount: proto.Int32(300), Exists: proto.Bool(true)}, ResultHead{Cells: 300}},
		{&hbasepb.Result{AssociatedCellCount: proto.Int32(-1), Stale: proto.Bool(true)}, ResultHead{Cells: -1, Stale: true}},
		{&hbasepb.Result{Cell: []*hbasepb.Cell{cell}, Stale: proto.Bool(false)}, ResultHead{Inline: true}},
	} {
		b, err := proto.Marshal(c.result)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeResultHead(b); err != nil || got != c.want {
			t.Errorf("%v: %+v, error %v", c.result, got, err)
		}
	}
	if _, err := DecodeResultHead([]byte{0xff}); err == nil {
		t.Error("no error for a damaged result")
	}
}

// FuzzResultHead checks that a Result's head is decoded as it was encoded, and that no bytes make the decoder panic.
func FuzzResultHead(f *testing.F) {
	f.Add(int32(3), true, false, []byte{0x10, 0xff})
	f.Add(int32(-1), false, true, []byte{0x0a, 0x7f})
	f.Fuzz(func(t *testing.T, count int32, stale, inline bool, raw []byte) {
		m, want := &hbasepb.Result{AssociatedCellCount: &count, Stale: &stale}, ResultHead{Cells: int(count), Stale: stale, Inline: inline}
		if inline {
			m.Cell = []*hbasepb.Cell{{Row: raw}}
		}
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeResultHead(b); err != nil || got != want {
			t.Errorf("%+v, error %v, want %+v", got, err, want)
		}
		_, _ = DecodeResultHead(raw)
	})
}
