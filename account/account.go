package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Role is what an account may do. Each role may do what those before it may.
type Role string

// The roles.
const (
	Customer Role = "customer" // reads its own rows
	Support  Role = "support"  // reads everybody's rows, with a reason
	Operator Role = "operator" // operates brine
	Admin    Role = "admin"    // administrates accounts
)

// Roles are all roles, least first.
var Roles = []Role{Customer, Support, Operator, Admin}

// AtLeast reports whether a role may do what another may. An unknown role may do nothing.
func (r Role) AtLeast(other Role) bool {
	has, needs := slices.Index(Roles, r), slices.Index(Roles, other)
	return has >= 0 && needs >= 0 && has >= needs
}

// lesser returns the one of two roles that may do less.
func lesser(a, b Role) Role {
	if a.AtLeast(b) {
		return b
	}
	return a
}

// Account is one account.
type Account struct {
	ID      int64
	Name    string // normalized
	Owner   string // whose rows a customer sees: the value of a table's owner field
	Role    Role
	Enabled bool
	Created time.Time
	Changed time.Time
}

// Errors that callers distinguish.
var (
	ErrNotFound = errors.New("there is no such account")
	ErrTaken    = errors.New("an account of this name already exists")
)

// RuleError is an argument that breaks a rule of accounts.
type RuleError struct {
	Arg string // name, password, role, owner, hash, expires
	Msg string
	Fix string
}

func (e *RuleError) Error() string { return e.Arg + " " + e.Msg + "; " + e.Fix }

// Advice returns the fix, which ends the error's text.
func (e *RuleError) Advice() string { return e.Fix }

const maxName = 190

// Normalise returns the form in which accounts store a name: names that look alike in width or case are the same.
func Normalise(name string) (string, error) {
	n := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
	odd := func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c) && !strings.ContainsRune(".@_-+", c)
	}
	switch {
	case n == "":
		return "", &RuleError{"name", "is empty", "give one"}
	case !utf8.ValidString(name) || strings.ContainsFunc(n, odd):
		return "", &RuleError{"name", "contains characters other than letters, digits and . @ _ - +", "remove them"}
	case len(n) > maxName:
		return "", &RuleError{"name", fmt.Sprintf("has more than %d bytes", maxName), "give a shorter one"}
	}
	return n, nil
}

func checkRole(role Role, owner string) error {
	switch {
	case !slices.Contains(Roles, role):
		return &RuleError{"role", fmt.Sprintf("%q is not a role", string(role)), "write customer, support, operator or admin"}
	case len(owner) > maxName || strings.ContainsFunc(owner, unicode.IsControl) || !utf8.ValidString(owner):
		return &RuleError{"owner", "is longer than 190 bytes, or not a text", "give the value in the owner's rows"}
	case role == Customer && owner == "":
		return &RuleError{"owner", "is missing, so the customer would own no row", "give the value in the owner's rows"}
	}
	return nil
}

// Add creates an account.
func (s *Store) Add(ctx context.Context, name, owner string, role Role, password string) (Account, error) {
	n, err := Normalise(name)
	if err == nil {
		err = errors.Join(checkRole(role, owner), CheckPassword(n, password))
	}
	if err != nil {
		return Account{}, err
	}
	hash, err := s.hashed(ctx, password)
	if err != nil {
		return Account{}, err
	}
	return s.insert(ctx, n, owner, role, hash, true)
}

// Import creates an account with a password hash from another system. It checks the form of the hash first.
func (s *Store) Import(ctx context.Context, name, owner string, role Role, enabled bool, hash string) (Account, error) {
	n, err := Normalise(name)
	if err == nil {
		err = errors.Join(checkRole(role, owner), CheckHash(hash))
	}
	if err != nil {
		return Account{}, err
	}
	return s.insert(ctx, n, owner, role, hash, enabled)
}

// hashed hashes a password after waiting its turn among the sign-ins.
func (s *Store) hashed(ctx context.Context, password string) (string, error) {
	leave, err := s.hasher.enter()
	if err != nil {
		return "", err
	}
	defer leave()
	return s.hasher.hash(ctx, password)
}

func (s *Store) insert(ctx context.Context, name, owner string, role Role, hash string, enabled bool) (Account, error) {
	now := s.now()
	res, err := s.db.ExecContext(ctx, "INSERT INTO accounts (name, owner, role, enabled, hash, created, changed) VALUES (?, ?, ?, ?, ?, ?, ?)",
		name, owner, string(role), enabled, hash, now, now)
	if err != nil {
		if _, known := s.Get(ctx, name); known == nil {
			return Account{}, ErrTaken
		}
		return Account{}, err
	}
	id, err := res.LastInsertId()
	return Account{ID: id, Name: name, Owner: owner, Role: role, Enabled: enabled, Created: at(now), Changed: at(now)}, err
}

const accountColumns = "a.id, a.name, a.owner, a.role, a.enabled, a.created, a.changed"

func scanAccount(row interface{ Scan(...any) error }, more ...any) (a Account, err error) {
	var created, changed int64
	err = row.Scan(append([]any{&a.ID, &a.Name, &a.Owner, &a.Role, &a.Enabled, &created, &changed}, more...)...)
	a.Created, a.Changed = at(created), at(changed)
	return a, err
}

// Get returns the account with a name.
func (s *Store) Get(ctx context.Context, name string) (Account, error) {
	a, _, err := s.withHash(ctx, name)
	return a, err
}

func (s *Store) withHash(ctx context.Context, name string) (a Account, hash string, err error) {
	n, err := Normalise(name)
	if err != nil {
		return a, "", ErrNotFound
	}
	a, err = scanAccount(s.db.QueryRowContext(ctx, "SELECT "+accountColumns+", a.hash FROM accounts a WHERE a.name = ?", n), &hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return a, hash, err
}

// List returns up to limit accounts in name order, after a name.
func (s *Store) List(ctx context.Context, behind string, limit int) ([]Account, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+accountColumns+" FROM accounts a WHERE a.name > ? ORDER BY a.name LIMIT ?", behind, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Account
	for rows.Next() {
		a, err := scanAccount(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

// Change is what an administrator changes of an account; nil leaves a field as it is.
type Change struct {
	Role    *Role
	Owner   *string
	Enabled *bool
}

// Change changes an account, and ends its sessions, so that new ones begin with its new state. It refuses to leave no enabled
// administrator.
func (s *Store) Change(ctx context.Context, name string, c Change) (Account, error) {
	defer s.changing()
	var out Account
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		n, err := Normalise(name)
		if err != nil {
			return ErrNotFound
		}
		if c.Role != nil || c.Enabled != nil {
			// Two administrators that give up their role at the same time must not each count on the other. Before the first read of the
			// transaction, because MySQL's later reads see the state of that one.
			if _, err := tx.ExecContext(ctx, "UPDATE accounts SET enabled = enabled WHERE role = ?", string(Admin)); err != nil {
				return err
			}
		}
		a, err := scanAccount(tx.QueryRowContext(ctx, "SELECT "+accountColumns+" FROM accounts a WHERE a.name = ?", n))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		} else if err != nil {
			return err
		}
		administers := a.Enabled && a.Role == Admin
		if c.Role != nil {
			a.Role = *c.Role
		}
		if c.Owner != nil {
			a.Owner = *c.Owner
		}
		if c.Enabled != nil {
			a.Enabled = *c.Enabled
		}
		if err := checkRole(a.Role, a.Owner); err != nil {
			return err
		}
		if administers && (!a.Enabled || a.Role != Admin) {
			if err := othersAdminister(ctx, tx, a.ID); err != nil {
				return err
			}
		}
		a.Changed = at(s.now())
		out = a
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET role = ?, owner = ?, enabled = ?, changed = ? WHERE id = ?",
			string(a.Role), a.Owner, a.Enabled, ms(a.Changed), a.ID); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM sessions WHERE account = ?", a.ID)
		return err
	})
	s.fresh.forget(out.ID)
	return out, err
}

// othersAdminister returns an error if no other account is an enabled administrator.
func othersAdminister(ctx context.Context, tx *sql.Tx, id int64) error {
	var others int
	err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM accounts WHERE role = ? AND enabled = ? AND id <> ?", string(Admin), true, id).
		Scan(&others)
	if err == nil && others == 0 {
		err = &RuleError{"role", "is that of the only enabled administrator, and nobody could administrate accounts without one",
			"make another account an administrator first"}
	}
	return err
}

// SetPassword changes an account's password, and ends its sessions.
func (s *Store) SetPassword(ctx context.Context, name, password string) error {
	defer s.changing()
	n, err := Normalise(name)
	if err == nil {
		err = CheckPassword(n, password)
	}
	if err != nil {
		return err
	}
	hash, err := s.hashed(ctx, password)
	if err != nil {
		return err
	}
	a, was, err := s.withHash(ctx, n)
	if err != nil {
		return err
	}
	if was == noPassword {
		return &RuleError{"password", "is managed by the company's provider, which the account signs in with", "change it there"}
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET hash = ?, changed = ? WHERE id = ?", hash, s.now(), a.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM delays WHERE who = ?", accountKey(n)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE account = ?", a.ID)
		return err
	})
	s.fresh.forget(a.ID)
	return err
}

// inTx runs do in a transaction, and again if the database ended it in favour of another.
func (s *Store) inTx(ctx context.Context, do func(*sql.Tx) error) (err error) {
	if s.writer != nil {
		select {
		case s.writer <- struct{}{}:
			defer func() { <-s.writer }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for range 5 {
		if err = s.tryTx(ctx, do); !deadlocked(err) {
			break
		}
	}
	return err
}

func (s *Store) tryTx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // err has the cause
		return err
	}
	return tx.Commit()
}

// deadlocked reports whether InnoDB chose a transaction as the victim of a deadlock.
func deadlocked(err error) bool {
	const deadlock = 1213
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && e.Number == deadlock
}
