package wire

import (
	"encoding/binary"
	"testing"

	"brine/hbase/hbasepb"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

func someMutations(n int) []Mutation {
	ms := make([]Mutation, n)
	for i := range ms {
		ms[i] = Mutation{Row: []byte("md5x_waybill_000000000001"), Delete: i%3 == 1, Cells: 1 + i%200, Durability: hbasepb.MutationProto_Durability(i % 5), TTL: int64(i % 4 * 1e9)}
	}
	return ms
}

func TestRegionActionIsWhatProtobufWrites(t *testing.T) {
	for _, n := range []int{1, 2, 127, 128, 129, 3000} {
		ms := someMutations(n)
		got := AppendRegionAction(nil, []byte("t,,1.abc."), ms)
		got = AppendRegionAction(got, []byte("t,x,1.abd."), ms[:1])
		want := &hbasepb.MultiRequest{RegionAction: []*hbasepb.RegionAction{
			regionAction("t,,1.abc.", ms), regionAction("t,x,1.abd.", ms[:1]),
		}}
		decoded := new(hbasepb.MultiRequest)
		if err := proto.Unmarshal(got, decoded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, decoded, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		if proto.Size(want) != len(got) {
			t.Errorf("%d bytes, hbasepb writes %d", len(got), proto.Size(want))
		}
	}
}

func regionAction(region string, ms []Mutation) *hbasepb.RegionAction {
	ra := &hbasepb.RegionAction{Region: &hbasepb.RegionSpecifier{
		Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: []byte(region),
	}}
	for i, m := range ms {
		kind := hbasepb.MutationProto_PUT
		if m.Delete {
			kind = hbasepb.MutationProto_DELETE
		}
		mutation := &hbasepb.MutationProto{Row: m.Row, MutateType: &kind, AssociatedCellCount: proto.Int32(int32(m.Cells))}
		if m.Durability != hbasepb.MutationProto_USE_DEFAULT {
			mutation.Durability = &m.Durability
		}
		if m.TTL != 0 {
			mutation.Attribute = []*hbasepb.NameBytesPair{{Name: proto.String("_ttl"), Value: binary.BigEndian.AppendUint64(nil, uint64(m.TTL))}}
		}
		ra.Action = append(ra.Action, &hbasepb.Action{Index: proto.Uint32(uint32(i)), Mutation: mutation})
	}
	return ra
}

// decodeMulti decodes a whole response into hbasepb's message, but only what the hand-written decoder knows.
func decodeMulti(b []byte) (*hbasepb.MultiResponse, error) {
	m := new(hbasepb.MultiResponse)
	for {
		r, rest, ok, err := NextRegionResult(b)
		if err != nil {
			return nil, err
		}
		if !ok {
			return m, nil
		}
		b = rest
		result := &hbasepb.RegionActionResult{Exception: pair(r.Exception)}
		for {
			o, ok, err := r.Next()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			roe := &hbasepb.ResultOrException{Index: proto.Uint32(o.Index), Exception: pair(o.Exception)}
			if o.HasResult {
				roe.Result = new(hbasepb.Result)
				if err := proto.Unmarshal(o.Result, roe.Result); err != nil {
					return nil, err
				}
			}
			result.ResultOrException = append(result.ResultOrException, roe)
		}
		m.RegionActionResult = append(m.RegionActionResult, result)
	}
}

func pair(e Exception) *hbasepb.NameBytesPair {
	if e.Class == "" {
		return nil
	}
	return &hbasepb.NameBytesPair{Name: proto.String(e.Class), Value: []byte(e.Text)}
}

func someMultiResponse() *hbasepb.MultiResponse {
	boom := pair(Exception{"org.apache.hadoop.hbase.RegionTooBusyException", "over memstore limit"})
	return &hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{
		{ResultOrException: []*hbasepb.ResultOrException{
			{Index: proto.Uint32(0), Result: &hbasepb.Result{}},
			{Index: proto.Uint32(1), Exception: boom},
			{Index: proto.Uint32(2), Result: &hbasepb.Result{AssociatedCellCount: proto.Int32(3)}},
			{Index: proto.Uint32(3)},
		}},
		{Exception: boom},
		{},
	}}
}

func TestMultiResponseIsWhatProtobufReads(t *testing.T) {
	want := someMultiResponse()
	b, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeMulti(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func FuzzMultiResponse(f *testing.F) {
	b, _ := proto.Marshal(someMultiResponse())
	f.Add(b)
	f.Add([]byte{10, 2, 18, 0})
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = decodeMulti(b) })
}

func BenchmarkEncodeMulti(b *testing.B) {
	ms := someMutations(1000)
	var block []byte
	for range ms {
		for range 3 {
			block = AppendCell(block, Cell{Row: ms[0].Row, Family: []byte("e"), Qualifier: []byte("s"), Value: make([]byte, 20)})
		}
	}
	param, frame := make([]byte, 0, 1<<20), make([]byte, 0, 1<<20)
	region := []byte("logistics:scans,,1700000000000.0123456789abcdef0123456789abcdef.")
	b.ReportAllocs()
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		param = AppendRegionAction(param[:0], region, ms)
		var err error
		if frame, err = BeginRequest(frame[:0], Call{ID: 1, Method: "Multi", Timeout: 60000}, param, len(block)); err != nil {
			b.Fatal(err)
		}
		frame = append(frame, block...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ms)), "ns/mutation")
}

func BenchmarkDecodeMulti(b *testing.B) {
	result := &hbasepb.RegionActionResult{}
	for i := range 1000 {
		result.ResultOrException = append(result.ResultOrException,
			&hbasepb.ResultOrException{Index: proto.Uint32(uint32(i)), Result: &hbasepb.Result{}})
	}
	response, err := proto.Marshal(&hbasepb.MultiResponse{RegionActionResult: []*hbasepb.RegionActionResult{result}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, _, ok, err := NextRegionResult(response)
		if !ok || err != nil {
			b.Fatal(ok, err)
		}
		n := 0
		for {
			_, ok, err := r.Next()
			if err != nil {
				b.Fatal(err)
			}
			if !ok {
				break
			}
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/mutation")
}
