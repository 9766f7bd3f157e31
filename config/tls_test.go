package config

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/internal/certs/certstest"
)

// certificate writes a self-signed certificate and its key into a folder of the test.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", pkcs8)
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	_, other := certificate(t)
	parse := func(key string) (*Config, Problems) {
		withHBase := strings.Replace(minimal, `hbase: { connect: "embedded:./data" }`, "hbase: { connect: 'rpc://hbase:16000', tls: { enabled: true, server_name: hbase, ca: '"+cert+"', cert: '"+cert+"', key: '"+key+"' } }", 1)
		source := strings.Replace(withHBase, "kafka: {", "kafka: { sasl: { mechanism: plain, user: u, password: p }, tls: { enabled: true, server_name: kafka, ca: '"+
			cert+"', cert: '"+cert+"', key: '"+key+"' },", 1) + "search: { connect: https://localhost:9200, ca: '" + cert + "' }\n" +
			"registry: { url: 'https://localhost:8081', tls: { ca: '" + cert + "', cert: '" + cert + "', key: '" + key + "' } }\n"
		return Parse("brine.yaml", []byte(source), environ())
	}
	cfg, problems := parse(key)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	k := cfg.Kafka.Options()
	if c := k.TLS(); c.ServerName != "kafka" || c.GetClientCertificate == nil || c.RootCAs == nil || k.SASL == nil || k.SASL.Name() != "PLAIN" {
		t.Errorf("tls %+v, sasl %v", c, k.SASL)
	}
	if c := cfg.Search.Elastic().TLS(); c.RootCAs == nil {
		t.Error("the search engine's certificates are not read")
	}
	if o, _ := cfg.Registry(); o.TLS().GetClientCertificate == nil || o.TLS().RootCAs == nil {
		t.Errorf("tls of the registry: %+v", o.TLS())
	}
	if h := cfg.HBase(); h.TLS == nil || *h.TLS != (hbase.TLS{CA: cert, Cert: cert, Key: key, ServerName: "hbase", MinVersion: tls.VersionTLS12}) {
		t.Errorf("tls of HBase: %+v", h.TLS)
	}
	if _, problems = parse(other); !strings.Contains(problems.String(), "hbase.tls.cert: is not a valid pair with key: private key does not match public key") {
		t.Errorf("a key of another certificate, to HBase: %v", problems)
	}
	if _, problems = parse(other); !strings.Contains(problems.String(), "kafka.tls.cert: is not a valid pair with key: private key does not match public key") {
		t.Errorf("a key of another certificate: %v", problems)
	}
}

// TestRenewedCertificates: Kafka, the registry, the search engine, the accounts' database and the OpenID provider get the certificates that are in the files when a connection is made; a
// pair that does not fit leaves the earlier one in use, and both are reported.
func TestRenewedCertificates(t *testing.T) {
	cert, key := certificate(t)
	source := strings.Replace(minimal, "kafka: {", "kafka: { tls: { enabled: true, ca: '"+cert+"', cert: '"+cert+"', key: '"+key+"' },", 1) +
		"search: { connect: https://localhost:9200, ca: '" + cert + "' }\n" +
		"registry: { url: 'https://localhost:8081', tls: { ca: '" + cert + "', cert: '" + cert + "', key: '" + key + "' } }\n" +
		"accounts: { connect: 'mysql://localhost/brine', ca: '" + cert + "', oidc: { issuer: 'https://localhost', client_id: brine, " +
		"roles: { it: admin }, url: 'https://localhost', ca: '" + cert + "' } }\n"
	cfg, problems := Parse("brine.yaml", []byte(source), environ())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	reported := map[string]string{}
	cfg.Renewed(func(section string, err error) { reported[section] = fmt.Sprint(err) })
	schemas, _ := cfg.Registry()
	engine := cfg.Search.Elastic()
	company, _ := cfg.Company()
	every := map[string]func() *tls.Config{"kafka.tls": cfg.Kafka.Options().TLS, "search": engine.TLS, "registry.tls": schemas.TLS,
		"accounts": cfg.AccountOptions().TLS, "accounts.oidc": company.TLS}
	holds := func(file string) {
		t.Helper()
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(want)
		block, _ := pem.Decode(want)
		for section, now := range every {
			c := now()
			if !c.RootCAs.Equal(pool) {
				t.Errorf("%s has other authorities than %s", section, file)
			}
			if c.GetClientCertificate == nil {
				continue
			}
			if pair, err := c.GetClientCertificate(nil); err != nil || !bytes.Equal(pair.Certificate[0], block.Bytes) {
				t.Errorf("%s shows another certificate than %s, %v", section, file, err)
			}
		}
	}
	holds(cert)
	before := filepath.Join(t.TempDir(), "before.pem")
	certstest.Copy(t, cert, before)
	newCert, newKey := certificate(t)
	certstest.Copy(t, newKey, key) // without its certificate
	holds(before)
	for section := range every {
		if want := strings.HasSuffix(section, ".tls"); strings.Contains(reported[section], "the previous certificates stay in use") != want {
			t.Errorf("%s reports %q", section, reported[section])
		}
	}
	certstest.Copy(t, newCert, cert)
	holds(newCert)
	for section := range every {
		if reported[section] != "<nil>" {
			t.Errorf("%s reports %q", section, reported[section])
		}
	}
}
