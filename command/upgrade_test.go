package command_test

import (
	"path/filepath"
	"testing"

	"brine/account"
	"brine/command"
	"brine/internal/testenv"
)

// TestUpgrades: the outbox of an older version becomes one of this version, with what is in it, on both databases.
func TestUpgrades(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		upgrades(t, "sqlite", func(t *testing.T) string { return "embedded:" + filepath.Join(t.TempDir(), "accounts") })
	})
	t.Run("MariaDB", func(t *testing.T) {
		server := testenv.StartMariaDB(t)
		upgrades(t, "mysql", func(t *testing.T) string { return "mysql://" + server.Addr + "/" + server.Create() })
	})
}

func upgrades(t *testing.T, dialect string, connect func(*testing.T) string) {
	testenv.Upgrades(t, command.Migrations, dialect, command.Versions, func(t *testing.T) testenv.Database {
		s, err := account.Open(t.Context(), account.Options{Connect: connect(t), User: "root"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
