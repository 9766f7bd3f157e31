package account

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/tls"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// Dialect is the SQL that the database speaks.
type Dialect string

// The dialects. MariaDB speaks MySQL here.
const (
	SQLite Dialect = "sqlite"
	MySQL  Dialect = "mysql"
)

// Options say where accounts are kept, and for how long a sign-in holds.
type Options struct {
	Connect  string      // embedded:DIR, or mysql://host:port/database
	User     string      // of MySQL
	Password string      // of MySQL
	TLS      *tls.Config // of MySQL; nil: none

	SessionIdle time.Duration // a session that was not used for so long is over; 30 min
	SessionMax  time.Duration // and any is after so long; 12 h

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: slog's own
}

// EnsureDefaults sets what is not set.
func (o *Options) EnsureDefaults() {
	o.SessionIdle = cmp.Or(o.SessionIdle, 30*time.Minute)
	o.SessionMax = cmp.Or(o.SessionMax, 12*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// patience is for one answer of the database.
const patience = 2 * time.Second

// Store is an open database of accounts. It is safe for concurrent use, and several processes may have the same database open.
type Store struct {
	opts    Options
	db      *sql.DB
	folder  *folder // of SQLite
	dialect Dialect
	hasher  *hasher
	dummy   string // what the passwords of nobody are compared with
	audit   *committer[Entry]
	uses    *committer[use]
	fresh   verified
	seal    cipher.AEAD
	changes atomic.Uint64
	forgot  atomic.Int64 // when tries were last forgotten
}

// Open opens the database, and brings its tables up to date.
func Open(ctx context.Context, opts Options) (*Store, error) {
	opts.EnsureDefaults()
	s := &Store{opts: opts, hasher: newHasher()}
	var err error
	if dir, embedded := strings.CutPrefix(opts.Connect, "embedded:"); embedded {
		s.dialect = SQLite
		s.folder, s.db, err = openFolder(ctx, dir)
	} else {
		s.dialect = MySQL
		s.db, err = openMySQL(&opts)
	}
	if err != nil {
		return nil, fmt.Errorf("accounts.connect: %w", err)
	}
	if err := s.Migrate(ctx, migrations, "accounts_versions"); err != nil {
		return nil, errors.Join(fmt.Errorf("accounts.connect: %w", s.damaged(err)), s.closeDB())
	}
	if s.dummy, err = s.hasher.hash(ctx, "nobody's password, which nobody has"); err != nil {
		return nil, errors.Join(err, s.closeDB())
	}
	if s.seal, err = s.sealer(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("accounts.connect: %w", s.damaged(err)), s.closeDB())
	}
	s.audit, s.uses = newCommitter(s.writeEntries), newCommitter(s.writeUses)
	return s, nil
}

// Close ends the store, after what was handed to Audit.
func (s *Store) Close() error {
	s.audit.close()
	s.uses.close()
	return s.closeDB()
}

func (s *Store) closeDB() error {
	if s.folder != nil {
		return s.folder.close(s.db)
	}
	return s.db.Close()
}

// Changes moves on whenever this Store may have ended somebody's session or token, or changed an account: who knows an identity for a while
// asks again then. What others do to the database does not move it.
func (s *Store) Changes() uint64 { return s.changes.Load() }

// changing moves Changes on once something was tried: after an error it may have been done.
func (s *Store) changing() { s.changes.Add(1) }

// damaged returns what the database says as a damage, if it is one of a file of ours.
func (s *Store) damaged(err error) error {
	if s.folder != nil {
		return s.folder.damaged(err)
	}
	return err
}

// DB is the database, for what other packages keep beside the accounts.
func (s *Store) DB() *sql.DB { return s.db }

// Dialect is what the database speaks.
func (s *Store) Dialect() Dialect { return s.dialect }

func openMySQL(o *Options) (*sql.DB, error) {
	u, err := url.Parse(o.Connect)
	if err != nil || u.Scheme != "mysql" || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("is neither embedded:DIR nor mysql://host:port/database")
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306")), strings.Trim(u.Path, "/")
	c.User, c.Passwd = o.User, o.Password
	c.Timeout, c.ReadTimeout, c.WriteTimeout = patience, 5*patience, 5*patience
	c.ParseTime, c.Loc, c.Collation = true, time.UTC, "utf8mb4_bin"
	c.TLS = o.TLS
	c.AllowCleartextPasswords = false
	c.Logger = &mysql.NopLogger{} // what goes wrong is returned
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(32)
	db.SetMaxIdleConns(8)
	db.SetConnMaxLifetime(5 * time.Minute)
	return db, nil
}

//go:embed migrations
var migrations embed.FS

// Migrate brings tables up to date: files has a folder migrations/DIALECT for each dialect, and versions names the table that remembers
// which of them have run. Processes that start at the same time wait for each other.
func (s *Store) Migrate(ctx context.Context, files fs.FS, versions string) error {
	folder, err := fs.Sub(files, "migrations/"+string(s.dialect))
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	dialect := map[Dialect]database.Dialect{SQLite: database.DialectSQLite3, MySQL: database.DialectMySQL}[s.dialect]
	kept, err := database.NewStore(dialect, versions)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider("", s.db, folder, goose.WithStore(kept), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// lock keeps other processes from migrating.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if s.dialect == SQLite {
		return lockFolder(ctx, s.folder.path(lockFile))
	}
	c, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var got sql.NullInt64
	err = c.QueryRowContext(ctx, "SELECT GET_LOCK('brine_migrations', 60)").Scan(&got)
	if err == nil && got.Int64 != 1 {
		err = errors.New("another process has been changing its tables for a minute")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return func() {
		_, _ = c.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK('brine_migrations')") // or it goes with the connection
		_ = c.Close()                                                                           // the pool makes another
	}, nil
}

// ms is a time as it is stored.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func (s *Store) now() int64 { return s.opts.Now().UnixMilli() }
