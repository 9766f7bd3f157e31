package command_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/account"
	"brine/command"
	"brine/internal/sample"
)

// TestStoringWithoutAnAnswer checks that if the database dies before it confirms a stored command, the command is published once the
// database is back, before a sweep finds it. A repeated request with the same key then returns it, and it is in the topic once.
func TestStoringWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(t)
		f.at(1, done)
		if _, _, err := f.give(); err == nil || kindOf(err) != "" {
			t.Fatalf("a commit without an answer: %v", err)
		}
		if _, _, err := f.give(); kindOf(err) != command.KeyRunning {
			t.Errorf("asked again at once: %v", err)
		}
		time.Sleep(time.Second)
		if e, replayed, err := f.give(); err != nil || !replayed || e.State != command.Published {
			t.Errorf("asked again after a second: %+v, %v, %v", e, replayed, err)
		}
		f.once()
	})
}

// TestStoringThatFailed checks that a command that is not stored is nowhere, and that another is accepted with its key.
func TestStoringThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(t)
		f.at(1, undone)
		if _, _, err := f.give(); err == nil || kindOf(err) != "" {
			t.Fatalf("a commit that failed: %v", err)
		}
		time.Sleep(time.Second)
		if e, replayed, err := f.give(); err != nil || replayed || e.State != command.Published {
			t.Errorf("asked again: %+v, %v, %v", e, replayed, err)
		}
		f.once()
	})
}

// TestPublishedAndNotMarked checks that a command that was published while the database was away is marked when it is back, and not
// published again.
func TestPublishedAndNotMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(t)
		for i := range 10 {
			f.at(2+i, undone) // the first one stores it
		}
		if _, _, err := f.give(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second) // sweeps run
		if e, replayed, err := f.give(); err != nil || !replayed || e.State != command.Published {
			t.Errorf("after the outage: %+v, %v, %v", e, replayed, err)
		}
		f.once()
	})
}

// faulty is a world with one order, whose outbox has failing commits.
type faulty struct {
	*world
	t    *testing.T
	desk *command.Desk
	row  []byte
	by   *faults
}

func newFaulty(t *testing.T) *faulty {
	path := filepath.Join(t.TempDir(), "accounts")
	s, err := account.Open(t.Context(), account.Options{Connect: "embedded:" + path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context(), command.Migrations, command.Versions); err != nil {
		t.Fatal(err)
	}
	f := &faulty{world: newWorld(t), t: t, by: &faults{driver: s.DB().Driver(), path: filepath.Join(path, "accounts.db"), at: map[int]commitFault{}}}
	db := sql.OpenDB(f.by)
	t.Cleanup(func() { db.Close() })
	now := time.Now().UnixMilli()
	f.row = f.world.row(t, "G1", "u1", now)
	f.shop(sample.Change{Order: "G1", User: "u1", Created: now, At: now, Status: sample.Paid})
	f.apply(t, 1)
	desk, stop := f.deskOn(t, db)
	f.desk = desk
	t.Cleanup(stop)
	return f
}

// at sets how the n-th commit of a command's change ends. The first sweep, which is one, is over.
func (f *faulty) at(n int, is commitFault) {
	synctest.Wait()
	f.by.mu.Lock()
	defer f.by.mu.Unlock()
	f.by.at[f.by.commits+n] = is
}

// give gives the command of the test, always with the same key.
func (f *faulty) give() (command.Entry, bool, error) {
	row := f.read(f.t, f.row)
	return f.desk.Do(f.t.Context(), &command.Ask{Account: "1", Role: "operator", Table: f.machine.Table.Name, Row: f.row, Command: "cancel", Key: "k",
		IfMatch: fmt.Sprintf("%q", fmt.Sprint(row.StateVersion))})
}

// once checks that the topic has exactly one record of a command.
func (f *faulty) once() {
	n := 0
	for _, records := range f.log {
		for _, r := range records {
			if r.Command != "" {
				n++
			}
		}
	}
	if n != 1 {
		f.t.Errorf("the topic has %d records of the command", n)
	}
}

type commitFault int

const (
	undone commitFault = iota + 1 // not committed, and nobody knows
	done                          // committed, and nobody knows
)

// faults opens connections to a SQLite whose commits fail by number.
type faults struct {
	driver driver.Driver
	path   string

	mu      sync.Mutex
	commits int
	at      map[int]commitFault
}

func (f *faults) Driver() driver.Driver { return f.driver }

func (f *faults) Connect(context.Context) (driver.Conn, error) {
	c, err := f.driver.Open("file:" + f.path + "?_txlock=immediate&_pragma=busy_timeout(5000)")
	return &faultyConn{c, f}, err
}

type faultyConn struct {
	driver.Conn
	f *faults
}

func (c *faultyConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return &faultyTx{tx, c.f}, err
}

type faultyTx struct {
	driver.Tx
	f *faults
}

func (tx *faultyTx) Commit() error {
	tx.f.mu.Lock()
	tx.f.commits++
	is := tx.f.at[tx.f.commits]
	tx.f.mu.Unlock()
	gone := errors.New("the database went away")
	switch is {
	case undone:
		return errors.Join(gone, tx.Rollback())
	case done:
		return errors.Join(gone, tx.Tx.Commit())
	}
	return tx.Tx.Commit()
}
