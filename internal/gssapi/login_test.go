package gssapi

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/gssapi/gssapitest"
)

// Every reason why there is no ticket is stated, with the fix.
func TestLoginSaysWhyNot(t *testing.T) {
	kdc := gssapitest.NewKDC(realm)
	keytab, conf := kdc.Keytab(t, "brine", server), kdc.Conf(t, "kdc:88")
	for _, c := range []struct {
		name   string
		change func(t *testing.T, o *Options)
		server string
		is     error
		want   string
	}{
		{name: "unknown server", server: "hbase/elsewhere", is: ErrUnknownServer, want: "hbase/elsewhere@TEST.EXAMPLE; check that it is the server's principal"},
		{name: "unknown principal", is: ErrUnknownPrincipal, want: "check that nobody@TEST.EXAMPLE is spelled as in the KDC", change: func(t *testing.T, o *Options) {
			other := gssapitest.NewKDC(realm)
			o.Principal, o.Keytab = "nobody", other.Keytab(t, "nobody")
		}},
		{name: "keytab of before", is: ErrWrongKey, want: "export the keytab again", change: func(t *testing.T, o *Options) {
			other := gssapitest.NewKDC(realm)
			o.Keytab = other.Keytab(t, "brine")
		}},
		{name: "clock ahead", is: ErrClockSkew, want: "this machine's is 10m0s behind", change: func(t *testing.T, _ *Options) {
			kdc.Set(func(f *gssapitest.Faults) { f.Skew = 10*time.Minute + 100*time.Millisecond })
			t.Cleanup(func() { kdc.Set(func(f *gssapitest.Faults) { f.Skew = 0 }) })
		}},
		{name: "KDC of another realm", is: ErrWrongRealm, want: "it does not serve the realm of brine@OTHER", change: func(t *testing.T, o *Options) {
			other := gssapitest.NewKDC("OTHER")
			o.Principal, o.Keytab, o.Krb5Conf = "brine@OTHER", other.Keytab(t, "brine"), other.Conf(t, "kdc:88")
		}},
		{name: "no KDC of the realm", is: ErrWrongRealm, want: "krb5.conf names no KDC of OTHER", change: func(t *testing.T, o *Options) {
			other := gssapitest.NewKDC("OTHER")
			o.Principal, o.Keytab = "brine@OTHER", other.Keytab(t, "brine")
		}},
		{name: "no KDC answers", is: ErrKDC, want: "kdc:88: ", change: func(t *testing.T, _ *Options) {
			kdc.Set(func(f *gssapitest.Faults) { f.Down = true })
			t.Cleanup(func() { kdc.Set(func(f *gssapitest.Faults) { f.Down = false }) })
		}},
		{name: "no KDC is there", is: ErrKDC, want: "kdc:88: connection refused", change: func(_ *testing.T, o *Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
		}},
		{name: "ticket that has ended", is: ErrExpired, want: "get another one (kinit)", change: func(t *testing.T, o *Options) {
			o.Keytab, o.TicketCache = "", writeCache(t, kdc, -time.Hour, 0)
		}},
		{name: "cache of another", want: "belongs to brine@TEST.EXAMPLE, not to other@TEST.EXAMPLE", change: func(t *testing.T, o *Options) {
			o.Principal, o.Keytab, o.TicketCache = "other", "", writeCache(t, kdc, time.Hour, 0)
		}},
		{name: "no cache", is: os.ErrNotExist, want: "/nowhere", change: func(_ *testing.T, o *Options) { o.Keytab, o.TicketCache = "", "FILE:/nowhere" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Principal: "brine", Keytab: keytab, Krb5Conf: conf, Dial: kdc.Dial}
			if c.change != nil {
				c.change(t, &o)
			}
			if c.server == "" {
				c.server = server
			}
			l, err := NewLogin(o)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			_, err = l.Ticket(t.Context(), c.server)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v\nwant %q", err, c.want)
			}
		})
	}
}

// Errors that need no KDC are reported before any is contacted.
func TestLoginChecksItsFiles(t *testing.T) {
	kdc := gssapitest.NewKDC(realm)
	keytab, conf := kdc.Keytab(t, "brine"), kdc.Conf(t, "kdc:88")
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(damaged, []byte("\x05\x02\x00\x00\x00\x08abcdefgh"), 0o600); err != nil {
		t.Fatal(err)
	}
	kdc.Set(func(f *gssapitest.Faults) { f.EType = 23 })
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Principal: "brine"}, "give either a keytab or a ticket cache"},
		{Options{Principal: "brine", Keytab: keytab, TicketCache: "x"}, "not both"},
		{Options{Keytab: keytab}, "name the principal"},
		{Options{Principal: "other", Keytab: keytab}, "no key of other@TEST.EXAMPLE; it has those of [brine@TEST.EXAMPLE]"},
		{Options{Principal: "rc4", Keytab: kdc.Keytab(t, "rc4")}, "has no AES key of rc4@TEST.EXAMPLE (types 17 to 19), only types [23]"},
		{Options{Principal: "brine", Keytab: "/nowhere"}, "/nowhere"},
		{Options{Principal: "brine", Keytab: damaged}, "damaged"},
		{Options{TicketCache: "KEYRING:x"}, "only files are supported"},
		{Options{Principal: "brine", Keytab: keytab, Krb5Conf: "/nowhere"}, "/nowhere"},
		{Options{Principal: "brine", Keytab: keytab, Krb5Conf: damaged}, ""},
	} {
		if c.o.Krb5Conf == "" {
			c.o.Krb5Conf = conf
		}
		if l, err := NewLogin(c.o); err == nil {
			l.Close()
			if c.want != "" {
				t.Errorf("%+v: no error, want %q", c.o, c.want)
			}
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %q", err, c.want)
		}
	}
}

// If the first KDC does not answer, the second one is asked.
func TestAnotherKDC(t *testing.T) {
	kdc := gssapitest.NewKDC(realm)
	dead := errors.New("connection refused")
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == "dead:88" {
			return nil, dead
		}
		return kdc.Dial(ctx, network, addr)
	}
	kdc.Key(server)
	for range 10 { // gokrb5 shuffles them
		l, err := NewLogin(Options{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, "dead:88", "alive:88"), Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Ticket(t.Context(), server); err != nil {
			t.Error(err)
		}
		l.Close()
	}
}

// A login with tickets of a minute works for hours; a KDC that is unreachable for a while is reported, and no caller notices.
func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kdc := gssapitest.NewKDC(realm)
		kdc.Set(func(f *gssapitest.Faults) { f.Life = time.Minute })
		kdc.Key(server)
		var warned atomic.Int64
		file := kdc.Keytab(t, "brine")
		l, err := NewLogin(Options{Principal: "brine", Keytab: file, Krb5Conf: kdc.Conf(t, "kdc:88"), Dial: kdc.Dial, Warn: func(error) { warned.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range 360 {
			got, err := l.Ticket(t.Context(), server)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Until().After(time.Now()) {
				t.Fatal("it has ended")
			}
			time.Sleep(10 * time.Second)
		}
		synctest.Wait()
		if logins, _, _ := kdc.Counts(); logins < 70 || logins > 75 || warned.Load() > 0 {
			t.Errorf("%d logins in an hour of tickets of 60 s, which are renewed after 50 s; %d warnings", logins, warned.Load())
		}

		kdc.Set(func(f *gssapitest.Faults) { f.Down = true })
		var away error
		for range 120 {
			time.Sleep(time.Second)
			_, away = l.Ticket(t.Context(), server)
		}
		if !errors.Is(away, ErrKDC) || warned.Load() == 0 {
			t.Errorf("no KDC for 2 minutes: %v, %d warnings", away, warned.Load())
		}
		kdc.Set(func(f *gssapitest.Faults) { f.Down = false })
		kdc.Key("brine") // meanwhile the keytab has changed
		kdc.WriteKeytab(t, file, "brine")
		if _, err := l.Ticket(t.Context(), server); err != nil {
			t.Errorf("it is back: %v", err)
		}
	})
}

// A ticket-granting ticket that ends between the look at it and its use, here because the KDC's clock is 15 s ahead, is replaced at once. The
// caller notices nothing, unless there is no other ticket. A KDC whose tickets have always ended is asked no more than twice.
func TestTicketEndsBeforeItsUse(t *testing.T) {
	for _, c := range []struct {
		name   string
		from   func(t *testing.T, kdc *gssapitest.KDC, o *Options)
		before func(t *testing.T, kdc *gssapitest.KDC, o *Options) // the use
		logins int                                                 // because of the use
		want   string                                              // of the error
	}{
		{name: "keytab", logins: 1},
		{name: "newer ticket in the cache", from: cached, before: func(t *testing.T, kdc *gssapitest.KDC, o *Options) {
			if err := os.Rename(writeCache(t, kdc, time.Hour, 0), o.TicketCache); err != nil {
				t.Fatal(err)
			}
		}, logins: 1}, // that of writeCache
		{name: "no newer ticket", from: cached, want: "get another one (kinit)"},
		{name: "tickets that have ended", before: func(_ *testing.T, kdc *gssapitest.KDC, _ *Options) {
			kdc.Set(func(f *gssapitest.Faults) { f.Life = -time.Second })
		}, logins: 1, want: "it has expired"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kdc := gssapitest.NewKDC(realm)
				kdc.Set(func(f *gssapitest.Faults) { f.Life = time.Minute })
				kdc.Key(server)
				kdc.Key("kafka/localhost")
				o := Options{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, "kdc:88"), Dial: kdc.Dial}
				if c.from != nil {
					c.from(t, kdc, &o)
				}
				l, err := NewLogin(o)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				if _, err := l.Ticket(t.Context(), server); err != nil {
					t.Fatal(err)
				}
				time.Sleep(49 * time.Second) // the ticket is replaced after 50
				before, _, _ := kdc.Counts()
				if c.before != nil {
					c.before(t, kdc, &o)
				}
				kdc.Set(func(f *gssapitest.Faults) { f.Skew = 15 * time.Second })
				_, err = l.Ticket(t.Context(), "kafka/localhost")
				if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrExpired) || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("got %v\nwant %q", err, c.want)
				}
				if logins, _, _ := kdc.Counts(); logins-before != c.logins {
					t.Errorf("%d logins, want %d", logins-before, c.logins)
				}
			})
		})
	}
}

// cached makes a login use a ticket cache whose ticket lives for a minute and is not renewable.
func cached(t *testing.T, kdc *gssapitest.KDC, o *Options) {
	o.Keytab, o.TicketCache = "", writeCache(t, kdc, time.Minute, 0)
}

// A ticket cache is read again if it has a newer ticket; otherwise its ticket is renewed.
func TestTicketCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kdc := gssapitest.NewKDC(realm)
		kdc.Set(func(f *gssapitest.Faults) { f.Life = time.Hour })
		kdc.Key(server)
		file := writeCache(t, kdc, time.Hour, 3*time.Hour)
		l, err := NewLogin(Options{TicketCache: file, Krb5Conf: kdc.Conf(t, "kdc:88"), Dial: kdc.Dial})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ticket := func() {
			t.Helper()
			if _, err := l.Ticket(t.Context(), server); err != nil {
				t.Fatal(err)
			}
		}
		ticket()
		logins, renewals, _ := kdc.Counts()
		time.Sleep(55 * time.Minute)
		synctest.Wait()
		if _, now, _ := kdc.Counts(); now != renewals+1 {
			t.Errorf("%d renewals after 55 minutes of an hour", now-renewals)
		}
		ticket()
		newer := writeCache(t, kdc, 24*time.Hour, 0)
		if err := os.Rename(newer, file); err != nil {
			t.Fatal(err)
		}
		before, _, _ := kdc.Counts()
		time.Sleep(10 * time.Hour)
		ticket()
		if now, again, _ := kdc.Counts(); again != renewals+1 || now != before || logins == 0 {
			t.Errorf("it renewed %d more tickets, though a newer one was there", again-renewals-1)
		}
	})
}

// writeCache logs in and writes what kinit would, with the given expiry.
func writeCache(t *testing.T, kdc *gssapitest.KDC, until, renewable time.Duration) string {
	t.Helper()
	kdc.Set(func(f *gssapitest.Faults) { f.Renew, f.Life = renewable, until.Abs() })
	l, err := NewLogin(Options{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, "kdc:88"), Dial: kdc.Dial})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.busy <- struct{}{}
	got, err := l.grant(t.Context())
	<-l.busy
	if err != nil {
		t.Fatal(err)
	}
	got.until = time.Now().Add(until)
	if renewable > 0 {
		got.renewable = time.Now().Add(renewable)
	}
	file := filepath.Join(t.TempDir(), "cache")
	if err := os.WriteFile(file, encodeCache(t, got), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func encodeCache(t testing.TB, got Ticket) []byte {
	t.Helper()
	return gssapitest.Credentials{Client: got.client, Realm: got.realm, Ticket: got.ticket, Key: got.key,
		Since: got.since, Until: got.until, Renewable: got.renewable}.Encode(t)
}

// FuzzCache decodes arbitrary bytes as a ticket cache.
func FuzzCache(f *testing.F) {
	p := newPeers(f, supported[0])
	p.login.busy <- struct{}{}
	got, err := p.login.grant(f.Context())
	<-p.login.busy
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encodeCache(f, got))
	f.Fuzz(func(t *testing.T, b []byte) {
		// What counts is the name in the ticket: that in its entry, beside it, may be any.
		if c, err := decodeCache(b); err == nil && c.ticket.SName.NameString[0] != "krbtgt" {
			t.Fatalf("a ticket for %q", c.ticket.SName.NameString)
		}
	})
}

func TestServersName(t *testing.T) {
	kdc := gssapitest.NewKDC(realm)
	names := map[string]string{"10.0.0.7": "RS7.example.com.", "127.0.0.1": "localhost"}
	l, err := NewLogin(Options{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, "kdc:88"),
		Lookup: func(_ context.Context, addr string) ([]string, error) {
			if n, ok := names[addr]; ok {
				return []string{n}, nil
			}
			return nil, errors.New("no such address")
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct{ pattern, addr, want string }{
		{"hbase/_HOST@R", "10.0.0.7:16020", "hbase/rs7.example.com@R"},
		{"hbase/_HOST", "127.0.0.1:1", "hbase/localhost"},
		{"hbase/_HOST", "10.0.0.8:1", "hbase/10.0.0.8"},
		{"hbase/_HOST", "RS9.Example.com:16020", "hbase/rs9.example.com"}, // rdns = false
		{"hbase/cluster", "10.0.0.7:16020", "hbase/cluster"},
	} {
		if got := l.Server(t.Context(), c.pattern, c.addr); got != c.want {
			t.Errorf("%s at %s: %s, want %s", c.pattern, c.addr, got, c.want)
		}
	}
}
