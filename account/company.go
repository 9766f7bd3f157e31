package account

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
)

// noPassword is the hash of accounts whose company's provider signs them in.
const noPassword = ""

// Company returns the account of somebody whom a company's provider signed in, by issuer and subject, with the present role and owner. If
// these have changed, it ends the account's sessions. On the first sign-in it creates an account of that name, without a password. It
// returns ErrTaken if another account has the name, and ErrRefused if the account is disabled.
func (s *Store) Company(ctx context.Context, issuer, subject, name, owner string, role Role) (Account, error) {
	defer s.changing()
	n, err := Normalise(name)
	if err == nil {
		err = checkRole(role, owner)
	}
	if err != nil {
		return Account{}, err
	}
	id := sha256.Sum256([]byte(issuer + "\x00" + subject))
	var out Account
	changed := false
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		a, err := scanAccount(tx.QueryRowContext(ctx, "SELECT "+accountColumns+" FROM identities i JOIN accounts a ON a.id = i.account "+
			"WHERE i.id = ?", id[:]))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			out, err = s.first(ctx, tx, id[:], issuer, subject, Account{Name: n, Owner: owner, Role: role, Enabled: true})
			return err
		case err != nil:
			return err
		case !a.Enabled:
			return ErrRefused
		}
		if out, changed = a, a.Role != role || a.Owner != owner; !changed {
			return nil
		}
		out.Role, out.Owner, out.Changed = role, owner, at(s.now())
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET role = ?, owner = ?, changed = ? WHERE id = ?",
			string(role), owner, ms(out.Changed), a.ID); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM sessions WHERE account = ?", a.ID)
		return err
	})
	if changed {
		s.fresh.forget(out.ID)
	}
	return out, err
}

// Left ends the sessions and API tokens of somebody whose provider's claims no longer hold a role. It does nothing if there is no such
// account.
func (s *Store) Left(ctx context.Context, issuer, subject string) error {
	defer s.changing()
	id := sha256.Sum256([]byte(issuer + "\x00" + subject))
	var account int64
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "SELECT account FROM identities WHERE id = ?", id[:]).Scan(&account); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE account = ?", account); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM tokens WHERE account = ?", account)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		s.fresh.forget(account)
	}
	return err
}

// first creates the account of an identity that signs in for the first time.
func (s *Store) first(ctx context.Context, tx *sql.Tx, id []byte, issuer, subject string, a Account) (Account, error) {
	var taken int
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM accounts WHERE name = ?", a.Name).Scan(&taken); err != nil {
		return a, err
	} else if taken > 0 {
		return a, ErrTaken
	}
	now := s.now()
	res, err := tx.ExecContext(ctx, "INSERT INTO accounts (name, owner, role, enabled, hash, created, changed) VALUES (?, ?, ?, 1, ?, ?, ?)",
		a.Name, a.Owner, string(a.Role), noPassword, now, now)
	if err != nil {
		return a, err
	}
	if a.ID, err = res.LastInsertId(); err != nil {
		return a, err
	}
	a.Created, a.Changed = at(now), at(now)
	_, err = tx.ExecContext(ctx, "INSERT INTO identities (id, account, issuer, subject) VALUES (?, ?, ?, ?)", id, a.ID, issuer, subject)
	return a, err
}
