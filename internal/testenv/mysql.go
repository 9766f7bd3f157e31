package testenv

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// MySQL is a MySQL or a MariaDB owned by the test, with an empty database brine. Its root has no password.
type MySQL struct {
	Addr string // host:port

	t       testing.TB
	name    string
	install func(m *MySQL)                           // makes its data
	server  func(m *MySQL, args ...string) *exec.Cmd // the server's command
	data    string
	temp    string // its temporary files: at its start a server deletes all that it finds, even another server's
	socket  string
	options []string // additional options of the server
	made    int      // number of databases created by Create
	process daemon
}

// wholeRows makes a server log changes of whole rows for replication.
var wholeRows = []string{"--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL", "--server-id=1"}

// StartMySQLWithLog starts a MySQL in a folder of the test, with a binary log of whole rows for replication. It ends with the test.
func StartMySQLWithLog(t testing.TB) *MySQL {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	root := filepath.Join(devcluster(t), "lib", "mysql")
	if _, err := os.Stat(filepath.Join(root, "mysqld")); err != nil {
		missing(t, "MySQL is not here (fetch it with `deploy/devcluster/devcluster fetch mysql`)")
	}
	m := &MySQL{t: t, name: "MySQL", options: wholeRows}
	m.install = func(m *MySQL) {
		if err := os.CopyFS(m.data, os.DirFS(filepath.Join(root, "data", "mysql"))); err != nil {
			m.t.Fatal(err)
		}
	}
	m.server = func(m *MySQL, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(root, "mysqld"), append(args, "--basedir="+root, "--lc-messages-dir="+filepath.Join(root, "share"),
			"--explicit-defaults-for-timestamp", "--skip-name-resolve", "--innodb-use-native-aio=0", "--performance-schema=off")...)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+root)
		return cmd
	}
	return m.begin()
}

// begin starts a server for the first time.
func (m *MySQL) begin() *MySQL {
	m.t.Helper()
	m.data, m.temp = filepath.Join(m.t.TempDir(), "data"), m.t.TempDir()
	m.install(m)
	m.t.Cleanup(m.Stop)
	m.Addr = Port(m.t)
	if err := m.start(); err != nil {
		m.t.Fatalf("%s did not start: %v\n%s", m.name, err, &m.process.log)
	}
	return m
}

// another returns a server of the same kind that has not begun.
func (m *MySQL) another(options ...string) *MySQL {
	return &MySQL{t: m.t, name: m.name, install: m.install, server: m.server, options: append(slices.Clone(m.options), options...)}
}

// Successor stops the server and starts another one on a copy of its data, with a new log.
func (m *MySQL) Successor() *MySQL {
	m.t.Helper()
	m.Stop()
	next := m.another()
	next.install = func(next *MySQL) {
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
	}
	return next.begin()
}

// Replica starts another server that makes all of this one's changes, and writes them into a log of its own, as long as this one's log is
// complete.
func (m *MySQL) Replica() *MySQL {
	m.t.Helper()
	host, port, err := net.SplitHostPort(m.Addr)
	if err != nil {
		m.t.Fatal(err)
	}
	next := m.another("--server-id=2", "--log-slave-updates", "--relay-log=relay").begin()
	m.SQL("create user replica identified by 'none'; grant replication slave on *.* to replica")
	next.SQL(fmt.Sprintf("change master to master_host = '%s', master_port = %s, master_user = 'replica', master_password = 'none', "+
		"master_log_file = 'binlog.000001', master_log_pos = 4; start slave", host, port))
	return next
}

// Follow waits until the replica has made all changes of the server.
func (m *MySQL) Follow(server *MySQL) {
	m.t.Helper()
	at := strings.Fields(server.SQL("show master status"))
	if done := m.SQL(fmt.Sprintf("select master_pos_wait('%s', %s, 120) >= 0", at[0], at[1])); done != "1\n" {
		m.t.Fatalf("the replica has not come to %s: %s", at[:2], m.SQL("show slave status"))
	}
}

// start starts the server on its port and waits until it answers.
func (m *MySQL) start() error {
	_, port, err := net.SplitHostPort(m.Addr)
	if err != nil {
		return err
	}
	m.socket = filepath.Join(os.TempDir(), fmt.Sprintf("brine-mysql-%d-%s", os.Getpid(), port)) // names of test folders are too long
	m.t.Cleanup(func() { _ = os.Remove(m.socket) })
	cmd := m.server(m, append([]string{"--no-defaults", "--datadir=" + m.data, "--tmpdir=" + m.temp, "--user=root",
		"--socket=" + m.socket, "--port=" + port, "--bind-address=127.0.0.1", "--pid-file=" + filepath.Join(m.data, "pid"),
		"--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M",
		"--innodb-flush-log-at-trx-commit=2"}, // the kernel's data survives a kill, and no test cuts the power
		m.options...)...)
	return m.process.run(m.t, cmd, func() error {
		_, err := m.query("CREATE DATABASE IF NOT EXISTS brine")
		return err
	})
}

// Create creates another empty database and returns its name.
func (m *MySQL) Create() string {
	m.t.Helper()
	m.made++
	name := fmt.Sprintf("brine%d", m.made)
	if _, err := m.query("CREATE DATABASE " + name); err != nil {
		m.t.Fatalf("CREATE DATABASE %s: %v", name, err)
	}
	return name
}

// SQL runs statements in one session, each in its own transaction unless they say otherwise, and returns their output: a line for each row,
// with columns separated by tabs.
func (m *MySQL) SQL(statements string) string {
	m.t.Helper()
	out, err := m.query(statements)
	if err != nil {
		m.t.Errorf("%s: %.2000v", m.name, err)
	}
	return out
}

// query runs statements as root.
func (m *MySQL) query(statements string) (out string, err error) {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.MultiStatements, c.Logger = "unix", m.socket, "root", true, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(m.t.Context(), statements)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var b strings.Builder
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return "", err
			}
			texts := make([]string, len(values))
			for i, v := range values {
				texts[i] = v.String
				if !v.Valid {
					texts[i] = "NULL"
				}
			}
			b.WriteString(strings.Join(texts, "\t") + "\n")
		}
	}
	return b.String(), rows.Err()
}

// Kill ends the server as a crash does. Again starts it on the same port with its data.
func (m *MySQL) Kill() { m.process.end(syscall.SIGKILL) }

// Again starts a killed server.
func (m *MySQL) Again() {
	m.t.Helper()
	if err := m.start(); err != nil {
		m.t.Fatalf("%s did not start again: %v\n%s", m.name, err, &m.process.log)
	}
}

// Stop ends the server.
func (m *MySQL) Stop() { m.process.end(syscall.SIGTERM) }
