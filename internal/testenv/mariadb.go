package testenv

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// MariaDB is a MariaDB owned by the test, with an empty database brine. Its root has no password.
type MariaDB struct {
	Addr string // host:port

	t       testing.TB
	root    string // parent of usr
	data    string
	temp    string // its temporary files: at its start a server deletes all that it finds, even another server's
	socket  string
	options []string // additional options of the server
	made    int      // number of databases created by Create
	process *exec.Cmd
	log     bytes.Buffer
	ended   chan error
}

// StartMariaDB starts a MariaDB in a folder of the test. It ends with the test.
func StartMariaDB(t testing.TB) *MariaDB {
	t.Helper()
	return startMariaDB(t, "--skip-log-bin")
}

// StartMariaDBWithLog starts a MariaDB with a binary log of whole rows for replication.
func StartMariaDBWithLog(t testing.TB) *MariaDB {
	t.Helper()
	return startMariaDB(t, "--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL", "--server-id=1")
}

func startMariaDB(t testing.TB, options ...string) *MariaDB {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	m := &MariaDB{t: t, root: "/", data: filepath.Join(t.TempDir(), "data"), temp: t.TempDir(), options: options}
	if _, err := os.Stat("/usr/sbin/mariadbd"); err != nil {
		m.root = filepath.Join(devcluster(t), "lib", "mariadb")
		if _, err := os.Stat(filepath.Join(m.root, "usr/sbin/mariadbd")); err != nil {
			missing(t, "MariaDB is neither installed nor here (fetch it with `deploy/devcluster/devcluster fetch mariadb`)")
		}
	}
	install := m.command("usr/bin/mariadb-install-db", "--no-defaults", "--basedir="+filepath.Join(m.root, "usr"), "--datadir="+m.data,
		"--user=root", "--auth-root-authentication-method=normal", "--skip-test-db")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	m.open()
	return m
}

// Successor stops the server and starts another one on a copy of its data, with a new log.
func (m *MariaDB) Successor() *MariaDB {
	m.t.Helper()
	m.Stop()
	next := &MariaDB{t: m.t, root: m.root, data: filepath.Join(m.t.TempDir(), "data"), temp: m.t.TempDir(), options: m.options}
	if err := os.CopyFS(next.data, os.DirFS(m.data)); err != nil {
		m.t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(next.data, "binlog.*"))
	if err != nil || len(logs) == 0 {
		m.t.Fatalf("it has no log: %v", err)
	}
	for _, log := range logs {
		if err := os.Remove(log); err != nil {
			m.t.Fatal(err)
		}
	}
	next.open()
	return next
}

// Replica starts another server that makes all of this one's changes, and writes them into a log of its own, as long as this one's log is
// complete.
func (m *MariaDB) Replica() *MariaDB {
	m.t.Helper()
	host, port, err := net.SplitHostPort(m.Addr)
	if err != nil {
		m.t.Fatal(err)
	}
	next := startMariaDB(m.t, append(slices.Clone(m.options), "--server-id=2", "--log-slave-updates")...)
	m.SQL("create user replica identified by 'none'; grant replication slave on *.* to replica")
	next.SQL(fmt.Sprintf("change master to master_host = '%s', master_port = %s, master_user = 'replica', master_password = 'none', "+
		"master_log_file = 'binlog.000001', master_log_pos = 4; start slave", host, port))
	return next
}

// Follow waits until the replica has made all changes of the server.
func (m *MariaDB) Follow(server *MariaDB) {
	m.t.Helper()
	at := strings.TrimSpace(server.SQL("select @@gtid_binlog_pos"))
	if done := m.SQL("select master_gtid_wait('" + at + "', 120)"); strings.TrimSpace(done) != "0" {
		m.t.Fatalf("the replica has not come to %s: %s", at, m.SQL("show slave status"))
	}
}

// open starts the server for the first time.
func (m *MariaDB) open() {
	m.t.Helper()
	m.t.Cleanup(m.Stop)
	m.Addr = Port(m.t)
	if err := m.start(); err != nil {
		m.t.Fatalf("MariaDB did not start: %v\n%s", err, &m.log)
	}
}

// command returns a command that runs one of the programs and lets it find the others and their libraries.
func (m *MariaDB) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(m.root, name), args...)
	path := filepath.Join(m.root, "usr/bin") + ":" + filepath.Join(m.root, "usr/sbin") + ":" + os.Getenv("PATH")
	cmd.Env = append(os.Environ(), "PATH="+path, "TMPDIR="+m.temp)
	if libraries, _ := filepath.Glob(filepath.Join(m.root, "usr/lib/*-linux-gnu")); m.root != "/" && len(libraries) > 0 {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+libraries[0])
	}
	return cmd
}

// start starts the server on its port and waits until it answers.
func (m *MariaDB) start() error {
	_, port, err := net.SplitHostPort(m.Addr)
	if err != nil {
		return err
	}
	m.log.Reset()
	m.socket = filepath.Join(os.TempDir(), fmt.Sprintf("brine-mariadb-%d-%s", os.Getpid(), port)) // names of test folders are too long
	m.t.Cleanup(func() { _ = os.Remove(m.socket) })
	m.process = m.command("usr/sbin/mariadbd", append([]string{"--no-defaults", "--basedir=" + filepath.Join(m.root, "usr"),
		"--lc-messages-dir=" + filepath.Join(m.root, "usr/share/mysql"), "--datadir=" + m.data, "--user=root", "--socket=" + m.socket,
		"--port=" + port, "--bind-address=127.0.0.1", "--pid-file=" + filepath.Join(m.data, "pid"), "--innodb-buffer-pool-size=32M",
		"--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=2"}, // the kernel's data survives a kill, and no test cuts the power
		m.options...)...)
	m.process.Stderr = &m.log
	if err := m.process.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	m.ended = ended
	go func() { ended <- m.process.Wait() }()
	for {
		if err = m.run("CREATE DATABASE IF NOT EXISTS brine").Run(); err == nil {
			return nil
		}
		select {
		case err := <-ended:
			m.process = nil
			return fmt.Errorf("it has ended: %w", err)
		case <-time.After(50 * time.Millisecond):
		case <-m.t.Context().Done():
			return m.t.Context().Err()
		}
	}
}

// Create creates another empty database and returns its name.
func (m *MariaDB) Create() string {
	m.t.Helper()
	m.made++
	name := fmt.Sprintf("brine%d", m.made)
	if out, err := m.run("CREATE DATABASE " + name).CombinedOutput(); err != nil {
		m.t.Fatalf("CREATE DATABASE %s: %v\n%s", name, err, out)
	}
	return name
}

// SQL runs statements, each in its own transaction unless they say otherwise, and returns their output with columns separated by tabs.
func (m *MariaDB) SQL(statements string) string {
	m.t.Helper()
	cmd := m.command("usr/bin/mariadb", "--no-defaults", "--socket="+m.socket, "--user=root", "--batch", "--raw", "--skip-column-names")
	cmd.Stdin = strings.NewReader(statements)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		m.t.Errorf("mariadb: %v: %.2000s", err, &errs)
	}
	return out.String()
}

// run returns a command that runs a statement as root.
func (m *MariaDB) run(statement string) *exec.Cmd {
	return m.command("usr/bin/mariadb", "--no-defaults", "--socket="+m.socket, "--user=root", "--execute="+statement)
}

// Kill ends the server as a crash does. Again starts it on the same port with its data.
func (m *MariaDB) Kill() {
	if m.process == nil {
		return
	}
	if err := m.process.Process.Kill(); err == nil {
		<-m.ended //nolint:errcheck // the signal ends it
	}
	m.process = nil
}

// Again starts a killed server.
func (m *MariaDB) Again() {
	m.t.Helper()
	if err := m.start(); err != nil {
		m.t.Fatalf("MariaDB did not start again: %v\n%s", err, &m.log)
	}
}

// Stop ends the server.
func (m *MariaDB) Stop() {
	if m.process == nil {
		return
	}
	if err := m.process.Process.Signal(syscall.SIGTERM); err == nil {
		<-m.ended //nolint:errcheck // the signal ends it
	}
	m.process = nil
}
