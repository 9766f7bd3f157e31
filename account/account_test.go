package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"brine/internal/testenv"
)

const goodPassword = "harbour violin teapot quilt"

// tested returns a store in its own folder.
func tested(t *testing.T) (*Store, *testenv.Clock) {
	t.Helper()
	return testedAt(t, Options{Connect: "embedded:" + filepath.Join(t.TempDir(), "accounts")})
}

func testedAt(t *testing.T, o Options) (*Store, *testenv.Clock) {
	t.Helper()
	c := testenv.NewClock(time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC))
	o.Now = c.Now
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

func (s *Store) mustAdd(t *testing.T, name, owner string, role Role) Account {
	t.Helper()
	a, err := s.Add(t.Context(), name, owner, role, goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTransactionsWaitTheirTurn: SQLite's own waiting ends after 5 s and lets anybody in first, so that under load some never got in.
func TestTransactionsWaitTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := tested(t)
		a := s.mustAdd(t, "ada", "7", Customer)
		release, held := make(chan struct{}), make(chan struct{})
		var all errgroup.Group
		all.Go(func() error {
			return s.inTx(t.Context(), func(*sql.Tx) error {
				close(held)
				<-release
				return nil
			})
		})
		<-held
		for range 20 {
			all.Go(func() error {
				_, err := s.Begin(t.Context(), a)
				return err
			})
		}
		time.Sleep(time.Minute)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Begin(short, a); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that waits a second: %v", err)
		}
		close(release)
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestStore runs everything that depends on the database on SQLite; TestMariaDB runs it on a real MariaDB.
func TestStore(t *testing.T) {
	for name, do := range onBoth {
		t.Run(name, func(t *testing.T) {
			s, c := tested(t)
			do(t, s, c)
		})
	}
}

var onBoth = map[string]func(*testing.T, *Store, *testenv.Clock){
	"accounts": testAccounts, "sign in": testSignIn, "pauses": testPauses, "pauses at once": testPausesAtOnce, "sessions": testSessions,
	"tokens": testTokens, "audit": testAudit, "imported": testImported, "import": testImportAll, "import in groups": testImportGroups, "own password": testOwnPassword, "roles": testRolesFollow, "last administrator": testLastAdministrator,
}

func testAccounts(t *testing.T, s *Store, _ *testenv.Clock) {
	ctx := t.Context()
	s.mustAdd(t, "Zoë", "u1", Customer)
	if _, err := s.Add(ctx, "ＺＯË", "u2", Customer, goodPassword); !errors.Is(err, ErrTaken) {
		t.Errorf("a name of another width and case: %v", err)
	}
	s.mustAdd(t, "admin", "", Admin)
	for _, c := range []struct {
		name, owner string
		role        Role
		password    string
		arg         string
	}{
		{"", "u", Customer, goodPassword, "name"}, {"a b", "u", Customer, goodPassword, "name"}, {"a\u200bb", "u", Customer, goodPassword, "name"},
		{"<img>", "u", Customer, goodPassword, "name"}, {strings.Repeat("n", 191), "u", Customer, goodPassword, "name"},
		{"n", "", Customer, goodPassword, "owner"}, {"n", "u", "root", goodPassword, "role"}, {"n", "u", "", goodPassword, "role"},
		{"n", "u", Customer, "short", "password"},
	} {
		_, err := s.Add(ctx, c.name, c.owner, c.role, c.password)
		if rule, ok := errors.AsType[*RuleError](err); !ok || rule.Arg != c.arg || strings.Contains(err.Error(), goodPassword) {
			t.Errorf("%q %q %q: %v", c.name, c.owner, c.role, err)
		}
	}
	list, err := s.List(ctx, "", 10)
	if err != nil || len(list) != 2 || list[0].Name != "admin" || list[1].Name != "zoë" || list[1].Owner != "u1" || !list[1].Enabled {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = s.List(ctx, "admin", 10); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.Change(ctx, "nobody", Change{}); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.Change(ctx, "zoë", Change{Owner: new(string)}); err == nil {
		t.Error("a customer without an owner's value")
	}
	if err := s.Migrate(ctx, migrations, "accounts_versions"); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func testSignIn(t *testing.T, s *Store, _ *testenv.Clock) {
	ctx := t.Context()
	s.mustAdd(t, "zoë", "u1", Customer)
	s.mustAdd(t, "gone", "u2", Customer)
	off := false
	if _, err := s.Change(ctx, "gone", Change{Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Check(ctx, "ZOË", goodPassword, "a"); err != nil || a.Name != "zoë" || a.Owner != "u1" {
		t.Errorf("%+v, %v", a, err)
	}
	var said []string
	for _, c := range [][2]string{{"zoë", goodPassword + "!"}, {"zoë", ""}, {"nobody", goodPassword}, {"gone", goodPassword}, {"", goodPassword},
		{"a b", goodPassword}, {"zoë' OR 1=1 --", goodPassword}, {"zoë", strings.Repeat("x", 1<<20)}, {"nobody", "nobody's password, which nobody has"}} {
		_, err := s.Check(ctx, c[0], c[1], "a")
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", c[0], err)
			continue
		}
		said = append(said, err.Error())
	}
	for _, text := range said {
		if text != said[0] {
			t.Errorf("the answers differ: %q", said)
		}
	}
}

func testPauses(t *testing.T, s *Store, c *testenv.Clock) {
	ctx := t.Context()
	s.mustAdd(t, "zoë", "u1", Customer)
	wrong := func(name, address string) error { _, err := s.Check(ctx, name, "wrong", address); return err }
	for _, name := range []string{"zoë", "nobody"} {
		for i := range freeOfAccount + 1 {
			if err := wrong(name, fmt.Sprint(name, i)); !errors.Is(err, ErrRefused) {
				t.Fatalf("%s, try %d: %v", name, i, err)
			}
		}
		d, ok := errors.AsType[*Delay](wrong(name, "other"))
		if !ok || d.Until.Sub(c.Now()) != time.Second {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if _, err := s.Check(ctx, "zoë", goodPassword, "b"); err == nil {
		t.Error("signed in during a pause")
	}
	for range 20 { // it grows, but not beyond what an owner can wait
		c.Pass(pauseOfAccount)
		if err := wrong("zoë", "c"); !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
	}
	if d, ok := errors.AsType[*Delay](wrong("zoë", "d")); !ok || d.Until.Sub(c.Now()) != pauseOfAccount {
		t.Errorf("%+v", d)
	}
	c.Pass(pauseOfAccount)
	if _, err := s.Check(ctx, "zoë", goodPassword, "e"); err != nil {
		t.Errorf("after the pause: %v", err)
	}
	if err := wrong("zoë", "e"); !errors.Is(err, ErrRefused) {
		t.Errorf("a sign-in forgets: %v", err)
	}
	// An address that guesses names waits longer, and having an account does not help it.
	c.Pass(forgotten)
	paused := 0
	for i := range 60 {
		if _, ok := errors.AsType[*Delay](wrong(fmt.Sprint("name", i), "bad")); ok {
			paused++
		}
		if i%3 == 0 {
			_, _ = s.Check(ctx, "zoë", goodPassword, "bad")
		}
	}
	if paused < 30 {
		t.Errorf("only %d of 60 tries were refused", paused)
	}
}

// testPausesAtOnce checks that concurrent tries cannot evade the count.
func testPausesAtOnce(t *testing.T, s *Store, _ *testenv.Clock) {
	var mu sync.Mutex
	looked, away := 0, 0
	var g sync.WaitGroup
	for i := range 40 {
		g.Go(func() {
			err := ErrBusy
			for errors.Is(err, ErrBusy) { // before it is counted
				_, err = s.Check(t.Context(), "zoë", "wrong", fmt.Sprint("address", i))
			}
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, ErrRefused) {
				looked++
			} else if errors.Is(err, mysql.ErrInvalidConn) { // 40 at once wait for one row, on a busy machine for longer than the store does
				away++
			} else if _, ok := errors.AsType[*Delay](err); !ok {
				t.Error(err)
			}
		})
	}
	g.Wait()
	if want := freeOfAccount + 1; looked > want || looked < want-away {
		t.Errorf("%d tries were looked at, want %d; the database was away for %d", looked, want, away)
	}
}

func testSessions(t *testing.T, s *Store, c *testenv.Clock) {
	ctx := t.Context()
	a := s.mustAdd(t, "zoë", "u1", Customer)
	begin := func() string {
		a, err := s.Get(ctx, "zoë")
		if err != nil {
			t.Fatal(err)
		}
		token, err := s.Begin(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	valid := func(token string) bool {
		id, err := s.Session(ctx, token)
		if err != nil && !errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
		return err == nil && id.Account.Name == "zoë" && id.Role == Customer && !id.Stale
	}
	one, two := begin(), begin()
	if !valid(one) || !valid(two) || valid("") || valid("x") || valid(strings.ToUpper(one)) {
		t.Error("sessions are not told apart")
	}
	if err := s.End(ctx, one); err != nil || valid(one) || !valid(two) {
		t.Errorf("ended: %v", err)
	}
	c.Pass(s.opts.SessionIdle - time.Second)
	if !valid(two) {
		t.Error("over before it was idle for long")
	}
	c.Pass(s.opts.SessionIdle - time.Second)
	if !valid(two) {
		t.Error("its use is not counted")
	}
	c.Pass(s.opts.SessionIdle)
	if valid(two) {
		t.Error("idle, and not over")
	}
	three := begin()
	for range int(s.opts.SessionMax/(20*time.Minute)) - 1 {
		if c.Pass(20 * time.Minute); !valid(three) {
			t.Fatal("over before its time")
		}
	}
	if c.Pass(20 * time.Minute); valid(three) {
		t.Error("used, and not over after the longest time")
	}
	four := begin()
	c.Pass(time.Millisecond)
	off, on := false, true
	if _, err := s.Change(ctx, "zoë", Change{Enabled: &off}); err != nil || valid(four) {
		t.Errorf("disabled: %v", err)
	}
	if _, err := s.Change(ctx, "zoë", Change{Enabled: &on}); err != nil || valid(four) {
		t.Errorf("enabled again, an old session lives: %v", err)
	}
	if _, err := s.Begin(ctx, a); !errors.Is(err, ErrRefused) {
		t.Errorf("of an account that was changed since its password was checked: %v", err)
	}
	five := begin()
	if err := s.SetPassword(ctx, "zoë", goodPassword+"2"); err != nil || valid(five) {
		t.Errorf("another password: %v", err)
	}
	for range maxSessions + 5 {
		c.Pass(time.Second)
		begin()
	}
	var n int
	if err := s.db.QueryRow("SELECT COUNT(*) FROM sessions").Scan(&n); err != nil || n != maxSessions {
		t.Errorf("%d sessions are kept: %v", n, err)
	}
}

func testTokens(t *testing.T, s *Store, c *testenv.Clock) {
	ctx := t.Context()
	a := s.mustAdd(t, "op", "", Operator)
	other := s.mustAdd(t, "zoë", "u1", Customer)
	text, token, err := s.NewToken(ctx, a, "ci", Support, c.Now().Add(time.Hour))
	if err != nil || !strings.HasPrefix(text, "brine_") || len(text) != len("brine_")+43 {
		t.Fatal(text, err)
	}
	id, err := s.Bearer(ctx, text)
	if err != nil || id.Account.Name != "op" || id.Role != Support || id.Token != token.ID {
		t.Errorf("%+v, %v", id, err)
	}
	for _, bad := range []string{"", "brine_", text + "x", strings.TrimPrefix(text, "brine_"), "brine_" + strings.ToUpper(text[6:])} {
		if _, err := s.Bearer(ctx, bad); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []struct {
		name string
		role Role
		at   time.Time
	}{{"", Customer, c.Now().Add(1)}, {"n", Admin, c.Now().Add(time.Hour)}, {"n", "", c.Now().Add(time.Hour)}, {"n", "root", c.Now().Add(time.Hour)},
		{"n", Customer, c.Now()}, {"n", Customer, c.Now().Add(400 * 24 * time.Hour)}} {
		if _, _, err := s.NewToken(ctx, a, bad.name, bad.role, bad.at); err == nil {
			t.Errorf("%+v is made", bad)
		}
	}
	list, err := s.Tokens(ctx, a)
	if err != nil || len(list) != 1 || list[0].Used.IsZero() || list[0].Role != Support {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.Revoke(ctx, other, token.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("another's: %v", err)
	}
	c.Pass(time.Hour)
	if _, err := s.Bearer(ctx, text); !errors.Is(err, ErrUnknown) {
		t.Errorf("expired: %v", err)
	}
	if err := s.Revoke(ctx, a, token.ID); err != nil {
		t.Error(err)
	}
	// Neither a token nor a password is stored.
	if _, _, err = s.NewToken(ctx, a, "two", Support, c.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
}

// testLastAdministrator checks that an administrator stays, also if two give up their role at the same time.
func testLastAdministrator(t *testing.T, s *Store, _ *testenv.Clock) {
	ctx := t.Context()
	s.mustAdd(t, "one", "", Admin)
	less, off, on, admin := Operator, false, true, Admin
	for _, c := range []Change{{Role: &less}, {Enabled: &off}, {Role: &less, Enabled: &off}} {
		if _, err := s.Change(ctx, "one", c); err == nil || !strings.Contains(err.Error(), "only enabled administrator") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := s.Change(ctx, "one", Change{Enabled: &on, Role: &admin}); err != nil {
		t.Errorf("a change that takes nothing away: %v", err)
	}
	s.mustAdd(t, "two", "", Admin)
	if _, err := s.Change(ctx, "two", Change{Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Change(ctx, "one", Change{Enabled: &off}); err == nil {
		t.Error("the other one is disabled")
	}
	for range 5 {
		for _, name := range []string{"one", "two"} {
			if _, err := s.Change(ctx, name, Change{Enabled: &on}); err != nil {
				t.Fatal(err)
			}
		}
		var g errgroup.Group
		var left atomic.Int32
		for _, name := range []string{"one", "two"} {
			g.Go(func() error {
				_, err := s.Change(ctx, name, Change{Enabled: &off})
				if _, ok := errors.AsType[*RuleError](err); ok {
					left.Add(1)
					return nil
				}
				return err
			})
		}
		if err := g.Wait(); err != nil || left.Load() != 1 {
			t.Fatalf("%d administrators are left, %v", left.Load(), err)
		}
	}
}

// testRolesFollow checks that a token has at most the role that its account has now.
func testRolesFollow(t *testing.T, s *Store, c *testenv.Clock) {
	ctx := t.Context()
	a := s.mustAdd(t, "op", "op", Admin)
	s.mustAdd(t, "another", "", Admin)
	text, _, err := s.NewToken(ctx, a, "ci", Admin, c.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	less, off := Customer, false
	if _, err := s.Change(ctx, "op", Change{Role: &less}); err != nil {
		t.Fatal(err)
	}
	if id, err := s.Bearer(ctx, text); err != nil || id.Role != Customer {
		t.Errorf("%+v, %v", id, err)
	}
	if _, err := s.Change(ctx, "op", Change{Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bearer(ctx, text); !errors.Is(err, ErrUnknown) {
		t.Errorf("disabled: %v", err)
	}
}

func testAudit(t *testing.T, s *Store, _ *testenv.Clock) {
	ctx := t.Context()
	var g sync.WaitGroup
	for i := range 250 {
		g.Go(func() {
			e := Entry{Account: "op", Role: Support, Action: "read", Object: fmt.Sprint("row ", i), Reason: "asked", Address: "::1", Request: "r"}
			if err := s.Audit(ctx, e); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	seen := map[string]bool{}
	for before := int64(0); ; {
		list, err := s.Entries(ctx, before, "OP", 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			seen[e.Object], before = true, e.ID
		}
	}
	if len(seen) != 250 {
		t.Errorf("%d of 250 entries", len(seen))
	}
	if list, err := s.Entries(ctx, 0, "other", 10); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	long := Entry{Account: strings.Repeat("界", 100), Action: "read", Object: "\xff" + strings.Repeat("界", 10_000), Reason: strings.Repeat("r", 5000)}
	if err := s.Audit(ctx, long); err != nil {
		t.Errorf("what is too long is cut: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Audit(gone, Entry{}); err == nil {
		t.Log("committed before anybody saw that nobody waits")
	}
}

func testOwnPassword(t *testing.T, s *Store, _ *testenv.Clock) {
	ctx := t.Context()
	s.mustAdd(t, "zoë", "u1", Customer)
	if err := s.Confirm(ctx, "zoë", "wrong", "a"); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	if err := s.Confirm(ctx, "zoë", goodPassword, "a"); err != nil {
		t.Error(err)
	}
	if err := s.SetPassword(ctx, "zoë", "123456789012345"); err == nil {
		t.Error("a common one is taken")
	}
	if err := s.SetPassword(ctx, "nobody", goodPassword); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func testImported(t *testing.T, s *Store, _ *testenv.Clock) {
	ctx := t.Context()
	// Of the password "password": from the manuals of the systems that made them, or by openssl.
	for name, hash := range foreign {
		if _, err := s.Import(ctx, name, "u", Customer, true, hash); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := s.Check(ctx, name, "Password", "a"); !errors.Is(err, ErrRefused) {
			t.Errorf("%s, wrong: %v", name, err)
		}
		for i := range 2 {
			if _, err := s.Check(ctx, name, "password", "a"); err != nil {
				t.Errorf("%s, sign-in %d: %v", name, i+1, err)
			}
			_, now, err := s.withHash(ctx, name)
			if f, bad := parseHash(now); err != nil || bad != nil || !f.ours() {
				t.Errorf("%s is not hashed again: %v %v", name, err, bad)
			}
		}
	}
	for _, bad := range []string{"", "password", "$1$abc$def", "$2b$31$" + strings.Repeat("a", 53), "$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43),
		"$argon2id$v=19$m=64,t=0,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43), "$argon2i$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43),
		"pbkdf2_sha256$2000001$salt$" + strings.Repeat("A", 43) + "=", "pbkdf2_sha256$1$salt$", "pbkdf2_md5$1$salt$" + strings.Repeat("A", 44)} {
		_, err := s.Import(ctx, "bad", "u", Customer, true, bad)
		if rule, ok := errors.AsType[*RuleError](err); !ok || rule.Arg != "hash" || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestFilesAreTheirOwners(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%?#c")
	s, _ := testedAt(t, Options{Connect: "embedded:" + dir})
	s.mustAdd(t, "zoë", "u1", Customer)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(open, file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(open, file), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Connect: "embedded:" + open}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}

// TestOpenAtOnce checks that processes that start at the same time create the tables once.
func TestOpenAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "accounts")
	var g sync.WaitGroup
	for range 6 {
		g.Go(func() {
			s, err := Open(t.Context(), Options{Connect: "embedded:" + dir})
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	g.Wait()
}

func TestAuditIsAppendOnly(t *testing.T) {
	s, _ := tested(t)
	if err := s.Audit(t.Context(), Entry{Account: "a", Action: "read"}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"UPDATE audit SET account = 'b'", "DELETE FROM audit"} {
		if _, err := s.db.Exec(q); err == nil {
			t.Errorf("%s is done", q)
		}
	}
}

// TestDatabaseAway checks that a verified session lasts 30 s, marked stale, and that nothing else does.
func TestDatabaseAway(t *testing.T) {
	s, c := testedAt(t, Options{Connect: "embedded:" + filepath.Join(t.TempDir(), "accounts")})
	ctx := t.Context()
	a := s.mustAdd(t, "zoë", "u1", Customer)
	token, err := s.Begin(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	unseen, err := s.Begin(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(ctx, token); err != nil {
		t.Fatal(err)
	}
	text, _, err := s.NewToken(ctx, a, "n", Customer, c.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	c.Pass(30 * time.Second)
	if id, err := s.Session(ctx, token); err != nil || !id.Stale || id.Account.Name != "zoë" {
		t.Errorf("%+v, %v", id, err)
	}
	if _, err := s.Session(ctx, unseen); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("not verified before: %v", err)
	}
	if _, err := s.Bearer(ctx, text); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("a token: %v", err)
	}
	if err := s.Audit(ctx, Entry{}); err == nil {
		t.Error("an entry is said to be committed")
	}
	c.Pass(time.Millisecond)
	if _, err := s.Session(ctx, token); err == nil {
		t.Error("after more than 30 s")
	}
}

func TestNothingIsStoredAsItIs(t *testing.T) {
	s, c := tested(t)
	a := s.mustAdd(t, "zoë", "u1", Customer)
	session, err := s.Begin(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := s.NewToken(t.Context(), a, "ci", Customer, c.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimPrefix(s.opts.Connect, "embedded:")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{goodPassword, session, token, strings.TrimPrefix(token, "brine_")} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s holds a secret", f.Name())
			}
		}
	}
}

func TestPasswords(t *testing.T) {
	for _, bad := range []string{"", "short", "passwordpassword", "Password12345678", "aaaaaaaaaaaaaaaaaaaa", "abababababababab", "123456789012345", "qwertyuiopasdfgh",
		"hgfdsapoiuytrewq", "abcdefghijklmnop", "welcome-welcome-welcome", "zoezoezoezoezoe1", "correcthorsebatterystaple", strings.Repeat("harbour violin ", 100), "four random word\xff"} {
		if err := CheckPassword("zoe", bad); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
	for _, good := range []string{goodPassword, "дом стол река снег мост", "我的密码是一个很长的句子没有人知道它", "x7Kq-9mPz-4vRt-2wLs"} {
		if err := CheckPassword("zoe", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

// BenchmarkSession measures how much identifying the caller adds to each request.
func BenchmarkSession(b *testing.B) {
	s, err := Open(b.Context(), Options{Connect: "embedded:" + filepath.Join(b.TempDir(), "accounts")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	a, err := s.Add(b.Context(), "zoë", "u1", Customer, goodPassword)
	if err != nil {
		b.Fatal(err)
	}
	token, err := s.Begin(b.Context(), a)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Session(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
