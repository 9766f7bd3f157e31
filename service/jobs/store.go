package jobs

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"time"

	"brine/account"
	"brine/serve/client"
)

//go:embed migrations
var migrations embed.FS

// versions is the table of applied migrations.
const versions = "jobs_versions"

// patience is the timeout of one database request.
const patience = 5 * time.Second

// store is the jobs in the database.
type store struct {
	db *sql.DB
}

func openStore(ctx context.Context, accounts *account.Store) (*store, error) {
	if err := accounts.Migrate(ctx, migrations, versions); err != nil {
		return nil, err
	}
	return &store{accounts.DB()}, nil
}

// kept is a row.
type kept struct {
	client.Job
	owner, print string
	cancel       bool
	seen         int64
}

func (s *store) insert(ctx context.Context, j *job) error {
	key := sql.NullString{String: j.key, Valid: j.key != ""}
	now := j.created.UnixMilli()
	_, err := s.db.ExecContext(ctx, "INSERT INTO jobs (id, kind, account, idem_key, fingerprint, asked, owner, state, cancel, created, "+
		"started, ended, seen, progress, detail, fix, results, cut) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, 0, ?, '[]', '', '', '[]', 0)",
		j.id, j.kind, j.by.Account, key, j.print, string(j.asked), j.owner, client.JobQueued, now, now)
	return err
}

// beat records that a job is alive, and its progress.
func (s *store) beat(ctx context.Context, j *client.Job, started, now int64) error {
	progress, err := json.Marshal(j.Progress)
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, "UPDATE jobs SET state = ?, started = ?, seen = ?, progress = ? WHERE id = ? AND ended = 0",
		j.State, started, now, string(progress), j.ID)
	return err
}

func (s *store) end(ctx context.Context, j *client.Job, started, ended int64) error {
	progress, err1 := json.Marshal(j.Progress)
	results, err2 := json.Marshal(j.Results)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, "UPDATE jobs SET state = ?, started = ?, ended = ?, seen = ?, progress = ?, detail = ?, fix = ?, "+
		"results = ?, cut = ? WHERE id = ?", j.State, started, ended, ended, string(progress), j.Detail, j.Fix, string(results), j.Cut, j.ID)
	return err
}

// cancel asks the process that runs a job to end it.
func (s *store) cancel(ctx context.Context, id string) error {
	_, err := s.db.ExecContext(ctx, "UPDATE jobs SET cancel = 1 WHERE id = ? AND ended = 0", id)
	return err
}

// canceled returns the jobs of an owner whose cancellation is requested.
func (s *store) canceled(ctx context.Context, owner string) (ids []string, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id FROM jobs WHERE owner = ? AND cancel = 1 AND ended = 0", owner)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

const columns = "id, kind, account, fingerprint, asked, owner, state, cancel, created, started, ended, seen, progress, detail, fix, cut"

// get reads a job with its results, or returns sql.ErrNoRows.
func (s *store) get(ctx context.Context, where string, args ...any) (k kept, err error) {
	row := s.db.QueryRowContext(ctx, "SELECT "+columns+", results FROM jobs WHERE "+where, args...)
	var results string
	if err := k.scan(row, &results); err != nil {
		return k, err
	}
	return k, json.Unmarshal([]byte(results), &k.Results)
}

// list reads jobs without their results, newest first, from before the given one.
func (s *store) list(ctx context.Context, before string, most int) (out []kept, err error) {
	where, args := "1 = 1", []any{}
	if before != "" {
		where, args = "id < ?", []any{before}
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM jobs WHERE "+where+" ORDER BY id DESC LIMIT ?", append(args, most)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var k kept
		if err := k.scan(rows); err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, rows.Err()
}

// scan reads the columns.
func (k *kept) scan(from interface{ Scan(into ...any) error }, more ...any) error {
	var asked, progress string
	var created, started, ended int64
	into := append([]any{&k.ID, &k.Kind, &k.Account, &k.print, &asked, &k.owner, &k.State, &k.cancel, &created, &started, &ended, &k.seen,
		&progress, &k.Detail, &k.Fix, &k.Cut}, more...)
	if err := from.Scan(into...); err != nil {
		return err
	}
	k.Asked = json.RawMessage(asked)
	k.Created, k.Started, k.Ended = timeText(created), timeText(started), timeText(ended)
	return json.Unmarshal([]byte(progress), &k.Progress)
}

// timeText formats a database time for answers; 0 is no time.
func timeText(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano)
}

// prune deletes ended jobs beyond the newest keep, and all jobs last heard of before a time.
func (s *store) prune(ctx context.Context, keep int, before int64) error {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM jobs WHERE seen < ?", before); err != nil {
		return err
	}
	var last string
	err := s.db.QueryRowContext(ctx, "SELECT id FROM jobs WHERE ended > 0 ORDER BY id DESC LIMIT 1 OFFSET ?", keep).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = s.db.ExecContext(ctx, "DELETE FROM jobs WHERE ended > 0 AND id <= ?", last)
	}
	return err
}
