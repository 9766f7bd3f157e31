package testenv

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// Database is a database that migrations can be applied to, such as *account.Store.
type Database interface {
	DB() *sql.DB
	Migrate(ctx context.Context, files fs.FS, versions string) error
}

// UpgradesOnBoth runs Upgrades on a new embedded database and on a new MariaDB, for migrations of both dialects. open opens the database at
// connect without applying migrations.
func UpgradesOnBoth(t *testing.T, files fs.FS, versions string, open func(t *testing.T, connect string) Database) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		Upgrades(t, files, "sqlite", versions, func(t *testing.T) Database {
			return open(t, "embedded:"+filepath.Join(t.TempDir(), "accounts"))
		})
	})
	t.Run("MariaDB", func(t *testing.T) {
		server := StartMariaDB(t)
		Upgrades(t, files, "mysql", versions, func(t *testing.T) Database { return open(t, "mysql://"+server.Addr+"/"+server.Create()) })
	})
}

// Upgrades tests migrations, in the form that account.Store.Migrate takes: they must lead to the newest version from each older one and
// from none, and every existing row of every table must be unchanged afterwards. In a dialect without transactional migrations, such as
// MySQL, that must also be true if a process died between two of their statements. open returns a database without them.
func Upgrades(t *testing.T, files fs.FS, dialect, versions string, open func(*testing.T) Database) {
	t.Helper()
	folder := "migrations/" + dialect
	list, err := fs.ReadDir(files, folder)
	if err != nil || len(list) == 0 {
		t.Fatalf("there are no migrations in %s: %v", folder, err)
	}
	until := func(n int) fs.FS {
		out := fstest.MapFS{}
		for _, f := range list[:n] {
			text, err := fs.ReadFile(files, folder+"/"+f.Name())
			if err != nil {
				t.Fatal(err)
			}
			out[folder+"/"+f.Name()] = &fstest.MapFile{Data: text}
		}
		return out
	}
	for n, f := range list {
		t.Run("before "+f.Name(), func(t *testing.T) {
			u := &upgrade{t: t, db: open(t), dialect: dialect}
			if n > 0 {
				u.migrate(until(n), versions)
			}
			u.keeps(files, versions)
		})
		if dialect != "mysql" {
			continue
		}
		text, err := fs.ReadFile(files, folder+"/"+f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for i := range statements(string(text)) {
			t.Run(fmt.Sprintf("died in %s behind statement %d", f.Name(), i+1), func(t *testing.T) {
				u := &upgrade{t: t, db: open(t), dialect: dialect}
				if n > 0 {
					u.migrate(until(n), versions)
				}
				for _, s := range statements(string(text))[:i+1] {
					u.exec(s)
				}
				u.keeps(files, versions)
			})
		}
	}
}

// statements returns the statements of a migration's up part.
func statements(text string) (out []string) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	up = regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(up, "")
	for _, s := range strings.Split(up, ";") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// upgrade is one database that is being upgraded.
type upgrade struct {
	t       *testing.T
	db      Database
	dialect string
}

func (u *upgrade) migrate(files fs.FS, versions string) {
	u.t.Helper()
	if err := u.db.Migrate(u.t.Context(), files, versions); err != nil {
		u.t.Fatal(err)
	}
}

func (u *upgrade) exec(statement string, args ...any) {
	u.t.Helper()
	if _, err := u.db.DB().ExecContext(u.t.Context(), statement, args...); err != nil {
		u.t.Fatalf("%s: %v", statement, err)
	}
}

// keeps fills the existing tables, migrates, and checks the rows.
func (u *upgrade) keeps(files fs.FS, versions string) {
	u.t.Helper()
	before := map[string]map[string]string{}
	for _, table := range u.tables() {
		if !strings.HasSuffix(table, "_versions") { // other than goose's own tables
			u.fill(table)
			before[table] = u.row(table)
		}
	}
	u.migrate(files, versions)
	u.migrate(files, versions) // there is nothing left to do
	for table, want := range before {
		got := u.row(table)
		for column, value := range want {
			if got[column] != value {
				u.t.Errorf("%s.%s was %q, and is %q", table, column, value, got[column])
			}
		}
	}
	for _, table := range u.tables() { // the newest version must accept rows, too
		if before[table] == nil && !strings.HasSuffix(table, "_versions") {
			u.fill(table)
			before[table] = u.row(table)
		}
	}
	if len(before) == 0 {
		u.t.Error("the migrations made no table")
	}
	u.t.Logf("%d tables", len(before))
}

func (u *upgrade) tables() (out []string) {
	u.t.Helper()
	list := map[string]string{"sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid",
		"mysql": "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name"}[u.dialect]
	rows, err := u.db.DB().QueryContext(u.t.Context(), list)
	if err != nil {
		u.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			u.t.Fatal(err)
		}
		out = append(out, name)
	}
	if err := rows.Err(); err != nil {
		u.t.Fatal(err)
	}
	return out
}

// fill inserts a row into an empty table. Numbers are 1, so that references to other tables refer to their rows.
func (u *upgrade) fill(table string) {
	u.t.Helper()
	names, types, rows := u.read(table)
	if len(rows) > 0 { // created when the database was opened
		return
	}
	var marks []string
	var values []any
	for i, kind := range types {
		marks = append(marks, "?")
		switch {
		case strings.Contains(kind, "INT"):
			values = append(values, 1)
		case strings.Contains(kind, "BLOB") || strings.Contains(kind, "BINARY"):
			values = append(values, []byte(strings.Repeat("\x00\xff", 16)))
		default:
			values = append(values, "it's "+names[i][:1])
		}
	}
	ctx := u.t.Context()
	c, err := u.db.DB().Conn(ctx) // without checks of references to other tables
	if err != nil {
		u.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	checks := map[string][2]string{"sqlite": {"PRAGMA foreign_keys = 0", "PRAGMA foreign_keys = 1"},
		"mysql": {"SET FOREIGN_KEY_CHECKS = 0", "SET FOREIGN_KEY_CHECKS = 1"}}[u.dialect]
	insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(marks, ", "))
	for _, s := range []struct {
		text string
		args []any
	}{{checks[0], nil}, {insert, values}, {checks[1], nil}} {
		if _, err := c.ExecContext(ctx, s.text, s.args...); err != nil {
			u.t.Fatalf("%s: %v", s.text, err)
		}
	}
}

// row returns the only row of a table, as text.
func (u *upgrade) row(table string) map[string]string {
	u.t.Helper()
	names, _, rows := u.read(table)
	if len(rows) != 1 {
		u.t.Errorf("%s has %d rows, not 1", table, len(rows))
		return nil
	}
	out := map[string]string{}
	for i, name := range names {
		out[name] = rows[0][i].String
	}
	return out
}

// read returns a whole table: its columns, their types in the database, and its rows.
func (u *upgrade) read(table string) (names, types []string, all [][]sql.NullString) {
	u.t.Helper()
	rows, err := u.db.DB().QueryContext(u.t.Context(), "SELECT * FROM "+table)
	if err != nil {
		u.t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		u.t.Fatal(err)
	}
	for _, c := range columns {
		names, types = append(names, c.Name()), append(types, strings.ToUpper(c.DatabaseTypeName()))
	}
	for rows.Next() {
		row, at := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			u.t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		u.t.Fatal(err)
	}
	return names, types, all
}
