package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// StartMariaDB starts a MariaDB with options of its command line in a folder of the test. It ends with the test.
func StartMariaDB(t testing.TB, options ...string) *MySQL {
	t.Helper()
	return startMariaDB(t, append(options, "--skip-log-bin")...)
}

// StartMariaDBWithLog starts a MariaDB with a binary log of whole rows for replication.
func StartMariaDBWithLog(t testing.TB) *MySQL {
	t.Helper()
	return startMariaDB(t, wholeRows...)
}

func startMariaDB(t testing.TB, options ...string) *MySQL {
	t.Helper()
	if os.Getenv("BRINE_REAL") == "off" {
		t.Skip("BRINE_REAL=off")
	}
	root := "/"
	if _, err := os.Stat("/usr/sbin/mariadbd"); err != nil {
		root = filepath.Join(devcluster(t), "lib", "mariadb")
		if _, err := os.Stat(filepath.Join(root, "usr/sbin/mariadbd")); err != nil {
			missing(t, "MariaDB is neither installed nor here (fetch it with `deploy/devcluster/devcluster fetch mariadb`)")
		}
	}
	m := &MySQL{t: t, name: "MariaDB", options: options}
	m.install = func(m *MySQL) {
		install := m.mariadb(root, "usr/bin/mariadb-install-db", "--no-defaults", "--datadir="+m.data, "--user=root",
			"--auth-root-authentication-method=normal", "--skip-test-db")
		if out, err := install.CombinedOutput(); err != nil {
			m.t.Fatalf("mariadb-install-db: %v\n%s", err, out)
		}
	}
	m.server = func(m *MySQL, args ...string) *exec.Cmd {
		return m.mariadb(root, "usr/sbin/mariadbd", append(args, "--lc-messages-dir="+filepath.Join(root, "usr/share/mysql"))...)
	}
	return m.begin()
}

// mariadb returns a command that runs one of MariaDB's programs and lets it find the others and their libraries.
func (m *MySQL) mariadb(root, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(root, name), append(args, "--basedir="+filepath.Join(root, "usr"))...)
	path := filepath.Join(root, "usr/bin") + ":" + filepath.Join(root, "usr/sbin") + ":" + os.Getenv("PATH")
	cmd.Env = append(os.Environ(), "PATH="+path, "TMPDIR="+m.temp)
	if libraries, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu")); root != "/" && len(libraries) > 0 {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+libraries[0])
	}
	return cmd
}
