package testenv

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

const answerWithin = time.Minute

// Kafka returns the bootstrap addresses (host:port) of a real broker.
func Kafka(t testing.TB) []string {
	t.Helper()
	addrs := strings.Split(address(t, "BRINE_REAL_KAFKA"), ",")
	listens(t, "Kafka", addrs[0])
	return addrs
}

// SecuredKafka is how to reach a real broker that authenticates its clients.
type SecuredKafka struct {
	SCRAM, MTLS string // host:port of its listeners: SCRAM over TLS, and TLS with client certificates
	OAuth       string // OAUTHBEARER over TLS: unsigned tokens that have not expired and have the scope kafka
	CA, CAKey   string // files of the authority (PEM) that signed the broker's and the client's certificates, and of its key
	Cert, Key   string // files of the client's certificate and key (PEM)
}

// KafkaSecured returns the listeners with authentication of the broker that Kafka returns.
func KafkaSecured(t testing.TB) SecuredKafka {
	t.Helper()
	k := SecuredKafka{SCRAM: address(t, "BRINE_REAL_KAFKA_SCRAM"), MTLS: address(t, "BRINE_REAL_KAFKA_MTLS"),
		OAuth: address(t, "BRINE_REAL_KAFKA_OAUTH")}
	listens(t, "Kafka's SCRAM listener", k.SCRAM)
	listens(t, "Kafka's mTLS listener", k.MTLS)
	dir := address(t, "BRINE_REAL_KAFKA_CERTIFICATES")
	k.CA, k.CAKey = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key")
	k.Cert, k.Key = filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key")
	return k
}

// Present has the broker present another certificate, until the test ends, on the returned listener, which authenticates nobody. One test
// at a time has it.
func (k SecuredKafka) Present(t testing.TB, cert, key string) (listener string) {
	t.Helper()
	dir := filepath.Dir(k.CA)
	lock(t, dir, syscall.LOCK_EX)
	listener = address(t, "BRINE_REAL_KAFKA_TLS")
	keystore := filepath.Join(dir, Name(t)+".pem")
	alter := func(c kafka.IncrementalAlterConfigsRequestConfig) {
		t.Helper()
		c.Name = "listener.name.tls.ssl.keystore.location"
		transport := &kafka.Transport{}
		defer transport.CloseIdleConnections()
		client := &kafka.Client{Addr: kafka.TCP(Kafka(t)...), Transport: transport, Timeout: answerWithin}
		resp, err := client.IncrementalAlterConfigs(context.Background(), &kafka.IncrementalAlterConfigsRequest{
			Resources: []kafka.IncrementalAlterConfigsRequestResource{{
				ResourceType: kafka.ResourceTypeBroker, ResourceName: "1", Configs: []kafka.IncrementalAlterConfigsRequestConfig{c},
			}}})
		if err == nil {
			err = resp.Resources[0].Error
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
	}
	replace(t, keystore, slices.Concat(content(t, key), content(t, cert)))
	t.Cleanup(func() {
		alter(kafka.IncrementalAlterConfigsRequestConfig{ConfigOperation: kafka.ConfigOperationDelete})
		Presents(t, listener, filepath.Join(dir, "server.crt"))
		if err := os.Remove(keystore); err != nil {
			t.Error(err)
		}
	})
	alter(kafka.IncrementalAlterConfigsRequestConfig{ConfigOperation: kafka.ConfigOperationSet, Value: keystore})
	Presents(t, listener, cert)
	return listener
}

// HBase returns the connect string of a real HBase's masters, rpc://host:port.
func HBase(t testing.TB) string {
	t.Helper()
	connect := address(t, "BRINE_REAL_HBASE")
	first, _, _ := strings.Cut(strings.TrimPrefix(connect, "rpc://"), ",")
	listens(t, "HBase's master", first)
	return connect
}

// HBaseSetUp is how the real HBases that run are secured: whether the one with TLS asks for a client's certificate, which is its
// hbase.server.netty.tls.client.auth.mode, and the hbase.rpc.protection of the one with Kerberos. See deploy/devcluster/security.sh.
func HBaseSetUp() (clientAuth, protection string) {
	return cmp.Or(os.Getenv("BRINE_REAL_HBASE_TLS_CLIENT_AUTH"), "need"),
		cmp.Or(os.Getenv("BRINE_REAL_HBASE_KERBEROS_PROTECTION"), "authentication,integrity,privacy")
}

// SecuredHBase is how to reach a real HBase that requires TLS and client certificates.
type SecuredHBase struct {
	Connect   string // rpc://host:port
	CA, CAKey string // files of the authority (PEM) that signed the server's and the client's certificates, and of its key
	Cert, Key string // files of the client's certificate and key (PEM)

	servers  []string // host:port of the master and of the region server
	own      string   // file of the servers' certificate and key
	keystore string   // file that the servers read theirs from, again when it changes
}

// HBaseTLS returns a real HBase that requires TLS and client certificates. It supports only TLS 1.2, which is HBase's default.
func HBaseTLS(t testing.TB) SecuredHBase {
	t.Helper()
	return hbaseTLS(t, syscall.LOCK_SH)
}

// HBaseTLSAlone returns it to one test, which may have it Present other certificates, and to no other until that test ends.
func HBaseTLSAlone(t testing.TB) SecuredHBase {
	t.Helper()
	return hbaseTLS(t, syscall.LOCK_EX)
}

func hbaseTLS(t testing.TB, shared int) SecuredHBase {
	t.Helper()
	h := SecuredHBase{Connect: address(t, "BRINE_REAL_HBASE_TLS"), servers: strings.Split(address(t, "BRINE_REAL_HBASE_TLS_SERVERS"), ",")}
	dir := address(t, "BRINE_REAL_HBASE_TLS_CERTIFICATES")
	lock(t, dir, shared)
	listens(t, "HBase with TLS", strings.TrimPrefix(h.Connect, "rpc://"))
	h.CA, h.CAKey = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key")
	h.Cert, h.Key = filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key")
	h.own, h.keystore = filepath.Join(dir, "server.pem"), filepath.Join(dir, "keystore.pem")
	return h
}

// Present has all servers present another certificate, until the test ends. It is for HBaseTLSAlone.
func (h SecuredHBase) Present(t testing.TB, cert, key string) {
	t.Helper()
	present := func(cert string, pem []byte) {
		t.Helper()
		replace(t, h.keystore, pem)
		for _, addr := range h.servers {
			Presents(t, addr, cert)
		}
	}
	t.Cleanup(func() { present(h.own, content(t, h.own)) })
	present(cert, slices.Concat(content(t, key), content(t, cert)))
}

// Trust has the servers accept certificates of another authority alone, until the test ends. It is for HBaseTLSAlone.
func (h SecuredHBase) Trust(t testing.TB, ca string) {
	t.Helper()
	own := content(t, h.CA)
	t.Cleanup(func() { replace(t, h.CA, own) })
	replace(t, h.CA, content(t, ca))
}

// HBaseZooKeeper returns the connect string of the same HBase with its ZooKeeper, zk://host:port/parent.
func HBaseZooKeeper(t testing.TB) string {
	t.Helper()
	connect := address(t, "BRINE_REAL_HBASE_ZK")
	addr, _, _ := strings.Cut(strings.TrimPrefix(connect, "zk://"), "/")
	listens(t, "ZooKeeper", addr)
	return connect
}

// KerberosKafka is how to reach a real broker that requires Kerberos.
type KerberosKafka struct {
	Broker    string // host:port
	Krb5Conf  string // file of the realm's settings
	Principal string // of a client
	Keytab    string // file of the client's keys
}

// KafkaKerberos returns the real broker that requires Kerberos.
func KafkaKerberos(t testing.TB) KerberosKafka {
	t.Helper()
	broker, kdc := address(t, "BRINE_REAL_KAFKA_KERBEROS"), address(t, "BRINE_REAL_KDC")
	listens(t, "the Kafka with Kerberos", broker)
	return KerberosKafka{broker, filepath.Join(kdc, "krb5.conf"), "brine", filepath.Join(kdc, "data", "brine.keytab")}
}

// KerberosHBase is how to reach a real HBase that requires Kerberos. It offers all qualities of protection.
type KerberosHBase struct {
	Connect   string // rpc://host:port of its master
	Krb5Conf  string // file of the realm's settings
	Principal string // of a client
	Keytab    string // file of the client's keys

	servers string // file of the servers' keys, which they read again when it changes
}

// HBaseKerberos returns the real HBase that requires Kerberos.
func HBaseKerberos(t testing.TB) KerberosHBase {
	t.Helper()
	return hbaseKerberos(t, syscall.LOCK_SH)
}

// HBaseKerberosAlone returns it to one test, which may change the keys of its servers, and to no other until that test ends.
func HBaseKerberosAlone(t testing.TB) KerberosHBase {
	t.Helper()
	return hbaseKerberos(t, syscall.LOCK_EX)
}

func hbaseKerberos(t testing.TB, shared int) KerberosHBase {
	t.Helper()
	connect, kdc := address(t, "BRINE_REAL_HBASE_KERBEROS"), address(t, "BRINE_REAL_KDC")
	servers := address(t, "BRINE_REAL_HBASE_KERBEROS_OWN")
	lock(t, filepath.Dir(servers), shared)
	listens(t, "the master of the HBase with Kerberos", strings.TrimPrefix(connect, "rpc://"))
	return KerberosHBase{connect, filepath.Join(kdc, "krb5.conf"), "brine", filepath.Join(kdc, "data", "brine.keytab"), servers}
}

// Rekey gives the servers another keytab, until the test ends. It is for HBaseKerberosAlone.
func (h KerberosHBase) Rekey(t testing.TB, keytab string) {
	t.Helper()
	own := content(t, h.servers)
	t.Cleanup(func() { replace(t, h.servers, own) })
	replace(t, h.servers, content(t, keytab))
}

// Cache logs in with the client's keytab and returns the ticket cache written by kinit.
func (h KerberosHBase) Cache(t testing.TB) string {
	t.Helper()
	k := KDC{Krb5Conf: h.Krb5Conf, t: t, dir: filepath.Dir(h.Krb5Conf), root: kdcPrograms(t)}
	return k.Cache(h.Principal, h.Keytab)
}

// Elasticsearch returns the URL of a real Elasticsearch whose cluster has a master.
func Elasticsearch(t testing.TB) string {
	t.Helper()
	return searchServer(t, "BRINE_REAL_ELASTICSEARCH")
}

// SecureSearch is how to reach a real Elasticsearch that requires TLS and a password or an API key.
type SecureSearch struct {
	URL            string // https://host:port
	CA, CAKey      string // files of the authority (PEM) that signed the server's certificate, and of its key
	User, Password string // of a user with all permissions

	cert, key string // files of the server, which reads them again when they change
}

// ElasticsearchSecure returns the real Elasticsearch that requires TLS and a password or an API key.
func ElasticsearchSecure(t testing.TB) SecureSearch {
	t.Helper()
	return elasticsearchSecure(t, syscall.LOCK_SH)
}

// ElasticsearchSecureAlone returns it to one test, which may have it Present other certificates, and to no other until that test ends.
func ElasticsearchSecureAlone(t testing.TB) SecureSearch {
	t.Helper()
	return elasticsearchSecure(t, syscall.LOCK_EX)
}

func elasticsearchSecure(t testing.TB, shared int) SecureSearch {
	t.Helper()
	s := SecureSearch{URL: address(t, "BRINE_REAL_ELASTICSEARCH_SECURE"), User: "brine", Password: "brine-devcluster"}
	dir := address(t, "BRINE_REAL_ELASTICSEARCH_SECURE_CERTIFICATES")
	lock(t, dir, shared)
	listens(t, "the Elasticsearch with security", strings.TrimPrefix(s.URL, "https://"))
	s.CA, s.CAKey = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key")
	s.cert, s.key = filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	return s
}

// Present has the server present another certificate, until the test ends. It is for ElasticsearchSecureAlone.
func (s SecureSearch) Present(t testing.TB, cert, key string) {
	t.Helper()
	present := func(cert, key []byte) {
		t.Helper()
		replace(t, s.key, key)
		replace(t, s.cert, cert)
		Presents(t, strings.TrimPrefix(s.URL, "https://"), s.cert)
	}
	ownCert, ownKey := content(t, s.cert), content(t, s.key)
	t.Cleanup(func() { present(ownCert, ownKey) })
	present(content(t, cert), content(t, key))
}

// Elasticsearch9 returns the URL of a real Elasticsearch 9 whose cluster has a master.
func Elasticsearch9(t testing.TB) string {
	t.Helper()
	return searchServer(t, "BRINE_REAL_ELASTICSEARCH9")
}

// OpenSearch returns the URL of a real OpenSearch whose cluster has a master.
func OpenSearch(t testing.TB) string {
	t.Helper()
	return searchServer(t, "BRINE_REAL_OPENSEARCH")
}

func searchServer(t testing.TB, name string) string {
	t.Helper()
	url := address(t, name)
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/_cluster/health", nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		missing(t, "%s: it does not answer: %v", name, err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusOK {
		missing(t, "%s: %s answers %s", name, url, resp.Status)
	}
	return url
}

// address returns the value of a BRINE_REAL_ variable from the environment or from the running devcluster's file.
func address(t testing.TB, name string) string {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	if v := os.Getenv(name); v != "" {
		return v
	}
	file := filepath.Join(devcluster(t), "run", "env")
	v, err := lookup(file, name)
	if err != nil {
		missing(t, "%s is not set and no devcluster runs it (start one with `make real-up`, SERVERS names what it starts): %v", name, err)
	}
	return v
}

// lookup returns the value of name in a file of NAME=value lines.
func lookup(file, name string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), name+"="); ok {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s has no %s", file, name)
}

func listens(t testing.TB, what, addr string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, answerWithin)
	if err != nil {
		missing(t, "%s does not answer: %v", what, err)
	}
	conn.Close()
}

// missing skips the test, or fails it if the real servers are required.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "required" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// devcluster returns the folder deploy/devcluster of the test's module.
func devcluster(t testing.TB) string {
	t.Helper()
	return filepath.Join(root(t), "deploy", "devcluster")
}

// root returns the module's folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the test does not run inside the module")
		}
		dir = up
	}
}
