package account

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/testenv"
)

// TestUpgrades checks that tables of an older version are migrated to this one with their contents. TestMariaDB does the same there.
func TestUpgrades(t *testing.T) {
	testenv.Upgrades(t, migrations, "sqlite", "accounts_versions", func(t *testing.T) testenv.Database {
		return bare(t, Options{Connect: "embedded:" + filepath.Join(t.TempDir(), "accounts")})
	})
}

// bare returns a store without tables.
func bare(t *testing.T, o Options) *Store {
	t.Helper()
	o.EnsureDefaults()
	s, err := &Store{opts: o, dialect: MySQL}, error(nil)
	if dir, embedded := strings.CutPrefix(o.Connect, "embedded:"); embedded {
		s.dialect = SQLite
		s.folder, s.db, err = openFolder(t.Context(), dir, nil)
	} else {
		s.db, err = openMySQL(&o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.closeDB(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestAnUpgradedStoreWorks checks that accounts, sessions, tokens, people of a company and the audit of the first version work in this one.
func TestAnUpgradedStoreWorks(t *testing.T) {
	testUpgraded(t, Options{Connect: "embedded:" + filepath.Join(t.TempDir(), "accounts")})
}

func testUpgraded(t *testing.T, o Options) {
	ctx := t.Context()
	old, c := testedAt(t, o)
	a := old.mustAdd(t, "zoë", "u1", Customer)
	session, err := old.Begin(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := old.NewToken(ctx, a, "ci", Customer, c.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Audit(ctx, Entry{Account: "zoë", Action: "read"}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"DROP TABLE identities", "DROP TABLE sealing", "DELETE FROM accounts_versions WHERE version_id > 1"} { // as it was
		if _, err := old.db.ExecContext(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := testedAt(t, o)
	if a, err := s.Check(ctx, "zoë", goodPassword, "a"); err != nil || a.Owner != "u1" {
		t.Errorf("%+v, %v", a, err)
	}
	if id, err := s.Session(ctx, session); err != nil || id.Account.Name != "zoë" {
		t.Errorf("%+v, %v", id, err)
	}
	if id, err := s.Bearer(ctx, token); err != nil || id.Account.Name != "zoë" {
		t.Errorf("%+v, %v", id, err)
	}
	if list, err := s.Entries(ctx, 0, "zoë", 10); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	for range 2 {
		if a, err := s.Company(ctx, "https://id.example", "7", "ann", "", Support); err != nil || a.Name != "ann" {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if text, ok := s.Unseal("b", s.Seal("b", "place")); !ok || text != "place" {
		t.Errorf("%q, %v", text, ok)
	}
}
