package command_test

import (
	"testing"

	"brine/account"
	"brine/command"
	"brine/internal/testenv"
)

// TestUpgrades checks that the outbox of an older version is migrated with its contents, on both databases.
func TestUpgrades(t *testing.T) {
	testenv.UpgradesOnBoth(t, command.Migrations, command.Versions, func(t *testing.T, connect string) testenv.Database {
		s, err := account.Open(t.Context(), account.Options{Connect: connect, User: "root"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
