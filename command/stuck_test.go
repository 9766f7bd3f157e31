package command_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/account"
	"brine/command"
	"brine/hbase"
)

// TestOnlyADuplicateIsATakenKey checks that another error of the database is returned as it is, even if there is a command with the same key:
// after a deadlock, MySQL has rolled back everything that was stored together.
func TestOnlyADuplicateIsATakenKey(t *testing.T) {
	db := database(t)
	defer db.Close()
	box := command.NewOutbox(db.DB())
	defer box.Close()
	e := command.Entry{ID: "a", Account: "1", Key: "k", Table: "t", Row: []byte{1}, Change: command.Change{Value: []byte("{}")}}
	if err := box.Add(t.Context(), &e); err != nil {
		t.Fatal(err)
	}
	e.ID = "b"
	if err := box.Add(t.Context(), &e); err == nil || !strings.Contains(err.Error(), "already a command with this key") {
		t.Errorf("a duplicate: %v", err)
	}
	const trigger = "CREATE TRIGGER bad BEFORE INSERT ON commands BEGIN SELECT RAISE(ABORT, 'deadlock'); END"
	if _, err := db.DB().ExecContext(t.Context(), trigger); err != nil {
		t.Fatal(err)
	}
	if err := box.Add(t.Context(), &e); err == nil || !strings.Contains(err.Error(), "deadlock") {
		t.Errorf("an error of the database: %v", err)
	}
}

// TestPublishedButNotStored checks that the outbox reports a published command that it does not have.
func TestPublishedButNotStored(t *testing.T) {
	db := database(t)
	defer db.Close()
	box := command.NewOutbox(db.DB())
	defer box.Close()
	there, gone := command.Entry{ID: "a", Account: "1", Key: "k", Table: "t", Row: []byte{1},
		Change: command.Change{Value: []byte("{}")}}, command.Entry{ID: "b"}
	if err := box.Add(t.Context(), &there); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, it is published already
		missing, err := box.Publish(t.Context(), []*command.Entry{&there, &gone}, 1)
		if err != nil || !slices.Equal(missing, []*command.Entry{&gone}) {
			t.Errorf("%v, %v", missing, err)
		}
	}
}

// hindered is a world of which a part does not work.
type hindered struct {
	*world
	t       *testing.T
	db      *account.Store
	box     *command.Outbox
	publish func(part int, records []command.Record) error
	settled func(part int) error
	topics  func() error // before each record that is read of a topic, and before each look at where to begin
	swept   []command.SweptInfo
	late    []command.Entry
	lateErr error
}

func newHindered(t *testing.T) *hindered {
	h := &hindered{world: newWorld(t), t: t, db: database(t)}
	t.Cleanup(func() { h.db.Close() })
	h.box = command.NewOutbox(h.db.DB())
	t.Cleanup(h.box.Close)
	return h
}

func (h *hindered) Publish(ctx context.Context, topic string, part int, records []command.Record) (int64, error) {
	if h.publish != nil {
		if err := h.publish(part, records); err != nil {
			return 0, err
		}
	}
	return h.world.Publish(ctx, topic, part, records)
}

func (h *hindered) Since(ctx context.Context, topic string, part int, at time.Time) (from, to int64, whole bool, err error) {
	if h.topics != nil {
		if err := h.topics(); err != nil {
			return 0, 0, false, err
		}
	}
	return h.world.Since(ctx, topic, part, at)
}

func (h *hindered) Records(ctx context.Context, topic string, part int, from, to int64) iter.Seq2[command.Seen, error] {
	return func(yield func(command.Seen, error) bool) {
		for seen, err := range h.world.Records(ctx, topic, part, from, to) {
			if h.topics != nil {
				err = h.topics()
			}
			if err = errors.Join(err, ctx.Err()); !yield(seen, err) || err != nil {
				return
			}
		}
	}
}

// add stores a command in a partition, as a process that has ended left it.
func (h *hindered) add(id string, part int) command.Entry {
	h.t.Helper()
	row := h.row(h.t, id, "u", 5)
	e := command.Entry{ID: id, Account: "1", Key: id, Table: h.machine.Table.Name, Row: row, Expected: 7, Topic: h.machine.Topic, Part: part,
		Created: time.Now().UnixMilli(), Change: command.Change{At: 8, State: "received", Key: []byte(id),
			Value: fmt.Appendf(nil, `{"order":%q,"user":"u","created":5,"at":8,"status":"received"}`, id)}}
	if err := h.box.Add(h.t.Context(), &e); err != nil {
		h.t.Fatal(err)
	}
	return e
}

// addMany stores commands in the partition 0.
func (h *hindered) addMany(n int) {
	h.t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { h.add(fmt.Sprint("many", i), 0) })
	}
	all.Wait()
}

// run runs a desk for some time.
func (h *hindered) run(d time.Duration) {
	h.t.Helper()
	desk := command.NewDesk(command.Options{Machines: []command.Machine{h.machine}, Outbox: h.box, Rows: h, Publisher: h,
		Topics: h, Hooks: command.Hooks{Swept: func(i command.SweptInfo) { h.swept = append(h.swept, i) }},
		Late: func(_ context.Context, e *command.Entry) error {
			if h.lateErr == nil {
				h.late = append(h.late, *e)
			}
			return h.lateErr
		},
		Settled: func(ctx context.Context, pipeline, topic string, part int) (int64, error) {
			if h.settled != nil {
				if err := h.settled(part); err != nil {
					return 0, err
				}
			}
			return h.world.settled(ctx, pipeline, topic, part)
		}})
	ctx, cancel := context.WithTimeout(h.t.Context(), d)
	defer cancel()
	if err := desk.Run(ctx); err != nil {
		h.t.Error(err)
	}
}

func (h *hindered) want(id string, want command.State) {
	h.t.Helper()
	if e, _, err := h.box.Get(h.t.Context(), id); err != nil || e.State != want {
		h.t.Errorf("%s is %s, want %s: %v", id, e.State, want, err)
	}
}

var errHindered = errors.New("does not work")

// TestABadRecordHoldsUpNoOther checks that commands are published although another of their lane never is.
func TestABadRecordHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHindered(t)
		for _, id := range []string{"a", "bad", "c"} {
			h.add(id, 1)
		}
		h.publish = func(_ int, records []command.Record) error {
			if slices.ContainsFunc(records, func(r command.Record) bool { return r.Command == "bad" }) {
				return errHindered
			}
			return nil
		}
		h.run(12 * time.Second)
		h.want("a", command.Published)
		h.want("bad", command.Accepted)
		h.want("c", command.Published)
	})
}

// TestABadLaneHidesNoOther checks that commands end although how far another lane is settled is not known, and although the row of another
// cannot be read.
func TestABadLaneHidesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHindered(t)
		h.add("a", 0)
		h.add("b", 1)
		bad := h.add("bad", 1)
		h.add("c", 1)
		h.run(time.Second)
		h.apply(t, 9)
		h.cells[string(bad.Row)]["brief:deleted"] = hbase.Cell{Row: bad.Row, Family: []byte("brief"), Qualifier: []byte("deleted"), Timestamp: 9,
			Value: []byte("neither")}
		h.settled = func(part int) error { return map[int]error{0: errHindered}[part] }
		h.run(time.Second)
		h.want("a", command.Published)
		h.want("b", command.Applied)
		h.want("bad", command.Published)
		h.want("c", command.Applied)
	})
}

// TestManyStuckCommandsHoldUpNoOther checks that a command is published, and ends, although there are more older ones that are not, and do
// not, than a sweep reads at once.
func TestManyStuckCommandsHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHindered(t)
		h.addMany(2100)
		time.Sleep(time.Second)
		h.add("new", 1)
		h.publish = func(part int, _ []command.Record) error { return map[int]error{0: errHindered}[part] }
		h.run(time.Second)
		h.want("new", command.Published)

		h.apply(t, 9)
		exec(t, h.db.DB(), "UPDATE commands SET state = 'published', off = 1 WHERE part = 0")
		h.run(20 * time.Second)
		h.want("new", command.Applied)
	})
}

// TestAllOfManyCommandsArePublished checks that all of many commands are published.
func TestAllOfManyCommandsArePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHindered(t)
		h.addMany(2100)
		h.run(20 * time.Second)
		var n int
		if err := h.db.DB().QueryRow("SELECT COUNT(*) FROM commands WHERE state = 'published'").Scan(&n); err != nil || n != 2100 {
			t.Errorf("%d are published, %v", n, err)
		}
	})
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
