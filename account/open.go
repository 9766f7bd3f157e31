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

	"brine/internal/certs"
)

// Dialect is the SQL dialect of the database.
type Dialect string

// The dialects. MariaDB counts as MySQL here.
const (
	SQLite Dialect = "sqlite"
	MySQL  Dialect = "mysql"
)

// Options configure where accounts are stored, and how long a session lasts.
type Options struct {
	Connect  string             // embedded:DIR, or mysql://host:port/database
	User     string             // of MySQL
	Password func() string      // of MySQL, called for each connection; nil: none
	TLS      func() *tls.Config // of MySQL, called for each connection; nil: not encrypted

	SessionIdle time.Duration // a session that is unused for this long ends; 30 min
	SessionMax  time.Duration // longest life of a session; 12 h

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: slog's default
}

// EnsureDefaults sets unset options to their defaults.
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

// patience is the timeout for one answer of the database.
const patience = 2 * time.Second

// Store is an open database of accounts. It is safe for concurrent use, and several processes may have the same database open.
type Store struct {
	opts    Options
	db      *sql.DB
	folder  *folder       // for SQLite
	writer  chan struct{} // for SQLite, full while a transaction of inTx runs: SQLite has one writer, and serves those that wait in no order
	dialect Dialect
	hasher  *hasher
	dummy   string // hash against which the passwords of unknown accounts are checked
	audit   *committer[Entry]
	uses    *committer[use]
	fresh   verified
	seal    cipher.AEAD
	changes atomic.Uint64
	forgot  atomic.Int64 // when tries were last deleted
}

// Open opens the database, and migrates its tables.
func Open(ctx context.Context, opts Options) (*Store, error) {
	opts.EnsureDefaults()
	s := &Store{opts: opts, hasher: newHasher()}
	var err error
	if dir, embedded := strings.CutPrefix(opts.Connect, "embedded:"); embedded {
		s.dialect, s.writer = SQLite, make(chan struct{}, 1)
		s.folder, s.db, err = openFolder(ctx, dir, s.waits)
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

// Close closes the store after committing what was passed to Audit.
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

// Changes returns a number that grows whenever this Store may have ended a session or token, or changed an account. A caller that caches an
// identity must look it up again then. What other processes do to the database does not change the number.
func (s *Store) Changes() uint64 { return s.changes.Load() }

// changing increments Changes after an attempt: even after an error, the change may have been made.
func (s *Store) changing() { s.changes.Add(1) }

// damaged wraps an error of the database as damage, if it means that one of our files is damaged.
func (s *Store) damaged(err error) error {
	if s.folder != nil {
		return s.folder.damaged(err)
	}
	return err
}

// DB returns the database, for what other packages store next to the accounts.
func (s *Store) DB() *sql.DB { return s.db }

// Dialect returns the database's dialect.
func (s *Store) Dialect() Dialect { return s.dialect }

func openMySQL(o *Options) (*sql.DB, error) {
	u, err := url.Parse(o.Connect)
	if err != nil || u.Scheme != "mysql" || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("is not embedded:DIR or mysql://host:port/database")
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306")), strings.Trim(u.Path, "/")
	c.User = o.User
	c.Timeout, c.ReadTimeout, c.WriteTimeout = patience, 5*patience, 5*patience
	c.ParseTime, c.Loc, c.Collation = true, time.UTC, "utf8mb4_bin"
	c.AllowCleartextPasswords = false
	c.Logger = &mysql.NopLogger{} // errors are returned
	err = c.Apply(mysql.BeforeConnect(func(_ context.Context, c *mysql.Config) error {
		if o.Password != nil {
			c.Passwd = o.Password()
		}
		if o.TLS != nil {
			c.TLS = certs.For(o.TLS(), c.Addr)
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
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

// Migrate migrates tables: files has a folder migrations/DIALECT for each dialect, and versions names the table that records which
// migrations have run. Processes that start at the same time wait for each other.
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

// The lock of the tables, if another process has it.
const (
	lockTry  = 3 * time.Second // wait per question to the database: less than its timeout, and messages are as far apart
	lockWait = time.Minute     // longest wait for the lock of a database
)

// lockName is an expression for the name of a database's lock. Names hold for the whole server, and have at most 64 characters.
const lockName = "CONCAT('brine_', SHA2(DATABASE(), 224))"

// lock keeps other processes from migrating.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if s.dialect == SQLite {
		return lockFolder(ctx, s.folder.path(lockFile), s.waits)
	}
	c, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.lockTables(ctx, c, lockWait); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return func() {
		_, _ = c.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK("+lockName+")") // else it is released with the connection
		_ = c.Close()                                                                     // the pool opens another
	}, nil
}

// lockTables takes the lock of MySQL for a connection. It waits for about most.
func (s *Store) lockTables(ctx context.Context, c *sql.Conn, most time.Duration) error {
	try := 0 * time.Second
	for began := time.Now(); ; try = lockTry {
		var got, holder sql.NullInt64
		err := c.QueryRowContext(ctx, "SELECT GET_LOCK("+lockName+", ?), IS_USED_LOCK("+lockName+")", int(try.Seconds())).Scan(&got, &holder)
		waited := time.Since(began).Round(time.Second)
		switch {
		case err != nil:
			return err
		case got.Int64 == 1:
			return nil
		case waited >= most:
			return fmt.Errorf("another process has been changing the tables for %v: wait until it has started, or end it; "+
				"SHOW PROCESSLIST has it as connection %d", waited, holder.Int64)
		}
		s.waits(waited)
	}
}

// waits says that another process has the lock of the tables.
func (s *Store) waits(waited time.Duration) {
	s.opts.Log.Info("waiting for another process that is changing the tables of accounts.connect", "waited", waited)
}

// ms returns a time as it is stored.
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
