package gssapi

import (
	"fmt"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// defaultSkew is the maximum difference between two clocks.
const defaultSkew = 5 * time.Minute

// Acceptor accepts contexts with the keys of a keytab. It is safe for concurrent use.
//
// It remembers no requests: the acceptor chooses a key for each context, so that an attacker who replays a request can send nothing after
// it.
type Acceptor struct {
	keys *keytab.Keytab
	now  func() time.Time

	noSubkey bool // like Java's acceptor, for tests
}

// NewAcceptor reads the keytab file.
func NewAcceptor(file string) (*Acceptor, error) {
	keys, err := readKeytab(file)
	if err != nil {
		return nil, err
	}
	return &Acceptor{keys: keys, now: time.Now}, nil
}

// Principal returns the first principal of the keytab, with its realm. Requests for the others are accepted too.
func (a *Acceptor) Principal() string {
	if len(a.keys.Entries) == 0 {
		return ""
	}
	return a.keys.Entries[0].Principal.String()
}

// Accept answers an initiator's request. If it refuses the request, it returns a KRB-ERROR as the reply, along with the error.
func (a *Acceptor) Accept(token []byte) (reply []byte, c *Context, err error) {
	id, message, err := decodeToken(token)
	if err != nil {
		return nil, nil, err
	}
	if id != tokenRequest {
		return nil, nil, fmt.Errorf("%w: message %04x where a request was expected", ErrToken, uint16(id))
	}
	var request messages.APReq
	if err := guarded("AP-REQ", func() error { return request.Unmarshal(message) }); err != nil {
		return nil, nil, err
	}
	if code, err := a.verify(&request); err != nil {
		return refusal(request.Ticket, code, a.now()), nil, err
	}
	return a.answer(&request)
}

// verify decrypts the ticket and the authenticator. If that fails, it also returns Kerberos's error code.
func (a *Acceptor) verify(r *messages.APReq) (code int32, err error) {
	t := &r.Ticket
	if len(t.SName.NameString) == 0 {
		return errorcode.KRB_AP_ERR_NOT_US, fmt.Errorf("%w: the ticket names no server", ErrToken)
	}
	name := t.SName.PrincipalNameString() + "@" + t.Realm
	key, _, err := a.keys.GetEncryptionKey(t.SName, t.Realm, t.EncPart.KVNO, t.EncPart.EType)
	if err != nil {
		return errorcode.KRB_AP_ERR_NOKEY, fmt.Errorf("no key of %s, version %d, in the keytab", name, t.EncPart.KVNO)
	}
	err = guarded("ticket for "+name, func() error {
		plain, err := decrypt(t.EncPart, key, keyusage.KDC_REP_TICKET)
		if err != nil {
			return err
		}
		return t.DecryptedEncPart.Unmarshal(plain)
	})
	if err != nil {
		return errorcode.KRB_AP_ERR_MODIFIED, err
	}
	part, now := &t.DecryptedEncPart, a.now()
	switch {
	case part.StartTime.Sub(now) > defaultSkew:
		return errorcode.KRB_AP_ERR_TKT_NYV, fmt.Errorf("the ticket is not valid before %v", part.StartTime)
	case now.Sub(part.EndTime) > defaultSkew:
		return errorcode.KRB_AP_ERR_TKT_EXPIRED, fmt.Errorf("the ticket was valid until %v", part.EndTime)
	}
	err = guarded("authenticator", func() error {
		plain, err := decrypt(r.EncryptedAuthenticator, part.Key, keyusage.AP_REQ_AUTHENTICATOR)
		if err != nil {
			return err
		}
		return r.Authenticator.Unmarshal(plain)
	})
	if err != nil {
		return errorcode.KRB_AP_ERR_BAD_INTEGRITY, err
	}
	if who := &r.Authenticator; !who.CName.Equal(part.CName) || who.CRealm != part.CRealm {
		return errorcode.KRB_AP_ERR_BADMATCH, fmt.Errorf("%w: the ticket and its authenticator name different principals", ErrToken)
	}
	if d := now.Sub(r.Authenticator.CTime).Abs(); d > defaultSkew {
		return errorcode.KRB_AP_ERR_SKEW, fmt.Errorf("%w: the client's clock is off by %v", ErrClockSkew, d.Round(time.Second))
	}
	return 0, nil
}

// answer creates the AP-REP and the context.
func (a *Acceptor) answer(r *messages.APReq) ([]byte, *Context, error) {
	who, session := &r.Authenticator, r.Ticket.DecryptedEncPart.Key
	part := messages.EncAPRepPart{CTime: who.CTime, Cusec: who.Cusec, SequenceNumber: int64(newNumber())}
	key, chosen := session, false
	if len(who.SubKey.KeyValue) > 0 {
		key = who.SubKey
	}
	if !a.noSubkey {
		var err error
		if key, err = newKey(session.KeyType); err != nil {
			return nil, nil, err
		}
		part.Subkey, chosen = key, true
	}
	plain, err := asn1.Marshal(part)
	if plain, err = appTag(asnAppTag.EncAPRepPart, plain, err); err != nil {
		return nil, nil, err
	}
	sealed, err := crypto.GetEncryptedData(plain, session, keyusage.AP_REP_ENCPART, 0)
	if err != nil {
		return nil, nil, err
	}
	reply, err := asn1.Marshal(encodedReply{PVNO: iana.PVNO, MsgType: msgtype.KRB_AP_REP, EncPart: sealed})
	if reply, err = appTag(asnAppTag.APREP, reply, err); err != nil {
		return nil, nil, err
	}
	c, err := newContext(who.CName.PrincipalNameString()+"@"+who.CRealm, key, chosen, false, uint64(part.SequenceNumber),
		uint64(who.SeqNumber))
	return encodeToken(tokenReply, reply), c, err
}

// refusal returns a token with the reason why there is no context, or nil if it cannot be encoded.
func refusal(t messages.Ticket, code int32, now time.Time) []byte {
	if len(t.SName.NameString) == 0 {
		return nil
	}
	e := messages.NewKRBError(t.SName, t.Realm, code, "")
	e.STime, e.Susec = now.UTC(), 0
	b, err := e.Marshal()
	if err != nil {
		return nil
	}
	return encodeToken(tokenError, b)
}

// readKeytab reads a keytab file.
func readKeytab(file string) (*keytab.Keytab, error) {
	b, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("keytab: %w", err)
	}
	keys := new(keytab.Keytab)
	if err := guarded("keytab "+file, func() error { return keys.Unmarshal(b) }); err != nil {
		return nil, err
	}
	return keys, nil
}

// nameOf parses a principal: name[/instance][@REALM].
func nameOf(principal string) (types.PrincipalName, string) { return types.ParseSPNString(principal) }
