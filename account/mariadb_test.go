package account

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"brine/internal/certs"
	"brine/internal/certs/certstest"
	"brine/internal/testenv"
)

// TestMariaDB runs the tests of TestStore on a real MariaDB, each in an empty database, and then kills the server.
func TestMariaDB(t *testing.T) {
	server := testenv.StartMariaDB(t)
	for name, do := range onBoth {
		t.Run(name, func(t *testing.T) {
			root(t, server, "DROP DATABASE brine", "CREATE DATABASE brine")
			s, c := testedAt(t, Options{Connect: "mysql://" + server.Addr + "/brine", User: "root"})
			do(t, s, c)
		})
	}
	t.Run("opened at once", func(t *testing.T) {
		root(t, server, "DROP DATABASE brine", "CREATE DATABASE brine")
		testMigrators(t, server)
	})
	t.Run("locked for long", func(t *testing.T) {
		root(t, server, "DROP DATABASE brine", "CREATE DATABASE brine")
		testLockedForLong(t, server)
	})
	t.Run("upgrades", func(t *testing.T) {
		testenv.Upgrades(t, migrations, "mysql", "accounts_versions", func(t *testing.T) testenv.Database {
			root(t, server, "DROP DATABASE brine", "CREATE DATABASE brine")
			return bare(t, Options{Connect: "mysql://" + server.Addr + "/brine", User: "root"})
		})
	})
	t.Run("an upgraded store works", func(t *testing.T) {
		root(t, server, "DROP DATABASE brine", "CREATE DATABASE brine")
		testUpgraded(t, Options{Connect: "mysql://" + server.Addr + "/brine", User: "root"})
	})
	t.Run("killed", func(t *testing.T) {
		root(t, server, "DROP DATABASE brine", "CREATE DATABASE brine")
		testKilled(t, server)
	})
}

// TestMariaDBRenews replaces the certificates of a MariaDB and the password of brine's user, and then the files that brine has them from: its
// new connections use them.
func TestMariaDBRenews(t *testing.T) {
	before, after := certstest.New(t, "before"), certstest.New(t, "after")
	cert, key := before.Issue(t, certstest.Leaf{})
	server := testenv.StartMariaDB(t, "--ssl-cert="+cert, "--ssl-key="+key)
	root(t, server, "CREATE USER brine@'%' IDENTIFIED BY 'first' REQUIRE SSL", "GRANT ALL ON brine.* TO brine@'%'")
	store, err := certs.Open(certs.Files{CA: before.CA}, nil)
	if err != nil {
		t.Fatal(err)
	}
	password := "first"
	s, _ := testedAt(t, Options{Connect: "mysql://" + server.Addr + "/brine", User: "brine", Password: func() string { return password },
		TLS: func() *tls.Config { return store.Dialling("") }})
	s.mustAdd(t, "zoë", "u1", Customer)

	newCert, newKey := after.Issue(t, certstest.Leaf{})
	certstest.Copy(t, newCert, cert)
	certstest.Copy(t, newKey, key)
	root(t, server, "ALTER USER brine@'%' IDENTIFIED BY 'second'", "FLUSH SSL", "KILL USER brine")
	var unknown x509.UnknownAuthorityError
	if _, err := s.Get(t.Context(), "zoë"); !errors.As(err, &unknown) {
		t.Errorf("with the earlier authority: %v", err)
	}
	certstest.Copy(t, after.CA, before.CA)
	var denied *mysql.MySQLError
	if _, err := s.Get(t.Context(), "zoë"); !errors.As(err, &denied) || denied.Number != 1045 {
		t.Errorf("with the earlier password: %v", err)
	}
	password = "second"
	if a, err := s.Get(t.Context(), "zoë"); err != nil || a.Owner != "u1" {
		t.Errorf("%+v, %v", a, err)
	}
}

// testKilled checks that sessions last 30 s while the server is away, and that what was committed is there when it is back.
func testKilled(t *testing.T, server *testenv.MySQL) {
	s, c := testedAt(t, Options{Connect: "mysql://" + server.Addr + "/brine", User: "root"})
	a := s.mustAdd(t, "zoë", "u1", Customer)
	token, err := s.Begin(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if err := s.Audit(t.Context(), Entry{Account: "zoë", Action: "read"}); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if id, err := s.Session(t.Context(), token); err != nil || !id.Stale {
		t.Errorf("%+v, %v", id, err)
	}
	if err := s.Audit(t.Context(), Entry{Account: "zoë", Action: "lost"}); err == nil {
		t.Error("committed by nobody")
	}
	c.Pass(staleFor + time.Second)
	if _, err := s.Session(t.Context(), token); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("after 30 s: %v", err)
	}
	server.Again()
	if id, err := s.Session(t.Context(), token); err != nil || id.Stale {
		t.Errorf("%+v, %v", id, err)
	}
	list, err := s.Entries(t.Context(), 0, "zoë", 10)
	if err != nil || len(list) != 1 || list[0].Action != "read" {
		t.Errorf("%+v, %v", list, err)
	}
}

func root(t *testing.T, server *testenv.MySQL, statements ...string) {
	t.Helper()
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User = "tcp", server.Addr, "root"
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, q := range statements {
		if _, err := db.ExecContext(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
}
