package gssapi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Ticket is a ticket for a server, with everything its holder needs to use it.
type Ticket struct {
	client    types.PrincipalName
	realm     string // of the client
	server    string // with its realm
	ticket    messages.Ticket
	key       types.EncryptionKey
	since     time.Time
	until     time.Time
	renewable time.Time // renewable until then; zero: not renewable
}

// Server returns the principal that the ticket is for.
func (t *Ticket) Server() string { return t.server }

// Until returns when the ticket expires.
func (t *Ticket) Until() time.Time { return t.until }

// old reports whether 5/6 of the ticket's life have passed.
func (t *Ticket) old(now time.Time) bool { return !now.Before(t.due()) }

// due returns when 5/6 of the ticket's life have passed.
func (t *Ticket) due() time.Time { return t.until.Add(-t.until.Sub(t.since) / 6) }

// kdcs talks to the KDCs of realms, over TCP only.
type kdcs struct {
	conf *config.Config
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
	now  func() time.Time
}

const (
	kdcTimeout = 3 * time.Second // for one KDC, so that the next one gets its turn
	maxAnswer  = 1 << 20
	hops       = 5 // maximum number of referrals to other realms
)

// login requests a ticket-granting ticket with a key of the keytab.
func (k *kdcs) login(ctx context.Context, client types.PrincipalName, realm string, keys *keytab.Keytab) (Ticket, error) {
	name := client.PrincipalNameString() + "@" + realm
	etypes, err := etypesOf(keys, client, realm)
	if err != nil {
		return Ticket{}, err
	}
	request, err := messages.NewASReqForTGT(realm, k.conf, client)
	if err != nil {
		return Ticket{}, err
	}
	request.ReqBody.EType = etypes
	var answer []byte
	for tries := 0; ; tries++ {
		b, err := request.Marshal()
		if err != nil {
			return Ticket{}, err
		}
		answer, err = k.ask(ctx, realm, b, name, "")
		e, ok := errors.AsType[messages.KRBError](err)
		if !ok && err != nil {
			return Ticket{}, err
		}
		if !ok {
			break
		}
		if tries > 0 || e.ErrorCode != errorcode.KDC_ERR_PREAUTH_REQUIRED {
			return Ticket{}, err
		}
		if request.PAData, err = k.proof(e, client, realm, keys, etypes); err != nil {
			return Ticket{}, err
		}
	}
	var reply messages.ASRep
	err = guarded("AS-REP", func() error {
		if err := reply.Unmarshal(answer); err != nil {
			return err
		}
		return errors.Join(named(reply.Ticket), long(reply.EncPart))
	})
	if err != nil {
		return Ticket{}, err
	}
	who := credentials.NewFromPrincipalName(client, realm).WithKeytab(keys)
	err = guarded("AS-REP", func() error {
		_, err := reply.Verify(k.conf, who, request)
		return err
	})
	if err != nil {
		return Ticket{}, k.unverified(name, &reply, err)
	}
	return ticketOf(client, realm, reply.KDCRepFields), nil
}

// unverified explains why the answer to a login cannot be used.
func (k *kdcs) unverified(name string, reply *messages.ASRep, err error) error {
	part := &reply.DecryptedEncPart
	if part.AuthTime.IsZero() {
		return fmt.Errorf("%w: the keytab's key of %s is not the KDC's, perhaps because it was changed: export the keytab again (%w)",
			ErrWrongKey, name, err)
	}
	if k.now().Sub(part.AuthTime).Abs() > k.conf.LibDefaults.Clockskew {
		return fmt.Errorf("%w: %s", ErrClockSkew, skewOf(part.AuthTime, k.now()))
	}
	return err
}

// etypesOf returns the encryption types to request: first those of the principal's keys, one of which the KDC uses for its answer; then the
// others, which the KDC may use for the key of the ticket.
func etypesOf(keys *keytab.Keytab, client types.PrincipalName, realm string) ([]int32, error) {
	var mine []int32
	others := map[string]bool{}
	found := false
	for i := range keys.Entries {
		e := &keys.Entries[i]
		if e.Principal.Realm != realm || !slices.Equal(e.Principal.Components, client.NameString) {
			others[e.Principal.String()] = true
			continue
		}
		found = true
		mine = append(mine, e.Key.KeyType)
	}
	has := func(t int32) bool { return slices.Contains(mine, t) }
	usable := slices.DeleteFunc(slices.Clone(supported), func(t int32) bool { return !has(t) })
	switch name := client.PrincipalNameString() + "@" + realm; {
	case !found:
		return nil, fmt.Errorf("%w: the keytab has no key of %s; it has those of %v", ErrWrongKey, name, slices.Sorted(maps.Keys(others)))
	case len(usable) == 0:
		return nil, fmt.Errorf("%w: the keytab has no AES key of %s (types 17 to 19), only types %v", ErrWrongKey, name, mine)
	}
	return append(usable, slices.DeleteFunc(slices.Clone(supported), has)...), nil
}

// proof returns the pre-authentication that a KDC requires: the time, encrypted with the client's key.
func (k *kdcs) proof(e messages.KRBError, client types.PrincipalName, realm string, keys *keytab.Keytab,
	etypes []int32) (types.PADataSequence, error) {
	etypes = slices.DeleteFunc(slices.Clone(etypes), func(t int32) bool {
		_, _, err := keys.GetEncryptionKey(client, realm, 0, t)
		return err != nil
	})
	etype := wanted(e, etypes)
	key, version, err := keys.GetEncryptionKey(client, realm, 0, etype)
	if err != nil {
		return nil, err
	}
	now := k.now().UTC()
	plain, err := asn1.Marshal(types.PAEncTSEnc{PATimestamp: now, PAUSec: now.Nanosecond() / 1000})
	if err != nil {
		return nil, err
	}
	sealed, err := crypto.GetEncryptedData(plain, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, version)
	if err != nil {
		return nil, err
	}
	b, err := sealed.Marshal()
	return types.PADataSequence{{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: b}}, err
}

// wanted returns the KDC's choice among the encryption types, or the first of them if it made none.
func wanted(e messages.KRBError, etypes []int32) int32 {
	chosen := etypes[0]
	_ = guarded("ETYPE-INFO2", func() error { // without a choice by the KDC, use the first
		var data types.PADataSequence
		if err := data.Unmarshal(e.EData); err != nil {
			return err
		}
		for _, d := range data {
			if d.PADataType != patype.PA_ETYPE_INFO2 {
				continue
			}
			infos, err := d.GetETypeInfo2()
			if err != nil {
				return err
			}
			for _, info := range infos {
				if slices.Contains(etypes, info.EType) {
					chosen = info.EType
					return nil
				}
			}
		}
		return nil
	})
	return chosen
}

// renew renews a ticket-granting ticket.
func (k *kdcs) renew(ctx context.Context, t Ticket) (Ticket, error) {
	return k.exchange(ctx, t, t.realm, t.ticket.SName, true)
}

// service requests a ticket for a server, through other realms if the server's realm is another.
func (k *kdcs) service(ctx context.Context, granting Ticket, server types.PrincipalName, realm string) (Ticket, error) {
	at := granting.realm
	for range hops {
		name := server
		if at != realm {
			name = types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
		}
		t, err := k.exchange(ctx, granting, at, name, false)
		if err != nil {
			return Ticket{}, err
		}
		parts := t.ticket.SName.NameString
		if parts[0] != "krbtgt" || len(parts) != 2 {
			if !t.ticket.SName.Equal(server) {
				return Ticket{}, fmt.Errorf("%w: the KDC answered with a ticket for %s", ErrToken, t.server)
			}
			return t, nil
		}
		if at == parts[1] {
			break
		}
		if at == realm {
			realm = parts[1] // a referral: the server is in a different realm than expected
		}
		granting, at = t, parts[1]
	}
	return Ticket{}, fmt.Errorf("%w: no path leads from %s to %s@%s", ErrWrongRealm, granting.realm, server.PrincipalNameString(), realm)
}

// exchange requests a ticket from a realm.
func (k *kdcs) exchange(ctx context.Context, granting Ticket, realm string, server types.PrincipalName, renewal bool) (Ticket, error) {
	request, err := messages.NewTGSReq(granting.client, realm, k.aes(), granting.ticket, granting.key, server, renewal)
	if err != nil {
		return Ticket{}, err
	}
	b, err := request.Marshal()
	if err != nil {
		return Ticket{}, err
	}
	client := granting.client.PrincipalNameString() + "@" + granting.realm
	answer, err := k.ask(ctx, realm, b, client, server.PrincipalNameString()+"@"+realm)
	if err != nil {
		return Ticket{}, err
	}
	var reply messages.TGSRep
	err = guarded("TGS-REP", func() error {
		if err := reply.Unmarshal(answer); err != nil {
			return err
		}
		if err := errors.Join(named(reply.Ticket), long(reply.EncPart)); err != nil {
			return err
		}
		if err := reply.DecryptEncPart(granting.key); err != nil {
			return err
		}
		_, err := reply.Verify(k.conf, request)
		return err
	})
	if err != nil {
		return Ticket{}, err
	}
	return ticketOf(granting.client, granting.realm, reply.KDCRepFields), nil
}

// aes returns the configuration limited to the encryption types of contexts.
func (k *kdcs) aes() *config.Config {
	c := *k.conf
	c.LibDefaults.DefaultTGSEnctypeIDs = supported
	return &c
}

func ticketOf(client types.PrincipalName, realm string, r messages.KDCRepFields) Ticket {
	part := &r.DecryptedEncPart
	since := part.StartTime
	if since.IsZero() {
		since = part.AuthTime
	}
	return Ticket{
		client: client, realm: realm, server: r.Ticket.SName.PrincipalNameString() + "@" + r.Ticket.Realm, ticket: r.Ticket, key: part.Key,
		since: since, until: part.EndTime, renewable: part.RenewTill,
	}
}

// long rejects parts that are too short to decrypt, which gokrb5 does not expect.
func long(part types.EncryptedData) error {
	if len(part.Cipher) < 2*blockSize {
		return fmt.Errorf("%d encrypted bytes", len(part.Cipher))
	}
	return nil
}

// ask sends a request to the KDCs of a realm, one after another, until one answers. A refusal is an answer, unless the KDC reports that it
// is out of service; its error wraps a messages.KRBError.
func (k *kdcs) ask(ctx context.Context, realm string, request []byte, client, server string) ([]byte, error) {
	n, addrs, err := k.conf.GetKDCs(realm, true)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%w: krb5.conf names no KDC of %s, and DNS was not asked or has none ([realms], dns_lookup_kdc): %w",
			ErrWrongRealm, realm, cmpError(err))
	}
	var failed []error
	for i := 1; i <= len(addrs); i++ {
		answer, err := k.askOne(ctx, addrs[i], request)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", addrs[i], err))
			continue
		}
		var e messages.KRBError
		if guarded("KRB-ERROR", func() error { return e.Unmarshal(answer) }) != nil {
			return answer, nil //nolint:nilerr // an answer that is not an error is what the caller wants
		}
		err = &refused{kdcError(e, addrs[i], client, server, k.now()), e}
		if e.ErrorCode != errorcode.KDC_ERR_SVC_UNAVAILABLE {
			return nil, err
		}
		failed = append(failed, err)
	}
	return nil, fmt.Errorf("%w for realm %s: %w", ErrKDC, realm, errors.Join(failed...))
}

func cmpError(err error) error {
	if err == nil {
		return errors.New("none")
	}
	return err
}

// refused is a KDC's refusal: the explanation and the original.
type refused struct {
	error
	code messages.KRBError
}

func (r *refused) Unwrap() []error { return []error{r.error, r.code} }

// askOne sends a request to one KDC: int32 length │ message, in both directions.
func (k *kdcs) askOne(ctx context.Context, addr string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kdcTimeout)
	defer cancel()
	c, err := k.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	b, err := talk(c, request)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("no answer: %w", context.Cause(ctx))
	}
	return b, err
}

func talk(c net.Conn, request []byte) ([]byte, error) {
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)); err != nil {
		return nil, err
	}
	var prefix [4]byte
	if _, err := io.ReadFull(c, prefix[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(prefix[:])
	if n > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes, limit %d", n, maxAnswer)
	}
	return readAll(c, nil, int(n))
}
