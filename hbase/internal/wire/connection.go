package wire

import (
	"fmt"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// PreambleLen is the length of the first bytes on a connection, which say what the client wants:
//
//	'H' 'B' 'a' 's'  version 0  authentication     calls: a connection header follows
//	'R' 'e' 'g' 'i' 's' 't'                        the connection registry's data, without authentication
//	'S' 'e' 'c' 'u' 'r' 'i'                        the server's Kerberos principal
const PreambleLen = 6

// Auth is the authentication byte of a preamble.
type Auth byte

// The authentication methods.
const (
	AuthSimple   Auth = 80
	AuthKerberos Auth = 81
	AuthDigest   Auth = 82
)

// Preamble is a decoded preamble. Auth is meaningful only with Calls.
type Preamble struct {
	Kind PreambleKind
	Auth Auth
}

// PreambleKind says which of the three preambles it is.
type PreambleKind byte

// The kinds of preamble.
const (
	Calls PreambleKind = iota
	Registry
	SecurityInfo
)

const rpcVersion = 0

// AppendPreamble appends the 6 bytes of p.
func AppendPreamble(dst []byte, p Preamble) []byte {
	switch p.Kind {
	case Registry:
		return append(dst, "Regist"...)
	case SecurityInfo:
		return append(dst, "Securi"...)
	default:
		return append(dst, 'H', 'B', 'a', 's', rpcVersion, byte(p.Auth))
	}
}

// DecodePreamble decodes the first 6 bytes of a connection.
func DecodePreamble(b [PreambleLen]byte) (Preamble, error) {
	switch s := string(b[:]); {
	case s == "Regist":
		return Preamble{Kind: Registry}, nil
	case s == "Securi":
		return Preamble{Kind: SecurityInfo}, nil
	case s[:4] != "HBas":
		return Preamble{}, fmt.Errorf("%w: preamble %q is not HBase's", ErrMalformed, s)
	case b[4] != rpcVersion:
		return Preamble{}, fmt.Errorf("%w: RPC version %d, but only %d is supported", ErrMalformed, b[4], rpcVersion)
	}
	return Preamble{Auth: Auth(b[5])}, nil
}

// AppendConnectionHeader appends the frame that follows the preamble: length and message.
func AppendConnectionHeader(dst []byte, h *hbasepb.ConnectionHeader) ([]byte, error) {
	dst, start := beginFrame(dst)
	dst, err := proto.MarshalOptions{}.MarshalAppend(dst, h)
	if err != nil {
		return nil, fmt.Errorf("connection header: %w", err)
	}
	return endFrame(dst, start, 0)
}

// DecodeConnectionHeader decodes that frame without its length prefix.
func DecodeConnectionHeader(frame []byte) (*hbasepb.ConnectionHeader, error) {
	h := new(hbasepb.ConnectionHeader)
	if err := proto.Unmarshal(frame, h); err != nil {
		return nil, fmt.Errorf("%w: connection header: %w", ErrMalformed, err)
	}
	return h, nil
}
