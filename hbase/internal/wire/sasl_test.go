package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

func TestSASLTokens(t *testing.T) {
	for _, token := range []string{"", "token", strings.Repeat("x", 100_000)} {
		if got, err := ReadSASLToken(bytes.NewReader(AppendSASLToken(nil, []byte(token)))); err != nil || string(got) != token {
			t.Errorf("token of %d bytes: %d, %v", len(token), len(got), err)
		}
		if got, err := ReadSASLChallenge(bytes.NewReader(AppendSASLChallenge(nil, []byte(token)))); err != nil || string(got) != token {
			t.Errorf("challenge of %d bytes: %d, %v", len(token), len(got), err)
		}
	}
}

// What a server may answer instead of a token.
func TestSASLRefusals(t *testing.T) {
	refusal := string(AppendSASLError(nil, &SASLError{"javax.security.sasl.SaslException", "GSS initiate failed"}))
	frame, err := AppendResponse(nil, &hbasepb.ResponseHeader{CallId: proto.Uint32(1<<32 - 1), Exception: &hbasepb.ExceptionResponse{
		ExceptionClassName: proto.String("org.apache.hadoop.hbase.ipc.BadAuthException"),
	}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, bytes string
		is          error
		want        string
	}{
		{"refusal", refusal, nil, "javax.security.sasl.SaslException: GSS initiate failed"},
		{"long message", string(AppendSASLError(nil, &SASLError{"C", strings.Repeat("m", 1<<19)})), nil, "C: mmm"},
		{"no authentication", "\x00\x00\x00\x00\xff\xff\xff\xa8", ErrNoAuthentication, ""},
		{"exception", string(frame), nil, "BadAuthException"},
		{"huge token", "\x00\x00\x00\x00\x7f\xff\xff\xff", ErrTooLong, "limit 1048576"},
		{"negative token", "\x00\x00\x00\x00\xff\xff\xff\xff", ErrMalformed, "-1 bytes"},
		{"huge class", "\x00\x00\x00\x01\x7f\xff\xff\xff", ErrTooLong, ""},
		{"status", "\x7f\xff\xff\xff", ErrMalformed, "status 2147483647"},
		{"negative status", "\xff\xff\xff\xff", ErrMalformed, "status -1"},
		{"cut off", refusal[:20], io.ErrUnexpectedEOF, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadSASLChallenge(strings.NewReader(c.bytes))
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > MaxText+100 {
				t.Errorf("got %.200v, want %v %q", err, c.is, c.want)
			}
		})
	}
}

// FuzzSASLChallenge decodes any bytes as a server's token.
func FuzzSASLChallenge(f *testing.F) {
	f.Add(AppendSASLChallenge(nil, []byte("token")))
	f.Add(AppendSASLError(nil, &SASLError{"class", "message"}))
	f.Add([]byte("\x00\x00\x00\x00\xff\xff\xff\xa8"))
	f.Fuzz(func(t *testing.T, b []byte) {
		token, err := ReadSASLChallenge(bytes.NewReader(b))
		if err == nil && !bytes.HasPrefix(b, AppendSASLChallenge(nil, token)) {
			t.Fatalf("%x is %x", b, token)
		}
	})
}
