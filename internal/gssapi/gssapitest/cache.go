package gssapitest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Credentials is a ticket and what its owner knows of it.
type Credentials struct {
	Client                  types.PrincipalName
	Realm                   string
	Ticket                  messages.Ticket
	Key                     types.EncryptionKey
	Since, Until, Renewable time.Time // Renewable may be zero
}

// Cache writes what kinit would write for a principal with the KDC's key, and returns the file. The ticket ends after life, which may be
// negative.
func (k *KDC) Cache(t testing.TB, principal string, life time.Duration) string {
	t.Helper()
	server := types.NewPrincipalName(nametype.KRB_NT_SRV_INST, "krbtgt/"+k.Realm)
	c := Credentials{Client: types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, principal), Realm: k.Realm, Until: k.now().UTC().Add(life)}
	c.Since = c.Until.Add(-life.Abs())
	keys := k.key(server.PrincipalNameString())
	var err error
	c.Ticket, c.Key, err = messages.NewTicket(c.Client, k.Realm, server, k.Realm, types.NewKrbFlags(), keys, keys.Entries[0].Key.KeyType,
		int(keys.Entries[0].KVNO), c.Since, c.Since, c.Until, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(file, c.Encode(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Encode returns a ticket cache, as MIT's kinit writes it, with a setting before the ticket.
func (c Credentials) Encode(t testing.TB) []byte {
	t.Helper()
	number := binary.BigEndian.AppendUint32
	data := func(b []byte, s string) []byte { return append(number(b, uint32(len(s))), s...) }
	principal := func(b []byte, p types.PrincipalName, realm string) []byte {
		b = number(number(b, uint32(p.NameType)), uint32(len(p.NameString)))
		b = data(b, realm)
		for _, s := range p.NameString {
			b = data(b, s)
		}
		return b
	}
	b := []byte{5, 4, 0, 12, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0}
	b = principal(b, c.Client, c.Realm)
	config := types.PrincipalName{NameString: []string{"krb5_ccache_conf_data", "fast_avail"}}
	for _, e := range []struct {
		server types.PrincipalName
		realm  string
		ticket func() ([]byte, error)
	}{
		{config, "X-CACHECONF:", func() ([]byte, error) { return []byte("yes"), nil }},
		{c.Ticket.SName, c.Realm, c.Ticket.Marshal},
	} {
		b = principal(principal(b, c.Client, c.Realm), e.server, e.realm)
		b = data(binary.BigEndian.AppendUint16(b, uint16(c.Key.KeyType)), string(c.Key.KeyValue))
		var renewable uint32
		if !c.Renewable.IsZero() {
			renewable = uint32(c.Renewable.Unix())
		}
		for _, at := range []uint32{uint32(c.Since.Unix()), 0, uint32(c.Until.Unix()), renewable} {
			b = number(b, at)
		}
		b = append(b, 0, 0, 0, 0, 0)
		b = number(number(b, 0), 0)
		ticket, err := e.ticket()
		if err != nil {
			t.Fatal(err)
		}
		b = data(data(b, string(ticket)), "")
	}
	return b
}
