package wire

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/hbase/hbasepb"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
)

// capturedMessages are the message types of the captured calls: request, response.
var capturedMessages = map[string][2]proto.Message{
	"GetClusterId":           {&hbasepb.GetClusterIdRequest{}, &hbasepb.GetClusterIdResponse{}},
	"GetActiveMaster":        {&hbasepb.GetActiveMasterRequest{}, &hbasepb.GetActiveMasterResponse{}},
	"GetMetaRegionLocations": {&hbasepb.GetMetaRegionLocationsRequest{}, &hbasepb.GetMetaRegionLocationsResponse{}},
	"IsMasterRunning":        {&hbasepb.IsMasterRunningRequest{}, &hbasepb.IsMasterRunningResponse{}},
	"CreateNamespace":        {&hbasepb.CreateNamespaceRequest{}, &hbasepb.CreateNamespaceResponse{}},
	"CreateTable":            {&hbasepb.CreateTableRequest{}, &hbasepb.CreateTableResponse{}},
	"DisableTable":           {&hbasepb.DisableTableRequest{}, &hbasepb.DisableTableResponse{}},
	"getProcedureResult":     {&hbasepb.GetProcedureResultRequest{}, &hbasepb.GetProcedureResultResponse{}},
	"GetTableDescriptors":    {&hbasepb.GetTableDescriptorsRequest{}, &hbasepb.GetTableDescriptorsResponse{}},
	"Scan":                   {&hbasepb.ScanRequest{}, &hbasepb.ScanResponse{}},
	"Get":                    {&hbasepb.GetRequest{}, &hbasepb.GetResponse{}},
	"Mutate":                 {&hbasepb.MutateRequest{}, &hbasepb.MutateResponse{}},
	"Multi":                  {&hbasepb.MultiRequest{}, &hbasepb.MultiResponse{}},
}

// captured calls f with each captured frame of a kind (request, response), without its length prefix.
func captured(t *testing.T, kind string, f func(t *testing.T, method string, frame []byte)) {
	t.Helper()
	paths, err := filepath.Glob("testdata/captured/*." + kind)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captured frames: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n, err := FrameLen([PrefixLen]byte(b), 1<<20)
			if err != nil || n != len(b)-PrefixLen {
				t.Fatalf("length prefix %d, %v; there are %d bytes", n, err, len(b)-PrefixLen)
			}
			f(t, strings.Split(filepath.Base(path), ".")[1], b[PrefixLen:])
		})
	}
}

// decode decodes a message, fails on fields that our .proto files do not have, and returns it for encoding.
func decode(t *testing.T, method string, side int, b []byte) proto.Message {
	t.Helper()
	pair, ok := capturedMessages[method]
	if !ok {
		t.Fatalf("no messages for method %s", method)
	}
	m := pair[side].ProtoReflect().New().Interface()
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	checkUnknown(t, m.ProtoReflect())
	return m
}

// undeclared are Java's fields that our .proto files leave out: query metrics, which nothing requests here.
var undeclared = map[protoreflect.FullName]string{"hbase.pb.Scan": "c80100", "hbase.pb.Get": "7800"}

func checkUnknown(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if u := hex.EncodeToString(m.GetUnknown()); u != "" && u != undeclared[m.Descriptor().FullName()] {
		t.Errorf("%s has fields that we do not declare: %s", m.Descriptor().FullName(), u)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				checkUnknown(t, v.List().Get(i).Message())
			}
		default:
			checkUnknown(t, v.Message())
		}
		return true
	})
}

// recell decodes a cell block and encodes it again.
func recell(t *testing.T, block []byte) (again []byte) {
	t.Helper()
	for len(block) > 0 {
		var c Cell
		rest, err := NextCell(&c, block)
		if err != nil {
			t.Fatal(err)
		}
		again, block = AppendCell(again, c), rest
	}
	return again
}

func TestCapturedRequestsDecodeAndEncodeToTheSameBytes(t *testing.T) {
	captured(t, "request", func(t *testing.T, method string, frame []byte) {
		r, err := DecodeRequest(frame)
		if err != nil {
			t.Fatal(err)
		}
		if r.Header.GetMethodName() != method {
			t.Errorf("method %s", r.Header.GetMethodName())
		}
		checkUnknown(t, r.Header.ProtoReflect())
		cells := recell(t, r.Cells)
		call := Call{ID: r.Header.GetCallId(), Method: method, Timeout: r.Header.GetTimeout(), Priority: r.Header.GetPriority()}
		again, err := AppendRequest(nil, call, decode(t, method, 0, r.Param), cells)
		if err != nil {
			t.Fatal(err)
		}
		header, n := protowire.ConsumeBytes(frame)
		sameBytes(t, "header", header, marshal(t, r.Header)) // Java's has an empty trace and a priority of 0, which ours omits
		_, m := protowire.ConsumeBytes(again[PrefixLen:])
		sameBytes(t, "parameter and cells", frame[n:], again[PrefixLen+m:])
	})
}

func TestCapturedResponsesDecodeAndEncodeToTheSameBytes(t *testing.T) {
	captured(t, "response", func(t *testing.T, method string, frame []byte) {
		r, err := DecodeResponse(frame)
		if err != nil {
			t.Fatal(err)
		}
		if method == "preamble" {
			method = "GetClusterId"
		}
		h := &hbasepb.ResponseHeader{CallId: proto.Uint32(r.CallID), Exception: r.Exception}
		var param proto.Message
		if r.Exception == nil {
			param = decode(t, method, 1, r.Param)
		}
		cells := recell(t, r.Cells)
		again, err := AppendResponse(nil, h, param, cells)
		if err != nil {
			t.Fatal(err)
		}
		sameBytes(t, "frame", frame, again[PrefixLen:])
	})
}

// The hand-written decoder of Multi responses decodes the captured ones like protobuf.
func TestCapturedMultiByHand(t *testing.T) {
	captured(t, "response", func(t *testing.T, method string, frame []byte) {
		if method != "Multi" {
			t.SkipNow()
		}
		r, err := DecodeResponse(frame)
		if err != nil {
			t.Fatal(err)
		}
		byHand, err := decodeMulti(r.Param)
		if err != nil {
			t.Fatal(err)
		}
		want := decode(t, method, 1, r.Param).(*hbasepb.MultiResponse)
		want.RegionStatistics, want.Processed = nil, nil // the client does not use them
		for _, region := range want.RegionActionResult {
			for _, o := range region.ResultOrException {
				o.LoadStats = nil
			}
		}
		if diff := cmp.Diff(want, byHand, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sameBytes(t *testing.T, what string, captured, encoded []byte) {
	t.Helper()
	if !bytes.Equal(captured, encoded) {
		t.Errorf("%s\ncaptured % x\nencoded  % x", what, captured, encoded)
	}
}
