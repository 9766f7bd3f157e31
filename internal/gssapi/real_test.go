package gssapi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"brine/internal/testenv"
)

// realLogin logs in at a real KDC.
func realLogin(t *testing.T, kdc *testenv.KDC, o Options) *Login {
	t.Helper()
	o.Krb5Conf = kdc.Krb5Conf
	l, err := NewLogin(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// Initiator and acceptor authenticate with tickets of MIT's KDC, for every encryption type, with a keytab and with the ticket cache of
// kinit.
func TestRealKDC(t *testing.T) {
	kdc := testenv.StartKDC(t)
	for _, etype := range []string{"aes256-cts", "aes128-cts", "aes128-sha2"} {
		client, service := "brine-"+etype, "hbase/"+etype
		for _, p := range []string{client, service} {
			kdc.Admin("addprinc -randkey -e " + etype + ":normal " + p)
		}
		acceptor, err := NewAcceptor(kdc.Keytab(service))
		if err != nil {
			t.Fatal(err)
		}
		keytab := kdc.Keytab(client)
		for name, o := range map[string]Options{
			"keytab": {Principal: client, Keytab: keytab}, "cache": {TicketCache: "FILE:" + kdc.Cache(client, keytab)},
		} {
			t.Run(etype+" "+name, func(t *testing.T) {
				l := realLogin(t, kdc, o)
				for _, qop := range []QOP{Auth, Int, Conf} {
					ticket, err := l.Ticket(t.Context(), service)
					if err != nil {
						t.Fatal(err)
					}
					c, s := NewClient(ticket, qop), NewServer(acceptor, Auth|Int|Conf)
					if err := run(c, s); err != nil {
						t.Fatal(err)
					}
					if want := client + "@" + kdc.Realm; s.Peer() != want {
						t.Errorf("it takes %s for %s", want, s.Peer())
					}
				}
			})
		}
	}
}

// The answers of MIT's KDC are understood.
func TestRealKDCRefuses(t *testing.T) {
	kdc := testenv.StartKDC(t)
	for _, p := range []string{"brine", "old", "gone", "expired", "hbase/localhost"} {
		kdc.Admin("addprinc -randkey " + p)
	}
	keytabs := map[string]string{}
	for _, p := range []string{"brine", "old", "gone", "expired"} {
		keytabs[p] = kdc.Keytab(p)
	}
	kdc.Admin("cpw -randkey old")
	kdc.Admin("delprinc -force gone")
	kdc.Admin(`modprinc -expire "2001-01-01" expired`)
	for _, c := range []struct {
		name, principal, server string
		clock                   time.Duration
		is                      error
		want                    string
	}{
		{name: "key that was changed", principal: "old", is: ErrWrongKey, want: "export the keytab again"},
		{name: "unknown principal", principal: "gone", is: ErrUnknownPrincipal, want: "gone@TEST.BRINE"},
		{name: "expired principal", principal: "expired", is: ErrExpired, want: "expired@TEST.BRINE"},
		{name: "unknown server", principal: "brine", server: "hbase/elsewhere", is: ErrUnknownServer, want: "hbase/elsewhere@TEST.BRINE"},
		{name: "clock ahead", principal: "brine", clock: 10 * time.Minute, is: ErrClockSkew, want: "this machine's is 10m0s ahead"},
		{name: "clock behind", principal: "brine", clock: -10 * time.Minute, is: ErrClockSkew, want: "this machine's is 10m0s behind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := realLogin(t, kdc, Options{Principal: c.principal, Keytab: keytabs[c.principal]})
			l.kdcs.now = func() time.Time { return time.Now().Add(c.clock) }
			if c.server == "" {
				c.server = "hbase/localhost"
			}
			_, err := l.Ticket(t.Context(), c.server)
			if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("got %v\nwant %q", err, c.want)
			}
		})
	}
	t.Run("KDC of another realm", func(t *testing.T) {
		b, err := os.ReadFile(kdc.Krb5Conf)
		if err != nil {
			t.Fatal(err)
		}
		conf := t.TempDir() + "/krb5.conf"
		if err := os.WriteFile(conf, []byte(strings.ReplaceAll(string(b), kdc.Realm, "OTHER.BRINE")), 0o600); err != nil {
			t.Fatal(err)
		}
		other, err := NewLogin(Options{TicketCache: kdc.Cache("brine", keytabs["brine"]), Krb5Conf: conf})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if _, err := other.Ticket(t.Context(), "hbase/localhost"); !errors.Is(err, ErrWrongRealm) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("away, and back", func(t *testing.T) {
		l := realLogin(t, kdc, Options{Principal: "brine", Keytab: keytabs["brine"]})
		kdc.Stop()
		if _, err := l.Ticket(t.Context(), "hbase/localhost"); !errors.Is(err, ErrKDC) {
			t.Errorf("away: %v", err)
		}
		kdc.Start()
		if _, err := l.Ticket(t.Context(), "hbase/localhost"); err != nil {
			t.Errorf("back: %v", err)
		}
	})
}

// The KDC renews a renewable ticket of kinit.
func TestRealKDCRenews(t *testing.T) {
	kdc := testenv.StartKDC(t)
	for _, p := range []string{"brine", "hbase/localhost"} {
		kdc.Admin("addprinc -randkey +requires_preauth -maxrenewlife 1d " + p)
	}
	kdc.Admin("modprinc -maxrenewlife 1d krbtgt/" + kdc.Realm)
	cache := kdc.Cache("brine", kdc.Keytab("brine"), "-l", "1h", "-r", "8h")
	l := realLogin(t, kdc, Options{TicketCache: cache})
	if _, err := l.Ticket(t.Context(), "hbase/localhost"); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	before := *l.granting
	l.mu.Unlock()
	if !before.renewable.After(before.until) {
		t.Fatalf("kinit's ticket is not renewable: until %v, renewable until %v", before.until, before.renewable)
	}
	if err := l.again(t.Context(), &before); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.granting.ticket.EncPart.Cipher == nil || string(l.granting.ticket.EncPart.Cipher) == string(before.ticket.EncPart.Cipher) {
		t.Error("it is the same ticket")
	}
}
