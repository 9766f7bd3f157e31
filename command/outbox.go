package command

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// Migrations has one folder migrations/DIALECT per dialect, as goose reads them; see account.Store.Migrate.
//
//go:embed migrations
var Migrations embed.FS

// Versions is the table that records which of the Migrations have run.
const Versions = "commands_versions"

// State is the state of an accepted command.
type State string

// The states of a command.
const (
	Accepted  State = "accepted"  // stored, but not known to be published
	Published State = "published" // in the topic
	Applied   State = "applied"   // the row is as the command made it, or was when another command was accepted on top of it
	Overtaken State = "overtaken" // a newer change set the row's state or deleted it
	Failed    State = "failed"    // without an effect
	// Unanswered means that the reader of the commands' topic has not changed the row within Machine.AnswerWithin.
	Unanswered State = "unanswered"
)

// Entry is a command in the outbox.
type Entry struct {
	ID       string
	Account  string
	Key      string // idempotency key, unique per account
	Print    string // of everything that the caller asked for
	Table    string
	Command  string
	Row      []byte
	Expected int64 // version on which it was accepted
	Change   Change
	State    State
	Detail   string // why it failed
	Topic    string
	Part     int
	Offset   int64 // −1: unknown
	Created  int64 // ms since 1970
	Since    int64 // ms since 1970 when its state began
}

// freed reports whether a command in this state has left its place to others.
func (s State) freed() bool { return s == Failed || s == Unanswered }

// Outbox is the commands in a database. It is safe for concurrent use, also by several processes.
//
// One goroutine writes everything, and commits what arrives at the same time together, so that callers wait only once for a database with a
// single writer.
type Outbox struct {
	db     *sql.DB
	writes chan *write
	done   chan struct{} // closed by Close
	once   sync.Once
	ended  chan struct{} // closed by run
}

type write struct {
	do     func(context.Context, *sql.Tx) error
	err    error
	result chan error // buffered for one
}

const (
	together     = 100              // most writes per commit
	answerWithin = 10 * time.Second // timeout of the database
)

// ErrClosed is returned once the outbox is closed.
var ErrClosed = errors.New("the outbox is closed")

// NewOutbox returns an outbox on a database to which the Migrations were applied.
func NewOutbox(db *sql.DB) *Outbox {
	o := &Outbox{db: db, writes: make(chan *write, together), done: make(chan struct{}), ended: make(chan struct{})}
	go o.run()
	return o
}

// Close closes the outbox; the database stays open.
func (o *Outbox) Close() {
	o.once.Do(func() { close(o.done) })
	<-o.ended
}

func (o *Outbox) run() {
	defer close(o.ended)
	for {
		select {
		case <-o.done:
			return
		case w := <-o.writes:
			group := []*write{w}
			for len(group) < together && len(o.writes) > 0 {
				group = append(group, <-o.writes)
			}
			if o.commit(group) != nil && len(group) > 1 {
				for i := range group {
					_ = o.commit(group[i : i+1]) // each gets its own error
				}
			}
			for _, w := range group {
				w.result <- w.err
			}
		}
	}
}

// commit does all writes in one transaction. If any of them fails, other than because its place or key is taken, it does none: a database
// that has rolled back the transaction, for example to end a deadlock, would commit the others separately.
func (o *Outbox) commit(group []*write) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	tx, err := o.db.BeginTx(ctx, nil)
	for _, w := range group {
		if err != nil {
			break
		}
		if w.err = w.do(ctx, tx); w.err != nil && !errors.Is(w.err, errKeyTaken) && !errors.Is(w.err, errHeld) {
			err = w.err
		}
	}
	switch {
	case err == nil:
		err = tx.Commit()
	case tx != nil:
		_ = tx.Rollback() // err has the cause
	}
	if err != nil {
		for _, w := range group {
			w.err = err
		}
	}
	return err
}

// write returns once do is committed or has failed. If ctx ends first, do may still be committed.
func (o *Outbox) write(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	w := &write{do: do, result: make(chan error, 1)}
	select {
	case o.writes <- w:
	case <-o.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.result:
		return err
	case <-o.ended:
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

// orderKey returns the key of a table's row in the index, whose keys are short.
func orderKey(table string, row []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(table), table)
	h.Write(row)
	return hex.EncodeToString(h.Sum(nil))
}

const columns = "id, account, idem_key, fingerprint, table_name, command, order_row, expected_version, version, to_state, record_key, " +
	"event, state, detail, topic, part, off, created, changed"

func scan(row interface{ Scan(...any) error }) (e Entry, err error) {
	var expected sql.NullInt64
	err = row.Scan(&e.ID, &e.Account, &e.Key, &e.Print, &e.Table, &e.Command, &e.Row, &expected, &e.Change.At, &e.Change.State, &e.Change.Key,
		&e.Change.Value, &e.State, &e.Detail, &e.Topic, &e.Part, &e.Offset, &e.Created, &e.Since)
	e.Expected = expected.Int64
	return e, err
}

// Errors of Add.
var (
	errKeyTaken = errors.New("there is already a command with this key")
	errHeld     = errors.New("there is already a command on this version")
)

// Add stores a command.
func (o *Outbox) Add(ctx context.Context, e *Entry) error {
	order := orderKey(e.Table, e.Row)
	return o.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO commands ("+columns+", order_key, swept) "+
			"VALUES (?"+strings.Repeat(", ?", 20)+")",
			e.ID, e.Account, e.Key, e.Print, e.Table, e.Command, e.Row, e.Expected, e.Change.At, e.Change.State, notNil(e.Change.Key),
			e.Change.Value, Accepted, "", e.Topic, e.Part, -1, e.Created, e.Created, order, byOne)
		if !isDuplicate(err) {
			return err // even if there is such a row: the database may have rolled back the transaction, and with it the group's other writes
		}
		for _, taken := range []struct {
			err   error
			where string
			args  []any
		}{
			{errKeyTaken, "account = ? AND idem_key = ?", []any{e.Account, e.Key}},
			{errHeld, "order_key = ? AND expected_version = ?", []any{order, e.Expected}},
		} {
			var n int
			if tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM commands WHERE "+taken.where, taken.args...).Scan(&n) == nil && n > 0 {
				return taken.err
			}
		}
		return err
	})
}

// isDuplicate reports whether a unique constraint was violated, after which the transaction goes on.
func isDuplicate(err error) bool {
	if is, ok := errors.AsType[*mysql.MySQLError](err); ok {
		const duplicateEntry = 1062
		return is.Number == duplicateEntry
	}
	is, ok := errors.AsType[*sqlite.Error](err)
	return ok && (is.Code() == codes.SQLITE_CONSTRAINT_UNIQUE || is.Code() == codes.SQLITE_CONSTRAINT_PRIMARYKEY)
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Find returns the command with a key; ok is false if there is none.
func (o *Outbox) Find(ctx context.Context, account, key string) (e Entry, ok bool, err error) {
	return found(scan(o.db.QueryRowContext(ctx, "SELECT "+columns+" FROM commands WHERE account = ? AND idem_key = ?", account, key)))
}

// Get returns the command with an id.
func (o *Outbox) Get(ctx context.Context, id string) (e Entry, ok bool, err error) {
	return found(scan(o.db.QueryRowContext(ctx, "SELECT "+columns+" FROM commands WHERE id = ?", id)))
}

func found(e Entry, err error) (Entry, bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	return e, err == nil, err
}

// Follows reports whether a command was accepted on the version that another made.
func (o *Outbox) Follows(ctx context.Context, e *Entry) (bool, error) {
	return o.holds(ctx, e, e.Change.At)
}

// holds reports whether a command holds the place of a version of another's row.
func (o *Outbox) holds(ctx context.Context, e *Entry, version int64) (bool, error) {
	var n int
	err := o.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM commands WHERE order_key = ? AND expected_version = ?",
		orderKey(e.Table, e.Row), version).Scan(&n)
	return n > 0, err
}

// Column swept says who may publish a command that is accepted.
const (
	byOne  = iota // only the process that accepted it
	byAll         // each process that sweeps the outbox
	byNone        // no process: the brokers refuse it, and it is looked for in its topic
)

// place is a position among commands in the order in which they were accepted. The zero place is before all.
type place struct {
	created int64
	id      string
}

// sweep returns commands that are not known to be published and were accepted before a time, at most limit after a place, and the place
// after which there may be more; a zero place if there are none. From then on, any process that finds commands publishes them, so that
// nobody can be certain any more that one is not published.
func (o *Outbox) sweep(ctx context.Context, before int64, after place, limit int) ([]Entry, place, error) {
	err := o.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE commands SET swept = ? WHERE state = ? AND swept = ? AND created < ?",
			byAll, Accepted, byOne, before)
		return err
	})
	if err != nil {
		return nil, after, err
	}
	return o.list(ctx, "state = ? AND swept < ? AND created < ?", []any{Accepted, byNone, before}, after, limit)
}

// publishable returns those of some commands that may still be published.
func (o *Outbox) publishable(ctx context.Context, ids []string) (map[string]bool, error) {
	args := []any{Accepted, byNone}
	for _, id := range ids {
		args = append(args, id)
	}
	rows, err := o.db.QueryContext(ctx, "SELECT id FROM commands WHERE state = ? AND swept < ? AND id IN (?"+
		strings.Repeat(", ?", len(ids)-1)+")", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out[id] = true
	}
	return out, rows.Err()
}

// withdraw ends the publishing of a command that the brokers refuse, for all processes.
func (o *Outbox) withdraw(ctx context.Context, id string) error {
	return o.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE commands SET swept = ? WHERE id = ? AND state = ?", byNone, id, Accepted)
		return err
	})
}

// withdrawn returns commands that are withdrawn and not found yet, like sweep.
func (o *Outbox) withdrawn(ctx context.Context, after place, limit int) ([]Entry, place, error) {
	return o.list(ctx, "state = ? AND swept = ?", []any{Accepted, byNone}, after, limit)
}

// waiting returns how many commands are not known to be published, how many of them are withdrawn, and when the oldest was accepted.
func (o *Outbox) waiting(ctx context.Context) (accepted, withdrawn int, oldest int64, err error) {
	err = o.db.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(SUM(swept = ?), 0), COALESCE(MIN(created), 0) FROM commands WHERE state = ?",
		byNone, Accepted).Scan(&accepted, &withdrawn, &oldest)
	return accepted, withdrawn, oldest, err
}

// published returns published commands whose result is not known, like sweep.
func (o *Outbox) published(ctx context.Context, after place, limit int) ([]Entry, place, error) {
	return o.list(ctx, "state = ?", []any{Published}, after, limit)
}

// freed returns commands that have ended without an effect, like sweep.
func (o *Outbox) freed(ctx context.Context, after place, limit int) ([]Entry, place, error) {
	return o.list(ctx, "state IN (?, ?)", []any{Failed, Unanswered}, after, limit)
}

// list returns the commands that satisfy a condition, at most limit after a place, and the place after which there may be more.
func (o *Outbox) list(ctx context.Context, where string, args []any, after place, limit int) ([]Entry, place, error) {
	rows, err := o.db.QueryContext(ctx, "SELECT "+columns+" FROM commands WHERE "+where+" AND created >= ? AND (created > ? OR id > ?) "+
		"ORDER BY created, id LIMIT ?", append(args, after.created, after.created, after.id, limit)...)
	if err != nil {
		return nil, after, err
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, after, err
		}
		out = append(out, e)
	}
	if len(out) < limit {
		return out, place{}, rows.Err()
	}
	last := &out[len(out)-1]
	return out, place{last.Created, last.ID}, rows.Err()
}

// Pending returns how many commands have no outcome yet.
func (o *Outbox) Pending(ctx context.Context) (n int, err error) {
	err = o.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM commands WHERE state IN (?, ?)", Accepted, Published).Scan(&n)
	return n, err
}

// Publish stores where commands were published: their Part and Offset. Only the first call per command counts. It returns those that are
// not in the outbox.
func (o *Outbox) Publish(ctx context.Context, entries []*Entry, now int64) (missing []*Entry, err error) {
	err = o.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		missing = nil // of an attempt that was rolled back
		for _, e := range entries {
			res, err := tx.ExecContext(ctx, "UPDATE commands SET state = ?, part = ?, off = ?, changed = ? WHERE id = ? AND state = ?",
				Published, e.Part, e.Offset, now, e.ID, Accepted)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); n > 0 || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			var there int
			if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM commands WHERE id = ?", e.ID).Scan(&there); err != nil {
				return err
			}
			if there == 0 {
				missing = append(missing, e)
			}
		}
		return nil
	})
	return missing, err
}

// freePlace makes a command hold no place, but keeps its expected version: no order has the key.
const freePlace = ", order_key = id"

// Refused ends a command that the brokers refused, and frees its place. It returns false and changes nothing if another process may have
// published the command in the meantime.
func (o *Outbox) Refused(ctx context.Context, id, detail string, now int64) (freed bool, err error) {
	err = o.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE commands SET state = ?, detail = ?, changed = ?"+freePlace+" "+
			"WHERE id = ? AND state = ? AND swept = ?", Failed, detail, now, id, Accepted, byOne)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		freed = n > 0
		return err
	})
	return freed, err
}

// End stores the final state of published commands: their State and Detail. Those without an effect free their places.
func (o *Outbox) End(ctx context.Context, entries []*Entry, now int64) error {
	return o.end(ctx, entries, now, "state = ?", Published)
}

// undo is End for commands that had ended without an effect, and have one after all.
func (o *Outbox) undo(ctx context.Context, entries []*Entry, now int64) error {
	return o.end(ctx, entries, now, "state IN (?, ?)", Failed, Unanswered)
}

// endWithdrawn is End for commands that are withdrawn.
func (o *Outbox) endWithdrawn(ctx context.Context, entries []*Entry, now int64) error {
	return o.end(ctx, entries, now, "state = ? AND swept = ?", Accepted, byNone)
}

func (o *Outbox) end(ctx context.Context, entries []*Entry, now int64, where string, args ...any) error {
	return o.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, e := range entries {
			place := map[bool]string{true: freePlace}[e.State.freed()]
			_, err := tx.ExecContext(ctx, "UPDATE commands SET state = ?, detail = ?, changed = ?"+place+" WHERE id = ? AND "+where,
				append([]any{e.State, e.Detail, now, e.ID}, args...)...)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget deletes commands that ended before a time.
func (o *Outbox) Forget(ctx context.Context, before int64) error {
	return o.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM commands WHERE changed < ? AND state IN (?, ?, ?, ?)", before, Applied, Overtaken, Failed,
			Unanswered)
		return err
	})
}
