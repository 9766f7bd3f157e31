package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrRefused is a sign-in with a name and a password that are not those of an account that is enabled: it says no more.
var ErrRefused = errors.New("name or password is wrong")

// Delay refuses a sign-in before its password is looked at.
type Delay struct{ Until time.Time }

func (d *Delay) Error() string {
	return "after several wrong passwords there is a pause until " + d.Until.Format(time.RFC3339)
}

// Wrong passwords that are free, and the longest pause that more of them cost. An account's is short: a longer one would keep its owner
// out.
const (
	freeOfAccount  = 5
	freeOfAddress  = 20
	pauseOfAccount = 30 * time.Second
	pauseOfAddress = 15 * time.Minute
	forgotten      = 24 * time.Hour
)

func accountKey(name string) string    { return "account " + name }
func addressKey(address string) string { return "address " + address }

// Check is the account of a name and a password. Each try counts for the account and for the address before its password is looked at, so
// that many at a time are no way around the pauses.
func (s *Store) Check(ctx context.Context, name, password, address string) (Account, error) {
	n, err := Normalise(name)
	if err != nil {
		n = "" // it costs what any name costs
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
		// Another sign-in, or a new password, may have come first: then that hash stays.
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

// forget deletes tries that count no more, at most once a minute. It does so outside the transactions that count: InnoDB locks every row
// that it looks at for this, and tries at the same time would end in deadlocks.
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
	// One statement locks the row for writing from here on: of tries at the same time each sees what the one before it has counted. Two
	// that had locked it for reading first could not go on, either of them.
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

// passed takes back what a sign-in that succeeded has counted. An address keeps its others: an account of one's own does not make up for
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

// Confirm checks the password of an account that is signed in, as Check does.
func (s *Store) Confirm(ctx context.Context, name, password, address string) error {
	if _, err := s.Check(ctx, name, password, address); err != nil {
		return fmt.Errorf("the password as it is: %w", err)
	}
	return nil
}
