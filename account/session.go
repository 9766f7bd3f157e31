package account

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Identity is the caller: an account in its present state, and the role in which it acts.
type Identity struct {
	Account Account
	Role    Role // at most the account's; a token's may be less
	Token   int64
	Stale   bool // the database is away; the session was verified shortly before
}

// ErrUnknown is returned for a session or token that never existed or is over, or whose account is disabled.
var ErrUnknown = errors.New("the session or token is not valid")

const (
	secretBytes = 32
	touched     = time.Minute // precision with which a session's last use is stored
	maxSessions = 50          // per account; the oldest is dropped
	maxTokens   = 50          // per account
	staleFor    = 30 * time.Second
	tokenPrefix = "brine_"
)

func newSecret() (text string, sum []byte) {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	text = base64.RawURLEncoding.EncodeToString(b)
	return text, sumOf(text)
}

func sumOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// Begin starts a session for an account whose password was checked, and returns its token, which is not stored. It returns ErrRefused if
// the account has changed since: whoever disables it or changes its password also ends sign-ins that began before.
func (s *Store) Begin(ctx context.Context, a Account) (string, error) {
	defer s.changing()
	token, sum := newSecret()
	now := s.now()
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		for _, q := range []struct {
			text string
			args []any
		}{
			{"DELETE FROM sessions WHERE account = ? AND (used < ? OR created < ?)",
				[]any{a.ID, now - s.opts.SessionIdle.Milliseconds(), now - s.opts.SessionMax.Milliseconds()}},
			{"INSERT INTO sessions (token, account, created, used) SELECT ?, id, ?, ? FROM accounts WHERE id = ? AND changed = ? AND enabled = 1",
				[]any{sum, now, now, a.ID, ms(a.Changed)}},
		} {
			if _, err := tx.ExecContext(ctx, q.text, q.args...); err != nil {
				return err
			}
		}
		var same int
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM sessions WHERE token = ?", sum).Scan(&same); err != nil {
			return err
		} else if same == 0 {
			return ErrRefused
		}
		var oldest sql.NullInt64 // oldest session to keep
		err := tx.QueryRowContext(ctx, "SELECT created FROM sessions WHERE account = ? ORDER BY created DESC LIMIT 1 OFFSET ?",
			a.ID, maxSessions-1).Scan(&oldest)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		} else if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM sessions WHERE account = ? AND created < ?", a.ID, oldest.Int64)
		return err
	})
	return token, err
}

// Session returns the identity that began a session. While the database is away, it returns the last known identity for 30 s, marked Stale.
func (s *Store) Session(ctx context.Context, token string) (Identity, error) {
	sum := sumOf(token)
	now := s.now()
	var created, used int64
	a, err := scanAccount(s.db.QueryRowContext(ctx, "SELECT "+accountColumns+", s.created, s.used FROM sessions s "+
		"JOIN accounts a ON a.id = s.account WHERE s.token = ?", sum), &created, &used)
	over := now-used >= s.opts.SessionIdle.Milliseconds() || now-created >= s.opts.SessionMax.Milliseconds()
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && (over || !a.Enabled):
		s.fresh.drop([32]byte(sum))
		return Identity{}, ErrUnknown
	case err != nil:
		if a, ok := s.fresh.get([32]byte(sum), now); ok {
			return Identity{Account: a, Role: a.Role, Stale: true}, nil
		}
		return Identity{}, err
	}
	if now-used >= touched.Milliseconds() {
		if err := s.uses.commit(ctx, use{session: sum, at: now}); err != nil {
			return Identity{}, err
		}
	}
	s.fresh.put([32]byte(sum), a, now)
	return Identity{Account: a, Role: a.Role}, nil
}

// use is a use of a session or token. Hundreds may arrive within a second, and one by one each would wait for the disk.
type use struct {
	session []byte // hash of its token; nil: an API token
	token   int64
	at      int64
}

func (s *Store) writeUses(ctx context.Context, uses []use) error {
	slices.SortFunc(uses, func(a, b use) int { // so that processes do not deadlock each other
		return cmp.Or(bytes.Compare(a.session, b.session), cmp.Compare(a.token, b.token))
	})
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for _, u := range uses {
			text, of := "UPDATE tokens SET used = ? WHERE id = ? AND used < ?", any(u.token)
			if u.session != nil {
				text, of = "UPDATE sessions SET used = ? WHERE token = ? AND used < ?", any(u.session)
			}
			if _, err := tx.ExecContext(ctx, text, u.at, of, u.at); err != nil {
				return err
			}
		}
		return nil
	})
}

// End ends a session.
func (s *Store) End(ctx context.Context, token string) error {
	defer s.changing()
	sum := sumOf(token)
	s.fresh.drop([32]byte(sum))
	_, err := s.db.ExecContext(ctx, "DELETE FROM sessions WHERE token = ?", sum)
	return err
}

// verified are recently verified sessions, which are used to answer while the database is away.
type verified struct {
	mu  sync.Mutex
	has map[[32]byte]seen
}

type seen struct {
	account Account
	at      int64
}

const maxVerified = 1 << 16

func (v *verified) put(sum [32]byte, a Account, now int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.has == nil {
		v.has = map[[32]byte]seen{}
	}
	if _, known := v.has[sum]; !known && len(v.has) >= maxVerified {
		for other, x := range v.has {
			if now-x.at > staleFor.Milliseconds() {
				delete(v.has, other)
			}
		}
		if len(v.has) >= maxVerified {
			return // full: the session is not remembered
		}
	}
	v.has[sum] = seen{a, now}
}

func (v *verified) get(sum [32]byte, now int64) (Account, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	x, ok := v.has[sum]
	return x.account, ok && now-x.at <= staleFor.Milliseconds() && now >= x.at
}

func (v *verified) drop(sum [32]byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.has, sum)
}

// forget forgets the sessions of an account.
func (v *verified) forget(account int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for sum, x := range v.has {
		if x.account.ID == account {
			delete(v.has, sum)
		}
	}
}

// Token is an API token as it is listed.
type Token struct {
	ID      int64
	Name    string // its purpose
	Role    Role
	Created time.Time
	Expires time.Time
	Used    time.Time // zero: never
}

// NewToken creates a token for an account, and returns it; it is not stored. Its role must not exceed the account's.
func (s *Store) NewToken(ctx context.Context, a Account, name string, role Role, expires time.Time) (string, Token, error) {
	now := s.now()
	switch {
	case name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", Token{}, &RuleError{"name", "is empty, longer than 190 bytes, or not a text", "say what the token is for"}
	case !a.Role.AtLeast(role):
		return "", Token{}, &RuleError{"role", fmt.Sprintf("%q is not a role, or is more than the account's, %s", string(role), a.Role),
			"give " + string(a.Role) + " or less"}
	case ms(expires) <= now || ms(expires) > now+(366*24*time.Hour).Milliseconds():
		return "", Token{}, &RuleError{"expires", "is not within a year from now", "give a time within it"}
	}
	text, _ := newSecret()
	text = tokenPrefix + text
	t := Token{Name: name, Role: role, Created: at(now), Expires: at(ms(expires))}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM tokens WHERE account = ?", a.ID).Scan(&n); err != nil {
			return err
		}
		if n >= maxTokens {
			return &RuleError{"name", fmt.Sprintf("would make more than %d tokens", maxTokens), "revoke one that is not used"}
		}
		res, err := tx.ExecContext(ctx, "INSERT INTO tokens (token, account, name, role, created, expires, used) VALUES (?, ?, ?, ?, ?, ?, 0)",
			sumOf(text), a.ID, name, string(role), now, ms(expires))
		if err == nil {
			t.ID, err = res.LastInsertId()
		}
		return err
	})
	return text, t, err
}

// Bearer returns the identity of a token's bearer.
func (s *Store) Bearer(ctx context.Context, token string) (Identity, error) {
	if !strings.HasPrefix(token, tokenPrefix) {
		return Identity{}, ErrUnknown
	}
	var id Identity
	var role Role
	var expires, used int64
	a, err := scanAccount(s.db.QueryRowContext(ctx, "SELECT "+accountColumns+", t.id, t.role, t.expires, t.used FROM tokens t "+
		"JOIN accounts a ON a.id = t.account WHERE t.token = ?", sumOf(token)), &id.Token, &role, &expires, &used)
	now := s.now()
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && (now >= expires || !a.Enabled):
		return Identity{}, ErrUnknown
	case err != nil:
		return Identity{}, err
	}
	if now-used >= touched.Milliseconds() {
		if err := s.uses.commit(ctx, use{token: id.Token, at: now}); err != nil {
			return Identity{}, err
		}
	}
	id.Account, id.Role = a, lesser(role, a.Role)
	return id, nil
}

// Tokens returns the tokens of an account.
func (s *Store) Tokens(ctx context.Context, a Account) ([]Token, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, name, role, created, expires, used FROM tokens WHERE account = ? ORDER BY id", a.ID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Token
	for rows.Next() {
		var t Token
		var created, expires, used int64
		if err := rows.Scan(&t.ID, &t.Name, &t.Role, &created, &expires, &used); err != nil {
			return nil, err
		}
		t.Created, t.Expires, t.Used = at(created), at(expires), at(used)
		out = append(out, t)
	}
	return out, rows.Err()
}

// Revoke ends a token of an account. It returns ErrNotFound for a token of another account.
func (s *Store) Revoke(ctx context.Context, a Account, id int64) error {
	defer s.changing()
	res, err := s.db.ExecContext(ctx, "DELETE FROM tokens WHERE id = ? AND account = ?", id, a.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrNotFound, err)
	}
	return nil
}
