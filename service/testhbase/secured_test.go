package testhbase

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"brine/hbase"
	"brine/hbase/hbasetest"
	"brine/internal/certs/certstest"
	"brine/internal/gssapi/gssapitest"
	"brine/internal/testenv"
)

// parse returns the options of a brine hbase command line.
func parse(args ...string) (o Options, err error) {
	parser, err := kong.New(&o)
	if err != nil {
		return o, err
	}
	_, err = parser.Parse(args)
	return o, err
}

// flags is parse with a free port.
func flags(t *testing.T, args ...string) Options {
	t.Helper()
	o, err := parse(append(args, "--port", "0")...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// javaWith runs HBase's own client with the given settings.
func javaWith(t *testing.T, connect, prefix string, settings ...string) {
	classpath := testenv.Java(t).Conform(t).With(t, settings...)
	client := hbasetest.Program(func(t *testing.T, args ...string) *exec.Cmd { return classpath.Command(t, "Conform", args...) })
	hbasetest.Conform(t, client, connect, prefix, scripts(t), false)
}

// refuses opens a client, and expects it to be refused with the given text.
func refuses(t *testing.T, connect, says string, o hbase.Options) {
	t.Helper()
	o.Connect = connect
	c, err := hbase.Open(t.Context(), o)
	if err == nil {
		err = errors.Join(errors.New("it is let in"), c.Close())
	}
	if !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
}

// joined returns one PEM file with a key and its certificate, as Java needs them.
func joined(t *testing.T, files ...string) string {
	t.Helper()
	var all []byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	file := filepath.Join(t.TempDir(), "store.pem")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWithACertificate checks that with --tls-cert and --tls-ca clients need TLS and a certificate.
func TestWithACertificate(t *testing.T) {
	t.Parallel()
	servers, clients, unknown := certstest.New(t, "servers"), certstest.New(t, "clients"), certstest.New(t, "unknown")
	cert, key := servers.Issue(t, certstest.Leaf{})
	ours := hbase.TLS{CA: servers.CA}
	ours.Cert, ours.Key = clients.Issue(t, certstest.Leaf{})
	connect := start(t, flags(t, "--tls-cert", cert, "--tls-key", key, "--tls-ca", clients.CA)).Addresses().Connect
	t.Run("our client", func(t *testing.T) {
		hbasetest.Conform(t, hbasetest.GoWith(hbase.Options{TLS: &ours}), connect, "go_", scripts(t), false)
	})
	t.Run("Java client", func(t *testing.T) {
		javaWith(t, connect, "java_", "hbase.client.netty.tls.enabled true", "hbase.rpc.tls.truststore.location "+servers.CA,
			"hbase.rpc.tls.keystore.location "+joined(t, ours.Key, ours.Cert))
	})
	strange := ours
	strange.Cert, strange.Key = unknown.Issue(t, certstest.Leaf{})
	for name, c := range map[string]struct {
		tls  *hbase.TLS
		says string
	}{
		"plain text":     {nil, "requires TLS"},
		"no certificate": {&hbase.TLS{CA: servers.CA}, "requires a client certificate"},
		"a stranger's":   {&strange, "refuses the client's certificate"},
		"another server": {&hbase.TLS{CA: unknown.CA, Cert: ours.Cert, Key: ours.Key}, "signed by an unknown authority"},
	} {
		t.Run(name, func(t *testing.T) { refuses(t, connect, c.says, hbase.Options{TLS: c.tls}) })
	}

	both := start(t, flags(t, "--tls-cert", cert, "--tls-key", key, "--tls-plain-text", "--tls-min-version", "1.3")).Addresses().Connect
	for name, tls := range map[string]*hbase.TLS{"plain text where it may be": nil, "TLS there": {CA: servers.CA}} {
		t.Run(name, func(t *testing.T) {
			hbasetest.Conform(t, hbasetest.GoWith(hbase.Options{TLS: tls}), both, strings.ReplaceAll(name, " ", "_")+"_", scripts(t)[:1], false)
		})
	}
}

// TestWithAKeytab checks that with --kerberos-keytab clients need a ticket and one of the qualities of --kerberos-qop, and certificates in
// addition if configured.
func TestWithAKeytab(t *testing.T) {
	t.Parallel()
	kdc := gssapitest.NewKDC("TEST.EXAMPLE")
	client := hbase.Kerberos{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, kdc.Listen(t)), QOP: "auth-int"}
	keytab := kdc.Keytab(t, "hbase/localhost")
	authority := certstest.New(t, "servers")
	cert, key := authority.Issue(t, certstest.Leaf{})
	connect := start(t, flags(t, "--kerberos-keytab", keytab, "--kerberos-qop", "auth-int,auth-conf")).Addresses().Connect
	encrypted := start(t, flags(t, "--kerberos-keytab", keytab, "--tls-cert", cert, "--tls-key", key)).Addresses().Connect
	t.Run("our client", func(t *testing.T) {
		hbasetest.Conform(t, hbasetest.GoWith(hbase.Options{Kerberos: &client}), connect, "go_", scripts(t), false)
	})
	t.Run("our client by TLS", func(t *testing.T) {
		o := hbase.Options{Kerberos: &client, TLS: &hbase.TLS{CA: authority.CA}}
		hbasetest.Conform(t, hbasetest.GoWith(o), encrypted, "tls_", scripts(t)[:1], false)
	})
	less := client
	less.QOP = "auth"
	t.Run("no ticket", func(t *testing.T) { refuses(t, connect, "set hbase.kerberos", hbase.Options{}) })
	t.Run("less protection", func(t *testing.T) {
		refuses(t, connect, "the server offers auth-int, auth-conf, but qop is auth", hbase.Options{Kerberos: &less})
	})
	t.Run("a ticket without TLS", func(t *testing.T) { refuses(t, encrypted, "requires TLS", hbase.Options{Kerberos: &client}) })
}

// TestJavaWithAKeytab checks that HBase's own client, unmodified, logs in at a real KDC and is accepted with each quality of protection,
// whether it asks the server or ZooKeeper.
func TestJavaWithAKeytab(t *testing.T) {
	t.Parallel()
	kdc := testenv.StartKDC(t)
	for _, p := range []string{"hbase/localhost", "brine"} {
		kdc.Admin("addprinc -randkey " + p)
	}
	keytab, server := kdc.Keytab("brine"), "hbase/localhost@"+kdc.Realm
	classpath := testenv.Java(t).Conform(t)
	for _, protection := range []string{"authentication", "integrity", "privacy"} {
		a := start(t, flags(t, "--kerberos-keytab", kdc.Keytab("hbase/localhost"), "--kerberos-qop", qops[protection],
			"--zookeeper-port", "0")).Addresses()
		set := classpath.With(t, "hadoop.security.authentication kerberos", "hbase.security.authentication kerberos",
			"hbase.rpc.protection "+protection, "hbase.client.keytab.file "+keytab, "hbase.client.keytab.principal brine@"+kdc.Realm,
			"hbase.master.kerberos.principal "+server, "hbase.regionserver.kerberos.principal "+server)
		client := hbasetest.Program(func(t *testing.T, args ...string) *exec.Cmd {
			cmd := set.Command(t, "Conform", args...)
			cmd.Env = append(os.Environ(), "JDK_JAVA_OPTIONS=-Djava.security.krb5.conf="+kdc.Krb5Conf)
			return cmd
		})
		t.Run(protection, func(t *testing.T) { hbasetest.Conform(t, client, a.Connect, protection+"_", scripts(t), false) })
		if protection == "privacy" {
			t.Run("by ZooKeeper", func(t *testing.T) {
				hbasetest.Conform(t, client, "zk://"+a.ZooKeeper, "zookeeper_", scripts(t)[:1], false)
			})
		}
	}
}

// qops maps HBase's names of the qualities of protection to those of brine hbase and RFC 4752.
var qops = map[string]string{"authentication": "auth", "integrity": "auth-int", "privacy": "auth-conf"}
