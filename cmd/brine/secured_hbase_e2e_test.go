package main

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/certs/certstest"
	"brine/internal/sample"
	"brine/internal/testenv"
)

// only is how a client of a test encrypts; empty is plain text.
func only(by []*hbase.TLS) *hbase.TLS {
	if len(by) == 0 {
		return nil
	}
	return by[0]
}

// embeddedTLS is the embedded stack with an HBase that requires TLS and a certificate.
func embeddedTLS(t *testing.T) stack {
	t.Helper()
	servers, clients := certstest.New(t, "servers"), certstest.New(t, "clients")
	serves, shows := &embedded.TLS{CA: clients.CA, ClientAuth: embedded.Need}, &hbase.TLS{CA: servers.CA}
	serves.Cert, serves.Key = servers.Issue(t, certstest.Leaf{})
	shows.Cert, shows.Key = clients.Issue(t, certstest.Leaf{})
	server, err := embedded.Start(embedded.Options{TLS: serves, Servers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	s := embeddedStack(t)
	s.hbase, s.tls = "rpc://"+server.Addr(), shows
	return s
}

// realTLS is a real broker, and a real HBase that requires TLS and a certificate.
func realTLS(t *testing.T) stack {
	t.Helper()
	h := testenv.HBaseTLS(t)
	return stack{brokers: testenv.Kafka(t), hbase: h.Connect, search: "embedded:" + filepath.Join(t.TempDir(), "search"), lasting: true,
		tls: &hbase.TLS{CA: h.CA, Cert: h.Cert, Key: h.Key}}
}

// TestPipelineToHBaseByTLS writes rows into an HBase that requires TLS and a certificate, and checks them. With anything but the right
// files each command is refused, and says what to do.
func TestPipelineToHBaseByTLS(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) stack{"embedded": embeddedTLS, "real": realTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, start(t))
			n := j.publish(first(sample.Scans(), 5000))
			j.must("check", "--connect", j.file)
			j.must("run", "-q", "-c", j.file, "--until-end")
			j.must("verify", "-c", j.file)
			if got := scanTable(t, j.hbase, j.table, j.tls); got.rows != n {
				t.Errorf("%d rows of %d events", got.rows, n)
			}
			unknown := certstest.New(t, "unknown")
			cert, key := unknown.Issue(t, certstest.Leaf{})
			for _, c := range []struct {
				name, says string
				by         *hbase.TLS
			}{
				{"plain text", `the server closed the connection before answering, as it does if it requires TLS \(hbase.tls\)`, nil},
				{"unknown authority",
					"is signed by an unknown authority, .* name the file of that authority's certificate in hbase.tls.ca", &hbase.TLS{CA: unknown.CA, Cert: j.tls.Cert, Key: j.tls.Key}},
				{"no certificate", "the server requires a client certificate: .*; set hbase.tls.cert and hbase.tls.key", &hbase.TLS{CA: j.tls.CA}},
				{"a stranger's certificate", "the server refuses the client's certificate: .*; name in hbase.tls.cert one", &hbase.TLS{CA: j.tls.CA,
					Cert: cert, Key: key}},
			} {
				stranger := *j
				stranger.tls = c.by
				for _, args := range [][]string{{"check", "--connect", j.file}, {"run", "-q", "-c", j.file, "--until-end"}, {"query", "--timeout",
					"20s", "-c", j.file, j.table}} {
					out, code := stranger.exit(args...)
					if code != exitUnreachable || !regexp.MustCompile(c.says).MatchString(strings.ReplaceAll(out, "\n", " ")) {
						t.Errorf("%s: brine %v: exit %d, want %d and %q:\n%s", c.name, args, code, exitUnreachable, c.says, out)
					}
				}
			}
		})
	}
}

// TestPipelineToHBaseByKerberos writes rows into a real HBase that requires a ticket, with each protection, and checks them. Without the
// settings, or with a keytab with another key, it is refused with a clear message.
func TestPipelineToHBaseByKerberos(t *testing.T) {
	t.Parallel()
	r := testenv.HBaseKerberos(t)
	k := &hbase.Kerberos{Principal: r.Principal, Keytab: r.Keytab, Krb5Conf: r.Krb5Conf, QOP: "auth"}
	s := stack{brokers: testenv.Kafka(t), hbase: r.Connect, search: "embedded:" + filepath.Join(t.TempDir(), "search"), kerberos: k}
	j := newJob(t, s)
	t.Cleanup(func() {
		client, err := hbase.Open(context.Background(), hbase.Options{Connect: r.Connect, Kerberos: k})
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		_, topics := j.client().DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{j.topic}})
		if err := errors.Join(topics, client.DisableTable(context.Background(), j.table), client.DeleteTable(context.Background(),
			j.table)); err != nil {
			t.Error(err)
		}
	})
	for i, qop := range []string{"auth", "auth-int", "auth-conf"} {
		k.QOP = qop
		n := j.publish(first(sample.Scans(), (i+1)*1000)) // those already there are skipped
		j.must("run", "-q", "-c", j.file, "--until-end")
		if out := j.must("verify", "-c", j.file, "-q"); !strings.Contains(out, "nothing is missing") || n == 0 {
			t.Errorf("%s, %d records:\n%s", qop, n, out)
		}
	}
	stranger := *j
	stranger.kerberos = nil
	if out, code := stranger.exit("query", "--timeout", "20s", "-c", j.file, j.table, "--limit",
		"1"); code == exitOK || !strings.Contains(out, "hbase.kerberos") {
		t.Errorf("without a ticket: exit %d\n%s", code, out)
	}
}
