package account

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"brine/internal/datadir"
)

// ErrDamaged is returned by Open for a folder whose database is not what was written. The error names the file.
var ErrDamaged = datadir.ErrDamaged

// The files in the folder of embedded:DIR, apart from SQLite's own and datadir's inventory.
const (
	file     = "accounts.db"
	walFile  = file + "-wal"
	lockFile = "LOCK" // locked while the database is opened, closed or migrated
	openFile = "OPEN" // locked, shared, by each process that has the database open; it holds an extent while SQLite's log must exist
)

// folderLayout is what the inventory of a closed folder lists.
var folderLayout = datadir.Layout{file}

// folder is the folder of embedded:DIR. A process that opens it while nobody else has it open checks it, because SQLite takes a missing
// file for a new database, and the first frame of its log that it cannot read for the log's end.
type folder struct {
	dir  string
	open *os.File
	log  *os.File // SQLite's, if it has one
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// openFolder opens the database of a folder, and creates the folder if there is none; waits is as for lockFolder.
func openFolder(ctx context.Context, dir string, waits func(time.Duration)) (_ *folder, db *sql.DB, err error) {
	if dir == "" {
		return nil, nil, errors.New("embedded: names no folder; write embedded:./data/accounts")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	f := &folder{dir: dir}
	unlock, err := lockFolder(ctx, f.path(lockFile), waits)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	if err := f.take(ctx); err != nil {
		return nil, nil, err
	}
	n := &noter{to: f.open}
	db = openSQLite(f.path(file), n)
	if err := f.begin(ctx, db, n); err != nil {
		return nil, nil, errors.Join(err, db.Close(), f.open.Close())
	}
	return f, db, nil
}

// take creates the database's file if there is none, locks the folder as open, and checks it if nobody else has it open. It leaves a
// damaged folder as it is.
func (f *folder) take(ctx context.Context) error {
	_, errOpen := os.Stat(f.path(openFile))
	info, err := os.Stat(f.path(file))
	switch {
	case errors.Is(err, fs.ErrNotExist) && errOpen == nil:
		return datadir.Damaged(f.path(file), "it is missing")
	case errors.Is(err, fs.ErrNotExist): // SQLite would make it readable to others; its log gets the same mode
		if err = os.WriteFile(f.path(file), nil, 0o600); err == nil {
			info, err = os.Stat(f.path(file))
		}
	}
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is accessible to others than its owner; chmod 600 it", f.path(file))
	}
	if f.open, err = os.OpenFile(f.path(openFile), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	alone, err := f.alone()
	if err == nil && alone {
		err = f.check(ctx, info.Size())
	}
	if err == nil {
		err = syscall.Flock(int(f.open.Fd()), syscall.LOCK_SH)
	}
	if err != nil {
		return errors.Join(err, f.open.Close())
	}
	return nil
}

// alone reports whether nobody else has the database open. If so, nobody can open it until the lock file is unlocked.
func (f *folder) alone() (bool, error) {
	err := syscall.Flock(int(f.open.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// check compares the database with the inventory. If the folder was not closed in order, check looks whether the files from which SQLite
// continues exist and are whole.
func (f *folder) check(ctx context.Context, size int64) error {
	if sealed, err := datadir.Unseal(f.dir); sealed || err != nil {
		return err
	}
	mark, err := os.ReadFile(f.path(openFile))
	if err != nil {
		return err
	}
	if strings.HasPrefix(string(mark), begun) {
		if size == 0 {
			return datadir.Damaged(f.path(file), "it is empty")
		}
		if _, err := os.Stat(f.path(walFile)); errors.Is(err, fs.ErrNotExist) {
			return datadir.Damaged(f.path(walFile), "it is missing; it has the latest commits")
		}
	}
	if err := checkLog(f.path(walFile), decodeExtent(mark)); err != nil || size == 0 {
		return err
	}
	return f.checkPages(ctx)
}

// checkPages reads the whole database. It writes nothing, whereas an open for writing would move the log into the pages on close.
func (f *folder) checkPages(ctx context.Context) (err error) {
	db, err := readOnly(f.path(file), "0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return f.damaged(err)
	}
	if found != "ok" {
		return datadir.Damaged(f.path(file), "%s", strings.ReplaceAll(found, "\n", ": "))
	}
	return nil
}

// begin opens SQLite's log, and records that it must exist.
func (f *folder) begin(ctx context.Context, db *sql.DB, n *noter) (err error) {
	if _, err := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_master"); err != nil { // the first read opens the log
		return f.damaged(err)
	}
	if f.log, err = os.Open(f.path(walFile)); errors.Is(err, fs.ErrNotExist) { // there is none where files cannot be shared in memory
		return nil
	} else if err != nil {
		return err
	}
	return n.begin(f.log)
}

// damaged wraps an error of SQLite as damage, if it means that a file is damaged.
func (f *folder) damaged(err error) error {
	if is, ok := errors.AsType[*sqlite.Error](err); ok {
		switch is.Code() & 0xff {
		case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
			return datadir.Damaged(f.path(file), "SQLite says: %v", err)
		}
	}
	return err
}

// close closes the database, and writes the folder's inventory if nobody else has it open.
func (f *folder) close(db *sql.DB) (err error) {
	defer func() {
		// A child that is being started has a copy of the open file, and with it the lock, until it executes its program.
		err = errors.Join(err, syscall.Flock(int(f.open.Fd()), syscall.LOCK_UN), f.open.Close())
		if f.log != nil {
			err = errors.Join(err, f.log.Close())
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := lockFolder(ctx, f.path(lockFile), nil)
	if err != nil { // the next process that opens it reads all of it
		return db.Close()
	}
	defer unlock()
	alone, err := f.alone()
	if err != nil || !alone {
		return errors.Join(err, db.Close())
	}
	if err := f.open.Truncate(0); err != nil { // SQLite removes its log next
		return errors.Join(err, db.Close())
	}
	if err := db.Close(); err != nil {
		return err
	}
	if _, err := os.Stat(f.path(walFile)); err == nil { // another program has the database open
		return nil
	}
	return folderLayout.Seal(f.dir)
}

// openSQLite opens a database whose commits are reported to n.
func openSQLite(path string, n *noter) *sql.DB {
	c := &connector{dsn: uri(path, url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)", "synchronous(FULL)"}, "_txlock": {"immediate"}})}
	c.driver.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		conn.(sqlite.HookRegisterer).RegisterCommitHook(n.note) // the driver's connections take hooks
		return nil
	})
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(16) // each has a page cache
	db.SetMaxIdleConns(16)
	return db
}

// connector makes the connections of one database.
type connector struct {
	driver sqlite.Driver
	dsn    string
}

func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c *connector) Driver() driver.Driver                        { return &c.driver }

// readOnly opens a database without changing it. If immutable is "1" it ignores the database's log and locks, if "0" it respects them.
func readOnly(path, immutable string) (*sql.DB, error) {
	return sql.Open("sqlite", uri(path, url.Values{"mode": {"ro"}, "immutable": {immutable}}))
}

func uri(path string, query url.Values) string {
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}
	return dsn.String()
}
