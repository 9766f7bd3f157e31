package hbase_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"brine/hbase"
	"brine/internal/gssapi/gssapitest"
	"brine/internal/testenv"
)

// realKerberos returns options for a client of the real HBase with Kerberos.
func realKerberos(t testing.TB, qop string) hbase.Options {
	t.Helper()
	return kerberized(testenv.HBaseKerberos(t), qop)
}

func kerberized(r testenv.KerberosHBase, qop string) hbase.Options {
	return hbase.Options{Connect: r.Connect, Kerberos: &hbase.Kerberos{Principal: r.Principal, Keytab: r.Keytab, Krb5Conf: r.Krb5Conf, QOP: qop}}
}

func TestRealKerberos(t *testing.T) {
	for _, qop := range []string{"auth", "auth-int", "auth-conf"} {
		t.Run(qop, func(t *testing.T) {
			c := open(t, realKerberos(t, qop))
			name := testenv.Name(t)
			table(t, c, name)
			t.Cleanup(func() { dropTable(t, c, name) })
			large := bytes.Repeat([]byte("0123456789abcdef"), 1<<15) // longer than HBase says it accepts at once
			b := hbase.NewBatch(name)
			b.Mutate([]byte("large"))
			b.Put([]byte("e"), []byte("large"), 1, large)
			if failed, err := c.Submit(t.Context(), b).Wait(t.Context()); err != nil || failed != nil {
				t.Fatal(failed, err)
			}
			got, err := c.Get(t.Context(), name, hbase.Get{Row: []byte("large")})
			if err != nil || len(got.Cells) != 1 || !bytes.Equal(got.Cells[0].Value, large) {
				t.Fatalf("%d cells, %v", len(got.Cells), err)
			}
			found := 0
			for _, err := range c.Scan(t.Context(), name, hbase.Scan{}) {
				if err != nil {
					t.Fatal(err)
				}
				found++
			}
			if found != 101 {
				t.Errorf("%d of 101 rows", found)
			}
		})
	}
}

func dropTable(t *testing.T, c *hbase.Client, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // the test has ended
	if err := errors.Join(c.DisableTable(ctx, name), c.DeleteTable(ctx, name)); err != nil {
		t.Error(err)
	}
}

// The cases of the matrix that a real HBase with a real KDC can run, and a principal of this KDC that is not the server's.
func TestRealKerberosMatrix(t *testing.T) {
	for _, c := range kerberosCases {
		if !c.real.runs() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			like := gssapitest.NewKDC("BRINE.TEST")
			var o hbase.Options
			if c.real == realRekeyed {
				r := testenv.HBaseKerberosAlone(t)
				r.Rekey(t, like.Keytab(t, krbServer))
				o = kerberized(r, "auth")
			} else {
				o = realKerberos(t, "auth")
			}
			if c.client != nil {
				c.client(t, nil, &o, like)
			}
			if c.real == realPlain {
				o.Connect = testenv.HBase(t)
			}
			if c.realSays != "" {
				c.is, c.says = nil, c.realSays
			}
			tryKerberos(t, o, c.is, c.says)
		})
	}
	t.Run("another server", func(t *testing.T) {
		o := realKerberos(t, "auth")
		o.Kerberos.ServerPrincipal = "brine"
		tryKerberos(t, o, nil, "it refuses the ticket for brine")
	})
}

// changed writes a copy of a file with a text replaced wherever it is.
func changed(t testing.TB, file, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(from)) {
		t.Fatalf("%s has no %q", file, from)
	}
	file = filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(file, bytes.ReplaceAll(b, []byte(from), []byte(to)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Tickets live for a few seconds, connections are cut all the time, and writers continue: nothing is lost.
func TestRealKerberosRenewalUnderLoad(t *testing.T) {
	o := realKerberos(t, "auth-conf")
	o.Kerberos.Krb5Conf = changed(t, o.Kerberos.Krb5Conf, "[libdefaults]\n", "[libdefaults]\n  ticket_lifetime = 3s\n")
	cut := new(tap)
	o.Dial = cut.dial
	c := open(t, o)
	name := testenv.Name(t)
	if err := c.CreateTable(t.Context(), hbase.Table{Name: name, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropTable(t, c, name) })
	end := time.Now().Add(7 * time.Second) // more than two ticket lives
	var wg sync.WaitGroup
	written := make([]int, 4)
	for w := range written {
		wg.Go(func() {
			for time.Now().Before(end) {
				b := hbase.NewBatch(name)
				for range 200 {
					b.Mutate(fmt.Appendf(nil, "%d-%08d", w, written[w]))
					b.Put([]byte("e"), []byte("q"), 1, []byte("value"))
					written[w]++
				}
				if failed, err := c.Submit(t.Context(), b).Wait(t.Context()); err != nil || failed != nil {
					t.Error(failed, err)
					return
				}
			}
		})
	}
	for time.Now().Before(end) {
		time.Sleep(500 * time.Millisecond)
		cut.all()
	}
	wg.Wait()
	found, all := 0, 0
	for _, n := range written {
		all += n
	}
	for _, err := range c.Scan(t.Context(), name, hbase.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		found++
	}
	if found != all || all == 0 {
		t.Errorf("%d of %d rows are there", found, all)
	}
	t.Logf("%d rows, tickets of 3 s, connections cut twice a second", all)
}
