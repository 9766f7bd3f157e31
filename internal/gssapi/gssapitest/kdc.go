// Package gssapitest is a KDC of one realm for tests. It issues tickets with the messages of gokrb5 and shares no code with package gssapi.
// Its fields cause faults. There are separate tests with a real KDC.
package gssapitest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// KDC is a KDC of one realm.
type KDC struct {
	Realm string

	mu       sync.Mutex
	life     time.Duration
	renew    time.Duration
	skew     time.Duration
	etype    int32
	down     bool
	keys     map[string]*keytab.Keytab // by principal, without the realm
	versions map[string]uint8
	logins   int
	renewals int
	tickets  int
}

// NewKDC returns a KDC whose tickets live for 10 hours.
func NewKDC(realm string) *KDC {
	k := &KDC{Realm: realm, life: 10 * time.Hour, etype: etypeID.AES256_CTS_HMAC_SHA1_96, keys: map[string]*keytab.Keytab{},
		versions: map[string]uint8{}}
	k.Key("krbtgt/" + realm)
	return k
}

// Set changes the KDC's behaviour from now on.
func (k *KDC) Set(change func(*Faults)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := Faults{Life: k.life, Renew: k.renew, Skew: k.skew, Down: k.down, EType: k.etype}
	change(&f)
	k.life, k.renew, k.skew, k.down, k.etype = f.Life, f.Renew, f.Skew, f.Down, f.EType
}

// Faults are the settings that a test may change.
type Faults struct {
	Life  time.Duration // of tickets
	Renew time.Duration // how long tickets can be renewed; 0: not at all
	Skew  time.Duration // how far its clock is ahead
	Down  bool          // connections end without an answer
	EType int32         // of keys created from now on
}

// Counts returns the numbers of logins, renewals and tickets for servers.
func (k *KDC) Counts() (logins, renewals, tickets int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.logins, k.renewals, k.tickets
}

// Key gives a principal, named without its realm, a new key.
func (k *KDC) Key(principal string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := keytab.New()
	k.versions[principal]++
	if err := keys.AddEntry(principal, k.Realm, rand.Text(), time.Now(), k.versions[principal], k.etype); err != nil {
		panic(err)
	}
	k.keys[principal] = keys
}

// Keytab writes the principals' keys, created if missing, to a file of the test, and returns its name.
func (k *KDC) Keytab(t testing.TB, principals ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keytab")
	k.WriteKeytab(t, file, principals...)
	return file
}

// WriteKeytab is Keytab with a given file.
func (k *KDC) WriteKeytab(t testing.TB, file string, principals ...string) {
	t.Helper()
	all := keytab.New()
	for _, p := range principals {
		if k.key(p) == nil {
			k.Key(p)
		}
		all.Entries = append(all.Entries, k.key(p).Entries...)
	}
	b, err := all.Marshal()
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (k *KDC) key(principal string) *keytab.Keytab {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[principal]
}

// Conf writes a krb5.conf with the KDC's addresses and returns the file. It requires TCP, because Java would otherwise begin with UDP and
// wait minutes for an answer.
func (k *KDC) Conf(t testing.TB, addrs ...string) string {
	t.Helper()
	var kdcs strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&kdcs, "    kdc = %s\n", a)
	}
	text := fmt.Sprintf("[libdefaults]\n  default_realm = %s\n  udp_preference_limit = 1\n  rdns = false\n  dns_lookup_kdc = false\n"+
		"[realms]\n  %s = {\n%s  }\n", k.Realm, k.Realm, &kdcs)
	file := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Listen serves on a free loopback port until the test ends, and returns the address.
func (k *KDC) Listen(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { k.serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String()
}

// Dial connects to the KDC in memory, whatever the address.
func (k *KDC) Dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go k.serve(theirs)
	return ours, nil
}

func (k *KDC) serve(c net.Conn) {
	defer c.Close()
	var prefix [4]byte
	if _, err := io.ReadFull(c, prefix[:]); err != nil {
		return
	}
	request := make([]byte, binary.BigEndian.Uint32(prefix[:])&0xfffff)
	if _, err := io.ReadFull(c, request); err != nil {
		return
	}
	k.mu.Lock()
	down := k.down
	k.mu.Unlock()
	if down {
		return
	}
	b := k.Answer(request)
	_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)) // a client that is gone needs no answer
}

// Answer answers one request.
func (k *KDC) Answer(request []byte) []byte {
	var login messages.ASReq
	var ticket messages.TGSReq
	var b []byte
	var code int32
	var data []byte
	if login.Unmarshal(request) == nil {
		b, code, data = k.login(&login)
	} else if err := ticket.Unmarshal(request); err == nil {
		b, code = k.ticket(&ticket)
	} else {
		panic(fmt.Sprintf("a request that is none: %v", err))
	}
	if code != 0 {
		e := messages.NewKRBError(types.NewPrincipalName(2, "krbtgt/"+k.Realm), k.Realm, code, "")
		e.EData, e.STime = data, k.now().UTC()
		b, _ = e.Marshal()
	}
	return b
}

func (k *KDC) now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Now().Add(k.skew)
}

// login answers an AS-REQ, provided that the client has proved that it has the key and the right time.
func (k *KDC) login(r *messages.ASReq) ([]byte, int32, []byte) {
	body := &r.ReqBody
	if body.Realm != k.Realm {
		return nil, errorcode.KDC_ERR_WRONG_REALM, nil
	}
	keys := k.key(body.CName.PrincipalNameString())
	if keys == nil {
		return nil, errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN, nil
	}
	key := keys.Entries[0].Key
	var proof []byte
	for _, d := range r.PAData {
		if d.PADataType == patype.PA_ENC_TIMESTAMP {
			proof = d.PADataValue
		}
	}
	if proof == nil {
		info, _ := asn1.Marshal(types.ETypeInfo2{{EType: key.KeyType, Salt: "any"}})
		data, _ := asn1.Marshal(types.PADataSequence{{PADataType: patype.PA_ETYPE_INFO2, PADataValue: info}})
		return nil, errorcode.KDC_ERR_PREAUTH_REQUIRED, data
	}
	at, err := readProof(proof, key)
	switch {
	case err != nil:
		return nil, errorcode.KDC_ERR_PREAUTH_FAILED, nil
	case k.now().Sub(at).Abs() > 5*time.Minute:
		return nil, errorcode.KRB_AP_ERR_SKEW, nil
	}
	k.count(&k.logins)
	reply := messages.ASRep{KDCRepFields: k.make(body, body.CName, msgtype.KRB_AS_REP, k.now(), key, keyusage.AS_REP_ENCPART)}
	b, err := reply.Marshal()
	if err != nil {
		panic(err)
	}
	return b, 0, nil
}

// readProof decrypts the timestamp sent by a client.
func readProof(b []byte, key types.EncryptionKey) (time.Time, error) {
	var sealed types.EncryptedData
	if err := sealed.Unmarshal(b); err != nil {
		return time.Time{}, err
	}
	plain, err := crypto.DecryptEncPart(sealed, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP)
	if err != nil {
		return time.Time{}, err
	}
	var at types.PAEncTSEnc
	err = at.Unmarshal(plain)
	return at.PATimestamp, err
}

func (k *KDC) count(n *int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	*n++
}

// ticket answers a TGS-REQ.
func (k *KDC) ticket(r *messages.TGSReq) ([]byte, int32) {
	var request messages.APReq
	for _, d := range r.PAData {
		if d.PADataType == patype.PA_TGS_REQ {
			if err := request.Unmarshal(d.PADataValue); err != nil {
				panic(err)
			}
		}
	}
	if err := request.Ticket.DecryptEncPart(k.key("krbtgt/"+k.Realm), nil); err != nil {
		return nil, errorcode.KRB_AP_ERR_MODIFIED
	}
	part := &request.Ticket.DecryptedEncPart
	if err := request.DecryptAuthenticator(part.Key); err != nil {
		return nil, errorcode.KRB_AP_ERR_BAD_INTEGRITY
	}
	if k.now().After(part.EndTime) {
		return nil, errorcode.KRB_AP_ERR_TKT_EXPIRED
	}
	if k.key(r.ReqBody.SName.PrincipalNameString()) == nil {
		return nil, errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN
	}
	if types.IsFlagSet(&r.ReqBody.KDCOptions, flags.Renew) {
		if k.now().After(part.RenewTill) {
			return nil, errorcode.KRB_AP_ERR_TKT_EXPIRED
		}
		k.count(&k.renewals)
	} else {
		k.count(&k.tickets)
	}
	reply := messages.TGSRep{KDCRepFields: k.make(&r.ReqBody, part.CName, msgtype.KRB_TGS_REP, part.AuthTime, part.Key,
		keyusage.TGS_REP_ENCPART_SESSION_KEY)}
	b, err := reply.Marshal()
	if err != nil {
		panic(err)
	}
	return b, 0
}

// make creates a ticket and the part of the answer that only its owner can read.
func (k *KDC) make(body *messages.KDCReqBody, client types.PrincipalName, kind int, authenticated time.Time, key types.EncryptionKey,
	usage uint32) messages.KDCRepFields {
	k.mu.Lock()
	life, renew := k.life, k.renew
	k.mu.Unlock()
	now := k.now().UTC().Truncate(time.Second)
	server := k.key(body.SName.PrincipalNameString())
	var until time.Time
	if renew > 0 {
		until = now.Add(renew)
	}
	t, session, err := messages.NewTicket(client, k.Realm, body.SName, k.Realm, types.NewKrbFlags(), server, server.Entries[0].Key.KeyType,
		int(server.Entries[0].KVNO), authenticated.UTC(), now, now.Add(life), until)
	if err != nil {
		panic(err)
	}
	part := messages.EncKDCRepPart{
		Key: session, LastReqs: []messages.LastReq{{LRValue: now}}, Nonce: body.Nonce, Flags: types.NewKrbFlags(),
		AuthTime:  authenticated.UTC().Truncate(time.Second),
		StartTime: now, EndTime: now.Add(life), RenewTill: until, SRealm: k.Realm, SName: body.SName,
	}
	b, err := part.Marshal()
	if err != nil {
		panic(err)
	}
	sealed, err := crypto.GetEncryptedData(b, key, usage, 0)
	if err != nil {
		panic(err)
	}
	return messages.KDCRepFields{PVNO: iana.PVNO, MsgType: kind, CRealm: k.Realm, CName: client, Ticket: t, EncPart: sealed}
}
