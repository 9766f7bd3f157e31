package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"brine/hbase/hbasepb"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

func TestFrameLen(t *testing.T) {
	tests := []struct {
		prefix uint32
		max    int
		want   int
		err    error
	}{
		{0, 10, 0, nil},
		{10, 10, 10, nil},
		{11, 10, 0, ErrTooLong},
		{0x7fffffff, 1 << 28, 0, ErrTooLong},
		{0x80000000, 10, 0, ErrMalformed},
		{0xffffffff, 10, 0, ErrMalformed},
	}
	for _, tt := range tests {
		var p [PrefixLen]byte
		binary.BigEndian.PutUint32(p[:], tt.prefix)
		got, err := FrameLen(p, tt.max)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("FrameLen(%#x, %d) = %d, %v", tt.prefix, tt.max, got, err)
		}
	}
}

func TestPreamble(t *testing.T) {
	for _, p := range []Preamble{{Calls, AuthSimple}, {Calls, AuthKerberos}, {Calls, AuthDigest}, {Kind: Registry}, {Kind: SecurityInfo}} {
		b := AppendPreamble(nil, p)
		got, err := DecodePreamble([PreambleLen]byte(b))
		if err != nil || got != p {
			t.Errorf("%v: %q became %v, %v", p, b, got, err)
		}
	}
	if got := hex.EncodeToString(AppendPreamble(nil, Preamble{Auth: AuthSimple})); got != "484261730050" {
		t.Errorf("simple preamble is %s", got)
	}
	for _, bad := range []string{"GET / ", "HBas\x01P", "hbas\x00P"} {
		if _, err := DecodePreamble([PreambleLen]byte([]byte(bad))); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestConnectionHeaderRoundTrip(t *testing.T) {
	h := &hbasepb.ConnectionHeader{
		UserInfo:            &hbasepb.UserInformation{EffectiveUser: proto.String("brine")},
		ServiceName:         proto.String("ClientService"),
		CellBlockCodecClass: proto.String(Codec),
	}
	frame, err := AppendConnectionHeader(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeConnectionHeader(unframe(t, frame))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// The hand-written header must equal hbasepb's.
func TestRequestRoundTrip(t *testing.T) {
	for _, c := range []Call{
		{ID: 0, Method: "Get"},
		{ID: 300, Method: "Multi", Timeout: 60000, Priority: 200},
		{ID: 1<<31 - 1, Method: "Scan", Timeout: 1},
	} {
		for _, cells := range [][]byte{nil, []byte("cells"), bytes.Repeat([]byte("c"), 200)} {
			param := &hbasepb.GetRequest{
				Region: &hbasepb.RegionSpecifier{Type: hbasepb.RegionSpecifier_REGION_NAME.Enum(), Value: []byte("region")},
				Get:    &hbasepb.Get{Row: []byte("row")},
			}
			frame, err := AppendRequest([]byte("before"), c, param, cells)
			if err != nil {
				t.Fatal(err)
			}
			frame = frame[len("before"):]
			r, err := DecodeRequest(unframe(t, frame))
			if err != nil {
				t.Fatal(err)
			}
			want := &hbasepb.RequestHeader{CallId: &c.ID, MethodName: &c.Method, RequestParam: proto.Bool(true)}
			if c.Timeout > 0 {
				want.Timeout = &c.Timeout
			}
			if c.Priority > 0 {
				want.Priority = &c.Priority
			}
			if len(cells) > 0 {
				want.CellBlockMeta = &hbasepb.CellBlockMeta{Length: proto.Uint32(uint32(len(cells)))}
			}
			if diff := cmp.Diff(want, r.Header, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			if !bytes.Equal(r.Cells, cells) {
				t.Errorf("cells %q, want %q", r.Cells, cells)
			}
			got := new(hbasepb.GetRequest)
			if err := proto.Unmarshal(r.Param, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(param, got, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			begun, err := BeginRequest(nil, c, r.Param, len(cells))
			if err != nil || !bytes.Equal(append(begun, cells...), frame) {
				t.Errorf("BeginRequest differs from AppendRequest: %v", err)
			}
		}
	}
}

func TestResponseRoundTrip(t *testing.T) {
	exception := &hbasepb.ExceptionResponse{ExceptionClassName: proto.String("java.io.IOException"), DoNotRetry: proto.Bool(true)}
	tests := []struct {
		name      string
		exception *hbasepb.ExceptionResponse
		param     proto.Message
		cells     []byte
	}{
		{name: "nothing"},
		{name: "exception", exception: exception},
		{name: "result", param: &hbasepb.MutateResponse{Processed: proto.Bool(true)}},
		{name: "empty result", param: &hbasepb.GetResponse{}},
		{name: "result and cells", param: &hbasepb.ScanResponse{ScannerId: proto.Uint64(7)}, cells: []byte("cells")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &hbasepb.ResponseHeader{CallId: proto.Uint32(9), Exception: tt.exception}
			frame, err := AppendResponse(nil, h, tt.param, tt.cells)
			if err != nil {
				t.Fatal(err)
			}
			r, err := DecodeResponse(unframe(t, frame))
			if err != nil {
				t.Fatal(err)
			}
			if r.CallID != 9 || !bytes.Equal(r.Cells, tt.cells) || (r.Param != nil) != (tt.param != nil) {
				t.Errorf("%+v", r)
			}
			if diff := cmp.Diff(tt.exception, r.Exception, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCellBlockLengthIsChecked(t *testing.T) {
	head := &hbasepb.ResponseHeader{CallId: proto.Uint32(1), CellBlockMeta: &hbasepb.CellBlockMeta{Length: proto.Uint32(1 << 31)}}
	b, err := appendDelimited(nil, head)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeResponse(append(b, "short"...)); !errors.Is(err, ErrMalformed) {
		t.Errorf("response: %v", err)
	}
	req := &hbasepb.RequestHeader{CellBlockMeta: head.CellBlockMeta}
	if b, err = appendDelimited(nil, req); err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeRequest(append(b, "short"...)); !errors.Is(err, ErrMalformed) {
		t.Errorf("request: %v", err)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	frame, _ := AppendRequest(nil, Call{ID: 1, Method: "Get", Timeout: 5}, &hbasepb.GetMastersRequest{}, []byte("cells"))
	f.Add(frame[PrefixLen:])
	f.Add([]byte{0})
	f.Add([]byte{2, 0x20, 1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRequest(b)
		if err == nil && len(r.Param)+len(r.Cells) > len(b) {
			t.Fatalf("%d bytes of parameter and %d of cells in a frame of %d", len(r.Param), len(r.Cells), len(b))
		}
	})
}

// The hand-written decoder must accept no header that hbasepb rejects, and decode the same from it, however its bytes arrive.
func FuzzDecodeResponse(f *testing.F) {
	for _, h := range []*hbasepb.ResponseHeader{
		{CallId: proto.Uint32(3)},
		{CallId: proto.Uint32(4), Exception: &hbasepb.ExceptionResponse{ExceptionClassName: proto.String("E"), Port: proto.Int32(-1)}},
		{CallId: proto.Uint32(5), Exception: &hbasepb.ExceptionResponse{StackTrace: proto.String(strings.Repeat("x", MaxText+1)), Hostname: proto.String("h"), DoNotRetry: proto.Bool(true)}},
	} {
		frame, _ := AppendResponse(nil, h, &hbasepb.GetResponse{}, []byte("cells"))
		f.Add(frame[PrefixLen:])
	}
	f.Add([]byte("\x06\x80\xff\xff\xff00")) // a field number above the maximum
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeResponse(b)
		slow, slowErr := ReadResponseHeader(bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(b)), 16), len(b))
		if (slowErr != nil || slow.CallID != r.CallID || !proto.Equal(slow.Exception, r.Exception)) && err == nil {
			t.Fatalf("%+v byte by byte, %+v at once: %v", slow, r, slowErr)
		}
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		head, _, err := delimited(b, "header")
		if err != nil {
			t.Fatal(err)
		}
		h := new(hbasepb.ResponseHeader)
		if err := proto.Unmarshal(head, h); err != nil {
			t.Fatal(err)
		}
		if h.GetCallId() != r.CallID {
			t.Fatalf("call %d, hbasepb reads %d", r.CallID, h.GetCallId())
		}
		sameException(t, r.Exception, h.Exception)
	})
}

func sameException(t *testing.T, got, whole *hbasepb.ExceptionResponse) {
	t.Helper()
	if (whole == nil) != (got == nil) {
		t.Fatalf("exception %v, hbasepb reads %v", got, whole)
	}
	if whole == nil {
		return
	}
	for _, text := range []**string{&whole.ExceptionClassName, &whole.StackTrace, &whole.Hostname} {
		if *text != nil {
			*text = proto.String((**text)[:min(len(**text), MaxText)])
		}
	}
	whole.ProtoReflect().SetUnknown(nil)
	if diff := cmp.Diff(whole, got, protocmp.Transform()); diff != "" {
		t.Fatal(diff)
	}
}

// What follows a long stack is decoded, and the stack takes no memory beyond the part that is kept.
func TestALongStackIsPassedOver(t *testing.T) {
	long := strings.Repeat("x", 16<<20)
	e := &hbasepb.ExceptionResponse{
		ExceptionClassName: &long, StackTrace: &long, Hostname: proto.String("h"), Port: proto.Int32(7), DoNotRetry: proto.Bool(true), ServerOverloaded: proto.Bool(true),
	}
	frame, err := AppendResponse(nil, &hbasepb.ResponseHeader{CallId: proto.Uint32(9), Exception: e}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(bytes.NewReader(frame[PrefixLen:]))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := ReadResponseHeader(in, len(frame)-PrefixLen)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err != nil || took > 8*MaxText {
		t.Errorf("%d bytes: %v", took, err)
	}
	if h.CallID != 9 || h.Rest != 0 {
		t.Errorf("call %d, %d bytes left", h.CallID, h.Rest)
	}
	sameException(t, h.Exception, e)
}

// A frame that ends before its header is a broken connection; a header that ends before its fields is malformed.
func TestShortHeaders(t *testing.T) {
	e := &hbasepb.ExceptionResponse{ExceptionClassName: proto.String("E"), StackTrace: proto.String("at x"), Port: proto.Int32(300)}
	frame, err := AppendResponse(nil, &hbasepb.ResponseHeader{CallId: proto.Uint32(900), Exception: e}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	frame = frame[PrefixLen:]
	for n := range frame {
		if _, err := ReadResponseHeader(bufio.NewReader(bytes.NewReader(frame[:n])), len(frame)); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut off after %d bytes: %v", n, err)
		}
		if _, err := DecodeResponse(frame[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("a frame of %d bytes: %v", n, err)
		}
	}
}

func FuzzDecodeConnection(f *testing.F) {
	f.Add([]byte("HBas\x00P\x0a\x00"))
	f.Add([]byte("Registxx"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if len(b) < PreambleLen {
			return
		}
		_, _ = DecodePreamble([PreambleLen]byte(b))
		_, _ = DecodeConnectionHeader(b[PreambleLen:])
	})
}

func unframe(t *testing.T, frame []byte) []byte {
	t.Helper()
	n, err := FrameLen([PrefixLen]byte(frame), 1<<20)
	if err != nil || n != len(frame)-PrefixLen {
		t.Fatalf("frame of %d bytes says %d: %v", len(frame), n, err)
	}
	return frame[PrefixLen:]
}
