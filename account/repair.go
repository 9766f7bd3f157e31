package account

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrInUse is returned by Repair while a process has the database open.
var ErrInUse = errors.New("another process has the accounts open")

// Damaged describes a database that Repair moved aside.
type Damaged struct {
	Err  error    // names the file
	Lost []string // its contents, as far as they can be read
}

// Repair moves a folder of embedded:DIR whose database is damaged to aside, which must not exist. It saves nothing of it: data that may
// have been changed must not decide who somebody is, or what they may do. It returns nil if nothing is damaged.
func Repair(ctx context.Context, dir, aside string) (*Damaged, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	f := &folder{dir: dir}
	if open, err := os.OpenFile(f.path(openFile), os.O_RDWR, 0o600); err == nil {
		f.open = open
		alone, err := f.alone()
		if err = errors.Join(err, open.Close()); err != nil {
			return nil, err
		}
		if !alone {
			return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
		}
	}
	f, db, err := openFolder(ctx, dir, nil)
	if err == nil {
		return nil, f.close(db)
	}
	if !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	if err := os.Rename(dir, aside); err != nil {
		return nil, err
	}
	return &Damaged{err, contents(ctx, filepath.Join(aside, file))}, nil
}

// contents returns the number of rows in each table of a damaged database, as far as they can be read. It changes nothing.
func contents(ctx context.Context, path string) (lost []string) {
	db, err := readOnly(path, "1")
	if err != nil {
		return unreadable
	}
	defer func() { _ = db.Close() }() // it was only read
	tables, err := db.QueryContext(ctx,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_versions' ORDER BY name")
	if err != nil {
		return unreadable
	}
	var names []string
	for tables.Next() {
		var name string
		if err = tables.Scan(&name); err != nil {
			break
		}
		names = append(names, name)
	}
	if err = errors.Join(err, tables.Err(), tables.Close()); err != nil || len(names) == 0 {
		return unreadable
	}
	for _, name := range names {
		var rows int64
		quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+quoted).Scan(&rows); err != nil {
			lost = append(lost, "the rows of table "+name+", which cannot be counted")
			continue
		}
		if rows > 0 {
			lost = append(lost, fmt.Sprintf("%d rows of table %s", rows, name))
		}
	}
	return lost
}

// unreadable is the contents of a database of which nothing can be read.
var unreadable = []string{"an unknown number of accounts, sessions, API tokens, audit entries, unpublished commands and jobs"}
