package jobs

import (
	"testing"

	"brine/account"
	"brine/internal/testenv"
)

// TestUpgrades checks that this version reads the jobs of an older one, on both databases.
func TestUpgrades(t *testing.T) {
	testenv.UpgradesOnBoth(t, migrations, versions, func(t *testing.T, connect string) testenv.Database {
		s, err := account.Open(t.Context(), account.Options{Connect: connect, User: "root"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
