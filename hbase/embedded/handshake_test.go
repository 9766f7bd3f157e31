package embedded_test

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
	"brine/internal/gssapi"
	"brine/internal/gssapi/gssapitest"

	"google.golang.org/protobuf/proto"
)

const hbase = "org.apache.hadoop.hbase."

// An unsupported start of a connection is answered once, for no call, with HBase's exception; then the connection is closed.
func TestRefusedConnections(t *testing.T) {
	s := start(t, embedded.Options{})
	header := func(h *hbasepb.ConnectionHeader) string {
		b, err := wire.AppendConnectionHeader(wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthSimple}), h)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	service := proto.String("ClientService")
	for _, c := range []struct{ name, bytes, class string }{
		{"not HBase", "GET / HTTP/1.1\r\n", "ipc.FatalConnectionException"},
		{"version", "HBas\x01\x50", "ipc.WrongVersionException"},
		{"kerberos", "HBas\x00\x51", "ipc.BadAuthException"},
		{"token", "HBas\x00\x52", "ipc.BadAuthException"},
		{"service", header(&hbasepb.ConnectionHeader{ServiceName: proto.String("NoService")}), "ipc.UnknownServiceException"},
		{"codec", header(&hbasepb.ConnectionHeader{ServiceName: service, CellBlockCodecClass: proto.String("x.Y")}), "ipc.UnsupportedCellCodecException"},
		{"compressor", header(&hbasepb.ConnectionHeader{ServiceName: service, CellBlockCodecClass: proto.String(wire.Codec), CellBlockCompressorClass: proto.String("org.apache.hadoop.io.compress.BZip2Codec")}), "ipc.UnsupportedCompressionCodecException"},
		{"cipher", header(&hbasepb.ConnectionHeader{ServiceName: service, RpcCryptoCipherTransformation: proto.String("AES/CTR/NoPadding")}), "ipc.UnsupportedCryptoException"},
		{"for another user", header(&hbasepb.ConnectionHeader{ServiceName: service, UserInfo: &hbasepb.UserInformation{
			EffectiveUser: proto.String("ann"), RealUser: proto.String("gateway"),
		}}), "security.AccessDeniedException"},
		{"header is not a message", "HBas\x00\x50\x00\x00\x00\x02\xff\xff", "ipc.FatalConnectionException"},
		{"header too long", "HBas\x00\x50\x7f\xff\xff\xff", "ipc.FatalConnectionException"},
		{"frame of negative length", header(&hbasepb.ConnectionHeader{ServiceName: service}) + "\xff\xff\xff\xff", "ipc.FatalConnectionException"},
		{"request is not a message", header(&hbasepb.ConnectionHeader{ServiceName: service}) + "\x00\x00\x00\x02\x01\xff", "ipc.FatalConnectionException"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := dialBytes(t, s.Addr(), []byte(c.bytes))
			got, err := r.receive()
			if err != nil {
				t.Fatal(err)
			}
			if got.CallID != 1<<32-1 || got.Exception.GetExceptionClassName() != hbase+c.class || !got.Exception.GetDoNotRetry() {
				t.Fatalf("call %d: %v", got.CallID, got.Exception)
			}
			if _, err := r.receive(); err == nil {
				t.Fatal("the connection goes on")
			}
		})
	}
}

// The registry preamble of HBase 2.6's clients is answered with the cluster's id, without a connection header, and the connection ends.
func TestRegistryPreamble(t *testing.T) {
	s := start(t, embedded.Options{})
	c := dialBytes(t, s.Addr(), wire.AppendPreamble(nil, wire.Preamble{Kind: wire.Registry}))
	r, err := c.receive()
	if err != nil {
		t.Fatal(err)
	}
	got, asked := &hbasepb.GetConnectionRegistryResponse{}, &hbasepb.GetClusterIdResponse{}
	if err := proto.Unmarshal(r.Param, got); err != nil {
		t.Fatal(err)
	}
	dial(t, s.Addr(), "ClientMetaService").must("GetClusterId", &hbasepb.GetClusterIdRequest{}, asked, nil)
	if got.GetClusterId() == "" || got.GetClusterId() != asked.GetClusterId() {
		t.Fatalf("%q by preamble, %q by call", got.GetClusterId(), asked.GetClusterId())
	}
	if _, err := c.receive(); !errors.Is(err, io.EOF) {
		t.Fatalf("the connection goes on: %v", err)
	}
}

// The preamble that asks for a Kerberos principal is answered that there is none, and another preamble may follow.
func TestSecurityPreamble(t *testing.T) {
	s := start(t, embedded.Options{})
	b := wire.AppendPreamble(nil, wire.Preamble{Kind: wire.SecurityInfo})
	b = wire.AppendPreamble(b, wire.Preamble{Auth: wire.AuthSimple})
	b, err := wire.AppendConnectionHeader(b, &hbasepb.ConnectionHeader{ServiceName: proto.String("MasterService")})
	if err != nil {
		t.Fatal(err)
	}
	c := dialBytes(t, s.Addr(), b)
	r, err := c.receive()
	if err != nil || r.Exception.GetExceptionClassName() != hbase+"exceptions.SecurityNotEnabledException" {
		t.Fatal(r.Exception, err)
	}
	c.must("IsMasterRunning", &hbasepb.IsMasterRunningRequest{}, &hbasepb.IsMasterRunningResponse{}, nil)
}

// With Kerberos the answer is the server's principal, from which a client knows which ticket to request.
func TestSecurityPreambleWithKerberos(t *testing.T) {
	keytab := gssapitest.NewKDC("TEST.EXAMPLE").Keytab(t, "hbase/localhost")
	s := start(t, embedded.Options{Kerberos: &embedded.Kerberos{Keytab: keytab}})
	b := wire.AppendPreamble(nil, wire.Preamble{Kind: wire.SecurityInfo})
	c := dialBytes(t, s.Addr(), wire.AppendPreamble(b, wire.Preamble{Auth: wire.AuthSimple}))
	r, err := c.receive()
	if err != nil {
		t.Fatal(err)
	}
	got := &hbasepb.SecurityPreamableResponse{}
	if err := proto.Unmarshal(r.Param, got); err != nil || got.GetServerPrincipal() != "hbase/localhost@TEST.EXAMPLE" {
		t.Errorf("%q, %v", got.GetServerPrincipal(), err)
	}
	if r, err := c.receive(); err != nil || r.Exception.GetExceptionClassName() != hbase+"security.AccessDeniedException" {
		t.Errorf("and without a ticket: %v, %v", r.Exception, err)
	}
}

// A client with a ticket may name itself in its header, as Java's does, but nobody else.
func TestActingForOtherUsers(t *testing.T) {
	kdc := gssapitest.NewKDC("TEST.EXAMPLE")
	keytab := kdc.Keytab(t, "hbase/localhost")
	s := start(t, embedded.Options{Kerberos: &embedded.Kerberos{Keytab: keytab}})
	login, err := gssapi.NewLogin(gssapi.Options{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, "kdc:88"), Dial: kdc.Dial})
	if err != nil {
		t.Fatal(err)
	}
	defer login.Close()
	ticket, err := login.Ticket(t.Context(), "hbase/localhost")
	if err != nil {
		t.Fatal(err)
	}
	for user, refused := range map[string]bool{"brine@TEST.EXAMPLE": false, "ann@TEST.EXAMPLE": true} {
		c := dialBytes(t, s.Addr(), wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthKerberos}))
		exchange := gssapi.NewClient(ticket, gssapi.Auth)
		for answer := []byte(nil); ; {
			token, err := exchange.Step(answer)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.c.Write(wire.AppendSASLToken(nil, token)); err != nil {
				t.Fatal(err)
			}
			if exchange.Done() {
				break
			}
			if answer, err = wire.ReadSASLChallenge(c.in); err != nil {
				t.Fatal(err)
			}
		}
		h, err := wire.AppendConnectionHeader(nil, &hbasepb.ConnectionHeader{
			ServiceName: proto.String("MasterService"), UserInfo: &hbasepb.UserInformation{EffectiveUser: &user},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.c.Write(h); err != nil {
			t.Fatal(err)
		}
		if !refused {
			c.must("IsMasterRunning", &hbasepb.IsMasterRunningRequest{}, &hbasepb.IsMasterRunningResponse{}, nil)
			continue
		}
		r, err := c.receive()
		if err != nil || r.Exception.GetExceptionClassName() != hbase+"security.AccessDeniedException" ||
			!strings.Contains(r.Exception.GetStackTrace(), "brine@TEST.EXAMPLE is not allowed to impersonate ann@TEST.EXAMPLE") {
			t.Errorf("%v, %v", r.Exception, err)
		}
	}
}

func exception(err error) *hbasepb.ExceptionResponse {
	var r *remote
	if errors.As(err, &r) {
		return r.ExceptionResponse
	}
	return nil
}

func wantException(t *testing.T, err error, class string, final bool) {
	t.Helper()
	e := exception(err)
	if e.GetExceptionClassName() != class || e.GetDoNotRetry() != final {
		t.Fatalf("got %v, want %s, do not retry %v", err, class, final)
	}
}

// A request that is too big is answered and discarded; the connection stays open.
func TestRequestTooBig(t *testing.T) {
	s := start(t, embedded.Options{MaxRequest: 10_000})
	c := dial(t, s.Addr(), "ClientService")
	_, err := c.call("Multi", &hbasepb.MultiRequest{}, &hbasepb.MultiResponse{}, make([]byte, 200_000))
	wantException(t, err, hbase+"exceptions.RequestTooBigException", true)
	c.must("Multi", &hbasepb.MultiRequest{}, &hbasepb.MultiResponse{}, nil)
}

// An unsupported call is refused by name, and so is an invalid parameter.
func TestUnsupportedCalls(t *testing.T) {
	s := start(t, embedded.Options{})
	c := dial(t, s.Addr(), "MasterService")
	for _, method := range []string{"Snapshot", "SplitRegion", "NoSuchMethod", ""} {
		_, err := c.call(method, &hbasepb.IsMasterRunningRequest{}, &hbasepb.IsMasterRunningResponse{}, nil)
		wantException(t, err, hbase+"DoNotRetryIOException", true)
	}
	_, err := c.call("CreateTable", &hbasepb.IsMasterRunningRequest{}, &hbasepb.CreateTableResponse{}, nil)
	wantException(t, err, hbase+"DoNotRetryIOException", true)
}

// FuzzConnection sends arbitrary bytes after a valid start: the server must survive them.
func FuzzConnection(f *testing.F) {
	frame := func(method string, param proto.Message, cells []byte) []byte {
		b, err := wire.AppendRequest(nil, wire.Call{ID: 1, Method: method}, param, cells)
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	s := start(f, embedded.Options{MaxRequest: 1 << 20})
	name := create(f, s.Addr(), "t", nil, family("e"))[0]
	get := &hbasepb.Get{Row: []byte("r"), Filter: &hbasepb.Filter{Name: proto.String(hbase + "filter.FilterList"), SerializedFilter: []byte{8, 1}}}
	put := &hbasepb.MutationProto{Row: []byte("r"), MutateType: hbasepb.MutationProto_PUT.Enum(), AssociatedCellCount: proto.Int32(1)}
	block := wire.AppendCell(nil, cell("r", "e", "q", 1, 4, "v"))
	f.Add(frame("Get", &hbasepb.GetRequest{Region: region(name), Get: get}, nil))
	f.Add(frame("Mutate", &hbasepb.MutateRequest{Region: region(name), Mutation: put}, block))
	f.Add(frame("Scan", &hbasepb.ScanRequest{Region: region(name), Scan: &hbasepb.Scan{Reversed: proto.Bool(true)}}, nil))
	f.Add(frame("Multi", &hbasepb.MultiRequest{RegionAction: []*hbasepb.RegionAction{{Region: region(name), Action: []*hbasepb.Action{{Get: get}, {Mutation: put}, {}}}}}, block))
	alive := dial(f, s.Addr(), "MasterService")
	f.Fuzz(func(t *testing.T, b []byte) {
		c := dial(t, s.Addr(), "ClientService")
		if len(b) >= 4 && int(binary.BigEndian.Uint32(b)) != len(b)-4 {
			binary.BigEndian.PutUint32(b, uint32(len(b)-4)) // a whole frame gets further than a truncated one
		}
		c.c.Write(b)
		c.c.(interface{ CloseWrite() error }).CloseWrite()
		for {
			r, err := c.receive()
			if err != nil {
				break
			}
			if e := r.Exception; containsBug(e.GetStackTrace()) {
				t.Fatalf("%q: %s", b, e.GetStackTrace())
			}
		}
		alive.t = t
		if _, err := alive.call("IsMasterRunning", &hbasepb.IsMasterRunningRequest{}, &hbasepb.IsMasterRunningResponse{}, nil); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
	})
}
