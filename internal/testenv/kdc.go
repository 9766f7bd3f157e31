package testenv

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// KDC is an MIT Kerberos KDC owned by the test. Its realm is TEST.BRINE.
type KDC struct {
	Realm    string
	Krb5Conf string // file of the realm's settings

	t       testing.TB
	dir     string
	addr    string   // host:port
	root    string   // of the unpacked packages; empty: the machine's own programs
	clock   []string // environment that shifts the server's clock
	process daemon
}

// StartKDC starts a KDC in a folder of the test. It ends with the test.
func StartKDC(t testing.TB) *KDC {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	k := &KDC{Realm: "TEST.BRINE", t: t, dir: t.TempDir(), root: kdcPrograms(t)}
	k.Krb5Conf = filepath.Join(k.dir, "krb5.conf")
	t.Cleanup(k.Stop)
	k.configure()
	k.run("kdb5_util", "create", "-s", "-r", k.Realm, "-P", "brine")
	if err := k.start(); err != nil {
		t.Fatalf("the KDC did not start: %v\n%s", err, &k.process.log)
	}
	return k
}

// kdcPrograms returns the root of MIT's programs: the machine's, or that of deploy/devcluster.
func kdcPrograms(t testing.TB) (root string) {
	if _, err := os.Stat("/usr/sbin/krb5kdc"); err == nil {
		return ""
	}
	root = filepath.Join(devcluster(t), "lib", "kdc")
	if _, err := os.Stat(filepath.Join(root, "usr/sbin/krb5kdc")); err != nil {
		missing(t, "no KDC is installed, and none is here (fetch it with `deploy/devcluster/devcluster fetch kdc`)")
	}
	return root
}

// configure writes the settings of clients and of the KDC, with a port of its own.
func (k *KDC) configure() {
	k.t.Helper()
	k.addr = Port(k.t)
	modules := ""
	if found, _ := filepath.Glob(filepath.Join(k.root, "usr/lib/*/krb5/plugins/kdb")); k.root != "" && len(found) > 0 {
		modules = "[dbmodules]\n  db_module_dir = " + found[0] + "\n"
	}
	for name, text := range map[string]string{
		"krb5.conf": fmt.Sprintf("[libdefaults]\n  default_realm = %[1]s\n  udp_preference_limit = 1\n  rdns = false\n  dns_lookup_kdc = false\n"+
			"[realms]\n  %[1]s = {\n    kdc = %[2]s\n  }\n", k.Realm, k.addr),
		"kdc.conf": fmt.Sprintf("[kdcdefaults]\n  kdc_listen = \"\"\n  kdc_tcp_listen = %[2]s\n[realms]\n  %[1]s = {\n"+
			"    database_name = %[3]s/principal\n    key_stash_file = %[3]s/stash\n    acl_file = %[3]s/acl\n"+
			"    max_life = 1d\n    max_renewable_life = 7d\n    default_principal_flags = +preauth\n  }\n"+
			"[logging]\n  kdc = STDERR\n%[4]s", k.Realm, k.addr, k.dir, modules),
	} {
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
}

// command returns a command that runs one of the programs.
func (k *KDC) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(k.root, "/usr/sbin", name)
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join(k.root, "/usr/bin", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "KRB5_CONFIG="+k.Krb5Conf, "KRB5_KDC_PROFILE="+filepath.Join(k.dir, "kdc.conf"))
	if found, _ := filepath.Glob(filepath.Join(k.root, "usr/lib/*/libkdb5.so.10")); k.root != "" && len(found) > 0 {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+filepath.Dir(found[0]))
	}
	return cmd
}

func (k *KDC) run(name string, args ...string) string {
	k.t.Helper()
	out, err := k.command(name, args...).CombinedOutput()
	if err != nil {
		k.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts the KDC and waits until it accepts connections.
func (k *KDC) start() error {
	cmd := k.command("krb5kdc", "-n", "-r", k.Realm, "-P", filepath.Join(k.dir, "pid"))
	cmd.Env = append(cmd.Env, k.clock...)
	return k.process.run(k.t, cmd, func() error {
		c, err := net.Dial("tcp", k.addr)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// Admin runs a kadmin query, such as: addprinc -randkey brine.
func (k *KDC) Admin(query string) {
	k.t.Helper()
	if out := k.run("kadmin.local", "-r", k.Realm, "-q", query); strings.Contains(out, "kadmin.local: ") {
		k.t.Fatalf("kadmin %s: %s", query, out)
	}
}

// Keytab exports the current keys of principals to a file of the test.
func (k *KDC) Keytab(principals ...string) string {
	k.t.Helper()
	file := filepath.Join(k.t.TempDir(), "keytab")
	for _, p := range principals {
		k.Admin("ktadd -norandkey -k " + file + " " + p)
	}
	return file
}

// Cache logs in with a keytab and returns the ticket cache written by kinit.
func (k *KDC) Cache(principal, keytab string, options ...string) string {
	k.t.Helper()
	file := filepath.Join(k.t.TempDir(), "cache")
	k.run("kinit", append(options, "-k", "-t", keytab, "-c", file, principal)...)
	return file
}

// Start starts the KDC again at the same address.
func (k *KDC) Start() {
	k.t.Helper()
	if err := k.start(); err != nil {
		k.t.Fatalf("the KDC did not start again: %v\n%s", err, &k.process.log)
	}
}

// Ahead starts the KDC again with a clock that is ahead of this machine's. It needs libfaketime, of the packages of deploy/devcluster.
func (k *KDC) Ahead(by time.Duration) {
	k.t.Helper()
	found, _ := filepath.Glob(filepath.Join(k.root, "/usr/lib/*/faketime/libfaketime.so.1"))
	if len(found) == 0 {
		if k.root == "" {
			k.t.Skip("the machine has a KDC of its own, but no libfaketime")
		}
		k.t.Fatalf("no libfaketime in %s: fetch it with `deploy/devcluster/devcluster fetch kdc`", k.root)
	}
	k.clock = []string{"LD_PRELOAD=" + found[0], fmt.Sprintf("FAKETIME=+%ds", int(by.Seconds())), "FAKETIME_DONT_FAKE_MONOTONIC=1"}
	k.Stop()
	k.Start()
}

// Stop ends the KDC.
func (k *KDC) Stop() { k.process.end(syscall.SIGKILL) }
