package command

import (
	"fmt"
	"path/filepath"
	"testing"

	"brine/account"
	"brine/internal/testenv"
)

// TestOutbox takes commands through the outbox on both databases: who may publish them, what waits, what is freed, and what becomes of it.
func TestOutbox(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { testOutbox(t, "embedded:"+filepath.Join(t.TempDir(), "accounts")) })
	t.Run("MariaDB", func(t *testing.T) { testOutbox(t, "mysql://"+testenv.StartMariaDB(t).Addr+"/brine") })
}

func testOutbox(t *testing.T, connect string) {
	ctx := t.Context()
	s, err := account.Open(ctx, account.Options{Connect: connect, User: "root"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(ctx, Migrations, Versions); err != nil {
		t.Fatal(err)
	}
	o := NewOutbox(s.DB())
	defer o.Close()
	entry := func(id string, expected, created int64) *Entry {
		return &Entry{ID: id, Account: "1", Key: id, Table: "t", Row: []byte{1}, Expected: expected, Created: created,
			Change: Change{At: expected + 1, State: "paid", Value: []byte("{}")}}
	}
	step := func(what, want string, got ...any) {
		t.Helper()
		if text := fmt.Sprint(got...); text != want {
			t.Errorf("%s: %s, want %s", what, text, want)
		}
	}
	ids := func(list []Entry, next place, err error) string {
		out := ""
		for _, e := range list {
			out += fmt.Sprint(e.ID, " ", e.Expected, " ", e.State, "; ")
		}
		return fmt.Sprint(out, next, err)
	}
	waits := func(want string) {
		t.Helper()
		accepted, withdrawn, oldest, err := o.waiting(ctx)
		step("waiting", want, accepted, " ", withdrawn, " ", oldest, " ", err)
	}
	waits("0 0 0 <nil>")
	for i, id := range []string{"a", "b", "c"} {
		step("add", "<nil>", o.Add(ctx, entry(id, int64(7+i), int64(100+i))))
	}
	waits("3 0 100 <nil>")
	step("sweep", "a 7 accepted; b 8 accepted; {0 } <nil>", ids(o.sweep(ctx, 102, place{}, 9)))
	freed, err := o.Refused(ctx, "a", "no", 110)
	step("refused after a sweep", "false <nil>", freed, " ", err)
	freed, err = o.Refused(ctx, "c", "no", 110)
	step("refused", "true <nil>", freed, " ", err)
	step("withdraw", "<nil> <nil>", o.withdraw(ctx, "a"), " ", o.withdraw(ctx, "c"))
	waits("2 1 100 <nil>")
	may, err := o.publishable(ctx, []string{"a", "b", "c", "d"})
	step("publishable", "map[b:true] <nil>", may, " ", err)
	step("sweep again", "b 8 accepted; {0 } <nil>", ids(o.sweep(ctx, 200, place{}, 9)))
	step("withdrawn", "a 7 accepted; {0 } <nil>", ids(o.withdrawn(ctx, place{}, 9)))
	step("a held place", errHeld.Error(), o.Add(ctx, entry("d", 7, 120)))
	step("end", "<nil>", o.endWithdrawn(ctx, []*Entry{{ID: "a", State: Failed, Detail: "no"}, {ID: "b", State: Failed}}, 130))
	step("freed", "a 7 failed; c 9 failed; {0 } <nil>", ids(o.freed(ctx, place{}, 9)))
	step("freed, page by page", "a 7 failed; {100 a} <nil>", ids(o.freed(ctx, place{}, 1)))
	step("freed, the next page", "c 9 failed; {0 } <nil>", ids(o.freed(ctx, place{100, "a"}, 9)))
	held, err := o.holds(ctx, entry("a", 7, 0), 7)
	step("nobody holds it", "false <nil>", held, " ", err)
	step("a free place", "<nil>", o.Add(ctx, entry("d", 7, 120)))
	held, err = o.holds(ctx, entry("a", 7, 0), 7)
	step("another holds it", "true <nil>", held, " ", err)
	step("undo", "<nil>", o.undo(ctx, []*Entry{{ID: "a", State: Applied, Detail: "late"}, {ID: "b", State: Applied}}, 140))
	got, _, err := o.Get(ctx, "a")
	step("it is applied", "applied late 7 140 <nil>", got.State, " ", got.Detail, " ", got.Expected, " ", got.Since, " ", err)
	waits("2 0 101 <nil>")
}
