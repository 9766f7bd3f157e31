package account

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/testenv"
)

// heard is a log that passes on what is logged.
type heard struct {
	slog.Handler
	says chan string
}

func newHeard() heard { return heard{slog.DiscardHandler, make(chan string, 100)} }

func (h heard) Enabled(context.Context, slog.Level) bool { return true }

func (h heard) Handle(_ context.Context, r slog.Record) error {
	h.says <- r.Message
	return nil
}

// TestMigratorsWait checks that a process that opens the database waits while another one migrates it, says so, and goes on afterwards.
func TestMigratorsWait(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	connect := "embedded:" + dir
	first := bare(t, Options{Connect: connect})
	unlock, err := first.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	testWaits(t, connect, 1, unlock)
	testAtOnce(t, connect)
}

// testWaits opens a database that is locked, and unlocks it after some messages.
func testWaits(t *testing.T, connect string, messages int, unlock func()) {
	t.Helper()
	log := newHeard()
	opened := make(chan error, 1)
	go func() {
		s, err := Open(t.Context(), Options{Connect: connect, User: "root", Log: slog.New(log)})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	for range messages {
		select {
		case text := <-log.says:
			if !strings.Contains(text, "waiting for another process") {
				t.Errorf("it says %q", text)
			}
		case err := <-opened:
			t.Fatalf("it did not wait: %v", err)
		}
	}
	unlock()
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// testAtOnce opens a database several times at once.
func testAtOnce(t *testing.T, connect string) {
	t.Helper()
	var g sync.WaitGroup
	for range 6 {
		g.Go(func() {
			s, err := Open(t.Context(), Options{Connect: connect, User: "root"})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
}

// testMigrators is TestMigratorsWait for MariaDB, where the wait is longer than one answer of the database may take, and where another
// database on the same server does not matter.
func testMigrators(t *testing.T, server *testenv.MySQL) {
	root(t, server, "CREATE DATABASE other")
	other := bare(t, Options{Connect: "mysql://" + server.Addr + "/other", User: "root"})
	unlockOther, err := other.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlockOther()
	connect := "mysql://" + server.Addr + "/brine"
	first := bare(t, Options{Connect: connect, User: "root"})
	unlock, err := first.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const longer = int(5*patience/lockTry) + 2
	testWaits(t, connect, longer, unlock)
	testAtOnce(t, connect)
}

// testLockedForLong checks that who waits for too long says which connection of the server has the lock.
func testLockedForLong(t *testing.T, server *testenv.MySQL) {
	s := bare(t, Options{Connect: "mysql://" + server.Addr + "/brine", User: "root", Log: slog.New(slog.DiscardHandler)})
	holder, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if err := s.lockTables(t.Context(), holder, time.Minute); err != nil {
		t.Fatal(err)
	}
	var id string
	if err := holder.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	var waits *sql.Conn
	if waits, err = s.db.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer waits.Close()
	if err := s.lockTables(t.Context(), waits, 0); err == nil || !strings.Contains(err.Error(), "connection "+id) {
		t.Errorf("the lock is connection %s's: %v", id, err)
	}
}
