package hbase

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/certs/certstest"
	"brine/internal/gssapi/gssapitest"
	"brine/internal/testenv"
)

// scanEvents fills b with n mutations of one row and three cells each, like the scans of an order: about 200 bytes.
func scanEvents(b *Batch, n, from int) {
	family, value := []byte("e"), []byte("上海转运中心 0123456789")
	qualifiers := [][]byte{[]byte("s"), []byte("a"), []byte("c")}
	var row [40]byte
	for i := range n {
		key := fmt.Appendf(row[:0], "%02x_waybill_%012d_2026", (from+i)*7919%256, from+i)
		b.Mutate(key)
		for _, q := range qualifiers {
			b.Put(family, q, int64(from+i), value)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	batch := NewBatch("t")
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset("t")
		scanEvents(batch, 1000, 0)
	}
	perMutation(b, 1000)
}

func perMutation(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/mutation")
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "mutations/s")
}

// BenchmarkSubmit writes through lanes, calls and frames to a peer that only counts and acknowledges. The peer decodes with hbasepb, so it
// causes most of the reported allocations.
func BenchmarkSubmit(b *testing.B) {
	var splits []string
	for i := 1; i < 16; i++ {
		splits = append(splits, fmt.Sprintf("%02x", i*16))
	}
	p := newPeer(b, splits...)
	p.answer = func(c *peerCall) *reply {
		if c.method != "Multi" {
			return nil
		}
		return &reply{param: acknowledgement(c.multi())}
	}
	benchmarkSubmit(b, p.open(p.unhurried()))
}

// BenchmarkSubmitEmbedded writes to an embedded server in memory, in the same process and on the same cores.
func BenchmarkSubmitEmbedded(b *testing.B) {
	s := startEmbedded(b, embedded.Options{})
	c := open(b, patient("rpc://"+s.Addr()))
	var splits []string
	for i := 1; i < 16; i++ {
		splits = append(splits, fmt.Sprintf("%02x", i*16))
	}
	createTable(b, c, "t", splits...)
	benchmarkSubmit(b, c)
}

// BenchmarkTLS writes to two servers in turn, to one in plain text and to the other over TLS, and reports the median of the extra time of a
// round over TLS. It includes the costs of both client and server, which share this machine.
func BenchmarkTLS(b *testing.B) {
	b.Run("embedded", func(b *testing.B) {
		a := certstest.New(b, "servers")
		cert, key := a.Issue(b, certstest.Leaf{})
		plain, encrypted := startEmbedded(b, embedded.Options{}), startEmbedded(b, embedded.Options{TLS: &embedded.TLS{Cert: cert, Key: key}})
		benchmarkBeside(b, "TLS/plain", "rpc://"+plain.Addr(), Options{Connect: "rpc://" + encrypted.Addr(), TLS: &TLS{CA: a.CA}})
	})
	b.Run("real", func(b *testing.B) {
		secured := testenv.HBaseTLS(b)
		benchmarkBeside(b, "TLS/plain", testenv.HBase(b),
			Options{Connect: secured.Connect, TLS: &TLS{CA: secured.CA, Cert: secured.Cert, Key: secured.Key}})
	})
}

// BenchmarkKerberos is BenchmarkTLS with each quality of protection instead.
func BenchmarkKerberos(b *testing.B) {
	for _, qop := range []string{"auth", "auth-int", "auth-conf"} {
		b.Run("embedded/"+qop, func(b *testing.B) {
			kdc := gssapitest.NewKDC("TEST.EXAMPLE")
			keytab := kdc.Keytab(b, "hbase/localhost")
			plain, secured := startEmbedded(b, embedded.Options{}), startEmbedded(b, embedded.Options{Kerberos: &embedded.Kerberos{Keytab: keytab}})
			benchmarkBeside(b, "kerberos/plain", "rpc://"+plain.Addr(), Options{Connect: "rpc://" + secured.Addr(), Kerberos: &Kerberos{
				Principal: "brine", Keytab: kdc.Keytab(b, "brine"), Krb5Conf: kdc.Conf(b, kdc.Listen(b)), QOP: qop,
			}})
		})
		b.Run("real/"+qop, func(b *testing.B) {
			r := testenv.HBaseKerberos(b)
			benchmarkBeside(b, "kerberos/plain", testenv.HBase(b),
				Options{Connect: r.Connect, Kerberos: &Kerberos{Principal: r.Principal, Keytab: r.Keytab, Krb5Conf: r.Krb5Conf, QOP: qop}})
		})
	}
}

func benchmarkBeside(b *testing.B, unit, plain string, secured Options) {
	const batches, size = 40, 500
	name := testenv.Name(b)
	batch := NewBatch(name)
	scanEvents(batch, size, 0)
	var clients [2]*Client
	for i, how := range []Options{{Connect: plain}, secured} {
		o := patient(how.Connect)
		o.TLS, o.Kerberos = how.TLS, how.Kerberos
		clients[i] = open(b, o)
		createTable(b, clients[i], name, "40", "80", "c0")
		defer func() {
			_ = errors.Join(clients[i].DisableTable(b.Context(), name), clients[i].DeleteTable(b.Context(), name))
		}()
	}
	round := func(c *Client) float64 {
		start := time.Now()
		for range batches {
			if failed, err := c.Submit(b.Context(), batch).Wait(b.Context()); err != nil || failed != nil {
				b.Fatal(failed, err)
			}
		}
		return float64(time.Since(start))
	}
	for range 3 { // warm up
		round(clients[0])
		round(clients[1])
	}
	var ratios []float64
	for b.Loop() {
		first := len(ratios) % 2 // the order alternates
		var took [2]float64
		took[first], took[1-first] = round(clients[first]), round(clients[1-first])
		ratios = append(ratios, took[1]/took[0])
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], unit)
}

func benchmarkSubmit(b *testing.B, c *Client) {
	const size, window = 500, 8
	b.ReportAllocs()
	var flights [window]*Flight
	var batches [window]*Batch
	for i := range batches {
		batches[i] = NewBatch("t")
		scanEvents(batches[i], size, i*size)
	}
	n := 0
	for b.Loop() {
		i := n % window
		if flights[i] != nil {
			if failed, err := flights[i].Wait(b.Context()); err != nil || failed != nil {
				b.Fatal(failed, err)
			}
		}
		flights[i] = c.Submit(b.Context(), batches[i])
		n++
	}
	for _, f := range flights {
		if f != nil {
			<-f.Done()
		}
	}
	perMutation(b, size)
}
