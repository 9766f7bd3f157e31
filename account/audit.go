package account

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Entry is one audit entry: who did what to what, and why.
type Entry struct {
	ID      int64
	At      time.Time
	Account string
	Role    Role
	Action  string // such as read, sign-in, account.disable
	Object  string // of Action, without what is masked for everybody
	Reason  string
	Address string
	Request string // its id, as in the log
}

// ErrClosed is returned for an audit whose store is closed.
var ErrClosed = errors.New("the accounts are closed")

// MaxObject is the number of bytes kept of an entry's object.
const MaxObject = 60_000

// Lengths of the other columns.
const (
	maxReason = 1000
	maxText   = 180
	maxShort  = 64
)

// Audit returns once the entry is committed. Entries that arrive at the same time are committed together.
func (s *Store) Audit(ctx context.Context, e Entry) error {
	e.At = s.opts.Now()
	e.Account, e.Action = cut(e.Account, maxText), cut(e.Action, maxText)
	e.Object, e.Reason = cut(e.Object, MaxObject), cut(e.Reason, maxReason)
	e.Address, e.Request = cut(e.Address, maxShort), cut(e.Request, maxShort)
	return s.audit.commit(ctx, e)
}

func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Entries returns the audit backwards from an id (0: from its end), of all accounts or of one.
func (s *Store) Entries(ctx context.Context, before int64, account string, limit int) ([]Entry, error) {
	where, args := []string{"1 = 1"}, []any{}
	if before > 0 {
		where, args = append(where, "id < ?"), append(args, before)
	}
	if account != "" {
		n, err := Normalise(account)
		if err != nil {
			return nil, nil //nolint:nilerr // no account has such a name
		}
		where, args = append(where, "account = ?"), append(args, n)
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id, at, account, role, action, object, reason, address, request FROM audit WHERE "+
		strings.Join(where, " AND ")+" ORDER BY id DESC LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		var e Entry
		var when int64
		if err := rows.Scan(&e.ID, &when, &e.Account, &e.Role, &e.Action, &e.Object, &e.Reason, &e.Address, &e.Request); err != nil {
			return nil, err
		}
		e.At = at(when)
		out = append(out, e)
	}
	return out, rows.Err()
}

// committer writes items that arrive at the same time together. close stops its goroutine.
type committer[T any] struct {
	write func(context.Context, []T) error
	queue chan *waiting[T]
	done  chan struct{} // closed by close
	once  sync.Once
	ended chan struct{} // closed by run
}

type waiting[T any] struct {
	what   T
	result chan error // buffered for one
}

const maxGroup = 100

func newCommitter[T any](write func(context.Context, []T) error) *committer[T] {
	c := &committer[T]{write: write, queue: make(chan *waiting[T], maxGroup), done: make(chan struct{}), ended: make(chan struct{})}
	go c.run()
	return c
}

func (c *committer[T]) close() {
	c.once.Do(func() { close(c.done) })
	<-c.ended
}

func (c *committer[T]) commit(ctx context.Context, what T) error {
	w := &waiting[T]{what, make(chan error, 1)}
	select {
	case <-c.done:
		return ErrClosed
	default:
	}
	select {
	case c.queue <- w:
	case <-c.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.result:
		return err
	case <-c.ended:
		select {
		case err := <-w.result:
			return err
		default:
			return ErrClosed
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *committer[T]) run() {
	defer close(c.ended)
	for {
		select {
		case w := <-c.queue:
			c.group(w)
		case <-c.done:
			for {
				select {
				case w := <-c.queue:
					c.group(w)
				default:
					return
				}
			}
		}
	}
}

// group writes first with all items that wait. If that fails, it writes each by itself: together they may be more than the database takes.
func (c *committer[T]) group(first *waiting[T]) {
	group := []*waiting[T]{first}
	for len(group) < maxGroup && len(c.queue) > 0 {
		group = append(group, <-c.queue)
	}
	all := make([]T, len(group))
	for i, w := range group {
		all[i] = w.what
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	err := c.write(ctx, all)
	for i, w := range group {
		if err != nil && len(group) > 1 && ctx.Err() == nil {
			w.result <- c.write(ctx, all[i:i+1])
		} else {
			w.result <- err
		}
	}
}

func (s *Store) writeEntries(ctx context.Context, entries []Entry) error {
	const row = "(?, ?, ?, ?, ?, ?, ?, ?)"
	var args []any
	for i := range entries {
		e := &entries[i]
		args = append(args, ms(e.At), e.Account, string(e.Role), e.Action, e.Object, e.Reason, e.Address, e.Request)
	}
	_, err := s.db.ExecContext(ctx, "INSERT INTO audit (at, account, role, action, object, reason, address, request) VALUES "+
		row+strings.Repeat(", "+row, len(entries)-1), args...)
	return err
}
