package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrRefused is a sign-in whose name and password do not match an enabled account. It gives no further reason.
var ErrRefused = errors.New("name or password is wrong")

// Delay is the error that refuses a sign-in before its password is checked.
type Delay struct{ Until time.Time }

func (d *Delay) Error() string {
	return "too many wrong passwords: wait until " + d.Until.Format(time.RFC3339)
}

// The number of wrong passwords that are free, and the longest pause after more of them. An account's pause is short: a longer one would
// lock its owner out.
const (
	freeOfAccount  = 5
	freeOfAddress  = 20
	pauseOfAccount = 30 * time.Second
	pauseOfAddress = 15 * time.Minute
	forgotten      = 24 * time.Hour
)

func accountKey(name string) string    { return "account " + name }
func addressKey(address string) string { return "address " + address }

// Check returns the account with a name and a password. Each try counts for the account and the address before its password is checked, so
// that concurrent tries cannot evade the pauses.
func (s *Store) Check(ctx context.Context, name, password, address string) (Account, error) {
	n, err := Normalise(name)
	if err != nil {
		n = "" // an unknown name must cost as much as any other
	}
	leave, err := s.hasher.enter()
	if err != nil {
		return Account{}, err
	}
	defer leave()
	if err := s.tried(ctx, n, address); err != nil {
		return Account{}, err
	}
	a, hash, err := s.withHash(ctx, n)
	unknown := errors.Is(err, ErrNotFound)
	if err != nil && !unknown {
		return Account{}, err
	}
	if unknown = unknown || hash == noPassword; unknown {
		hash = s.dummy
	}
	ok, ours, err := s.hasher.verify(ctx, hash, password)
	switch {
	case err != nil:
		return Account{}, err
	case !ok || unknown || !a.Enabled:
		return Account{}, ErrRefused
	}
	if !ours {
		if hash, err = s.hasher.hash(ctx, password); err != nil {
			return Account{}, err
		}
		// If another sign-in or a new password came first, its hash stays.
		_, err = s.db.ExecContext(ctx, "UPDATE accounts SET hash = ? WHERE id = ? AND changed = ?", hash, a.ID, ms(a.Changed))
		if err != nil {
			return Account{}, err
		}
	}
	return a, s.passed(ctx, n, address)
}

// tried counts a try, unless there is a pause.
func (s *Store) tried(ctx context.Context, name, address string) error {
	now := s.now()
	if err := s.forget(ctx, now); err != nil {
		return err
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, of := range []struct {
			who     string
			free    int
			longest time.Duration
		}{{addressKey(address), freeOfAddress, pauseOfAddress}, {accountKey(name), freeOfAccount, pauseOfAccount}} {
			if err := s.count(ctx, tx, of.who, now, of.free, of.longest); err != nil {
				return err
			}
		}
		return nil
	})
}

// forget deletes tries that no longer count, at most once a minute. It does so outside the transactions that count: InnoDB locks every row
// that the DELETE reads, and concurrent tries would end in deadlocks.
func (s *Store) forget(ctx context.Context, now int64) error {
	last := s.forgot.Load()
	if now-last < time.Minute.Milliseconds() && now >= last || !s.forgot.CompareAndSwap(last, now) {
		return nil
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM delays WHERE changed < ?", now-forgotten.Milliseconds())
		return err
	})
}

func (s *Store) count(ctx context.Context, tx *sql.Tx, who string, now int64, free int, longest time.Duration) error {
	// A single statement locks the row for writing from here on, so that each of several concurrent tries sees what the one before it counted.
	// Two tries that first locked it for reading would deadlock.
	upsert := "INSERT INTO delays (who, failures, until, changed) VALUES (?, 1, 0, ?) "
	if s.dialect == MySQL {
		upsert += "ON DUPLICATE KEY UPDATE failures = failures + 1"
	} else {
		upsert += "ON CONFLICT (who) DO UPDATE SET failures = failures + 1"
	}
	if _, err := tx.ExecContext(ctx, upsert, who, now); err != nil {
		return err
	}
	var failures, until int64
	if err := tx.QueryRowContext(ctx, "SELECT failures, until FROM delays WHERE who = ?", who).Scan(&failures, &until); err != nil {
		return err
	}
	if until > now {
		return &Delay{at(until)}
	}
	pause := time.Duration(0)
	if over := int(failures) - free; over > 0 {
		pause = min(time.Second<<min(over-1, 20), longest)
	}
	_, err := tx.ExecContext(ctx, "UPDATE delays SET until = ?, changed = ? WHERE who = ?", now+pause.Milliseconds(), now, who)
	return err
}

// passed undoes the counts of a successful sign-in. The address keeps its other counts: signing in to one's own account does not clear
// them.
func (s *Store) passed(ctx context.Context, name, address string) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE delays SET until = 0, failures = CASE WHEN failures > 0 THEN failures - 1 ELSE 0 END "+
			"WHERE who = ?", addressKey(address)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM delays WHERE who = ?", accountKey(name))
		return err
	})
}

// Confirm checks the password of a signed-in account, as Check does.
func (s *Store) Confirm(ctx context.Context, name, password, address string) error {
	if _, err := s.Check(ctx, name, password, address); err != nil {
		return fmt.Errorf("the password as it is: %w", err)
	}
	return nil
}
