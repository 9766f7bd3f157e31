package testenv

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Postgres is a PostgreSQL owned by the test, with logical replication. It loses everything if the machine crashes.
type Postgres struct {
	Host, Port string

	t       testing.TB
	bin     string // folder of its programs
	process daemon
}

// nobody is the user that runs the server, which refuses to run as root.
const nobody = 65534

// StartPostgres starts a PostgreSQL in a folder of the test. It ends with the test.
func StartPostgres(t testing.TB) *Postgres {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	p := &Postgres{Host: "127.0.0.1", t: t, bin: postgresPrograms(t)}
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chown(dir, nobody, nobody), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	initialize := p.command("initdb", "-D", data, "-U", "brine", "--auth=trust", "--no-sync", "--locale=C", "-E", "UTF8")
	if out, err := initialize.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	t.Cleanup(p.Stop)
	for tries := 0; ; tries++ { // another process may take a free port
		err := p.start(data)
		if err == nil {
			return p
		}
		if tries == 3 {
			t.Fatalf("PostgreSQL did not start: %v\n%s", err, &p.process.log)
		}
	}
}

// postgresPrograms returns the program folder of the newest release.
func postgresPrograms(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's path
	slices.SortFunc(found, func(a, b string) int { return postgresRelease(a) - postgresRelease(b) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		missing(t, "PostgreSQL's server is not installed: no initdb in /usr/lib/postgresql, and %v", err)
	}
	return filepath.Dir(initdb)
}

func postgresRelease(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

// command returns a command that runs one of the programs, as a user other than root.
func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// start starts the server on a free port and waits until it answers.
func (p *Postgres) start(data string) error {
	l, err := net.Listen("tcp", p.Host+":0")
	if err != nil {
		return err
	}
	_, p.Port, _ = net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		return err
	}
	cmd := p.command("postgres", "-D", data, "-p", p.Port, "-c", "listen_addresses="+p.Host, "-c", "unix_socket_directories=",
		"-c", "wal_level=logical", "-c", "fsync=off", "-c", "shared_buffers=16MB")
	return p.process.run(p.t, cmd, func() error {
		_, err := p.run("psql", "select 1", "postgres")
		return err
	})
}

// SQL runs statements, each in its own transaction unless they say otherwise, and returns their output with columns separated by "|".
func (p *Postgres) SQL(statements string) string {
	p.t.Helper()
	out, err := p.run("psql", statements, "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1")
	if err != nil {
		p.t.Error(err)
	}
	return out
}

// Copy copies everything in the other database: rows, and how tables log. It does not copy positions in the log.
func (p *Postgres) Copy(from *Postgres) {
	p.t.Helper()
	dump, err := from.run("pg_dump", "", "postgres", "--no-publications")
	if err != nil {
		p.t.Fatal(err)
	}
	p.SQL(dump)
}

// run runs a client program.
func (p *Postgres) run(name, stdin, database string, args ...string) (string, error) {
	cmd := p.command(name, append([]string{"-h", p.Host, "-p", p.Port, "-U", "brine"}, append(args, database)...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %.2000s", name, err, log.String())
	}
	return out.String(), nil
}

// Stop ends the server at once.
func (p *Postgres) Stop() { p.process.end(syscall.SIGQUIT) }
