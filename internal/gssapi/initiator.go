package gssapi

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Flags of a context (RFC 4121, 4.1.1.1) that the initiator requests.
const (
	flagMutual       = 2
	flagReplay       = 4
	flagSequence     = 8
	flagConfidential = 16
	flagIntegrity    = 32

	initiatorFlags = flagMutual | flagReplay | flagSequence | flagConfidential | flagIntegrity
)

// Initiator creates a context with the server of its ticket.
type Initiator struct {
	ticket Ticket
	now    func() time.Time

	sent   time.Time // the time in the request, in microseconds
	subkey types.EncryptionKey
	number uint64
}

// NewInitiator returns the initiator of one context.
func NewInitiator(t Ticket) *Initiator { return &Initiator{ticket: t, now: time.Now} }

// Request returns the first token, an AP-REQ that requires the server to prove itself too. It contains a new key, so that no two contexts
// under one ticket share a key.
func (i *Initiator) Request() ([]byte, error) {
	key, err := newKey(i.ticket.key.KeyType)
	if err != nil {
		return nil, err
	}
	i.subkey, i.number, i.sent = key, newNumber(), i.now().UTC().Truncate(time.Microsecond)
	request, err := messages.NewAPReq(i.ticket.ticket, i.ticket.key, types.Authenticator{
		AVNO: iana.PVNO, CRealm: i.ticket.realm, CName: i.ticket.client,
		Cksum: types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: contextChecksum()},
		CTime: i.sent, Cusec: i.sent.Nanosecond() / 1000, SubKey: i.subkey, SeqNumber: int64(i.number),
	})
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", i.ticket.server, err)
	}
	types.SetFlag(&request.APOptions, flags.APOptionMutualRequired)
	b, err := request.Marshal()
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", i.ticket.server, err)
	}
	return encodeToken(tokenRequest, b), nil
}

// contextChecksum returns the checksum of the authenticator, which describes the context: no channel binding, and the flags. Its numbers
// are little-endian.
func contextChecksum() []byte {
	b := make([]byte, 24)
	binary.LittleEndian.PutUint32(b, 16)
	binary.LittleEndian.PutUint32(b[20:], initiatorFlags)
	return b
}

// Finish checks the server's answer to the request: only a server that could read the ticket can know the time of the request.
func (i *Initiator) Finish(token []byte) (*Context, error) {
	id, message, err := decodeToken(token)
	if err != nil {
		return nil, err
	}
	switch id {
	case tokenReply:
	case tokenError:
		return nil, serverError(i.ticket.server, message)
	default:
		return nil, fmt.Errorf("%w: message %04x instead of the one by which %s proves its identity", ErrToken, uint16(id), i.ticket.server)
	}
	part, err := decodeReply(message, i.ticket.key)
	if err != nil {
		return nil, fmt.Errorf("%s did not prove its identity: %w", i.ticket.server, err)
	}
	if !part.CTime.Equal(i.sent.Truncate(time.Second)) || part.Cusec != i.sent.Nanosecond()/1000 {
		return nil, fmt.Errorf("%s did not prove its identity: %w: it answers another request", i.ticket.server, ErrToken)
	}
	key, chosen := i.subkey, false
	if len(part.Subkey.KeyValue) > 0 {
		key, chosen = part.Subkey, true
	}
	return newContext(i.ticket.server, key, chosen, true, i.number, uint64(part.SequenceNumber))
}

// decodeReply decrypts an AP-REP.
func decodeReply(message []byte, key types.EncryptionKey) (part messages.EncAPRepPart, err error) {
	err = guarded("AP-REP", func() error {
		var reply messages.APRep
		if err := reply.Unmarshal(message); err != nil {
			return err
		}
		plain, err := decrypt(reply.EncPart, key, keyusage.AP_REP_ENCPART)
		if err != nil {
			return err
		}
		return part.Unmarshal(plain)
	})
	return part, err
}

// decrypt decrypts the encrypted part of a Kerberos message.
func decrypt(part types.EncryptedData, key types.EncryptionKey, usage uint32) ([]byte, error) {
	if !isSupported(key.KeyType) {
		return nil, fmt.Errorf("encryption type %d is not AES", key.KeyType)
	}
	if len(part.Cipher) < 2*blockSize {
		return nil, fmt.Errorf("%w: %d encrypted bytes", ErrToken, len(part.Cipher))
	}
	return crypto.DecryptEncPart(part, key, usage)
}

func newKey(etype int32) (types.EncryptionKey, error) {
	et, err := crypto.GetEtype(etype)
	if err != nil {
		return types.EncryptionKey{}, err
	}
	return types.GenerateEncryptionKey(et)
}

// newNumber returns a random number for a side's first token. It has 30 bits, as Java's has, so that it is never negative.
func newNumber() uint64 {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return uint64(binary.BigEndian.Uint32(b[:]) & 0x3fffffff)
}

// encodedReply is an AP-REP for encoding; gokrb5 can only decode it.
type encodedReply struct {
	PVNO    int                 `asn1:"explicit,tag:0"`
	MsgType int                 `asn1:"explicit,tag:1"`
	EncPart types.EncryptedData `asn1:"explicit,tag:2"`
}

// appTag wraps a DER value in an application tag.
func appTag(tag byte, b []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return append(append([]byte{byte(asn1.ClassApplication)<<6 | 0x20 | tag}, derLength(len(b))...), b...), nil
}
