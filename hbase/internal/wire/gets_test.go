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
				gets = AppendGet(gets, get.Row, get.GetMaxVersions(), from, to)
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
