package command_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/account"
	"brine/command"
	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/internal/sample"
	"brine/query"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const partitions = 3

// world is a topic, and the rows that a pipeline has made of it so far: what a desk works with, apart from its database.
type world struct {
	machine command.Machine

	mu      sync.Mutex
	log     [partitions][]command.Record
	applied [partitions]int
	cells   map[string]map[string]hbase.Cell // by row and column
	gone    [partitions]int                  // offsets that retention has deleted
	calls   int                              // of Publish
	faults  map[int]fault                    // by call
}

type fault int

const (
	lost    fault = iota + 1 // the request never arrived, and nobody knows
	unclear                  // the records are there, and nobody knows
	refused                  // the brokers do not take them
)

func machineOf(t testing.TB) command.Machine {
	t.Helper()
	cfg, problems := config.Load("../examples/shop.yaml", func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	machines := cfg.Machines()
	if len(machines) != 1 {
		t.Fatalf("the shop has %d machines", len(machines))
	}
	return machines[0]
}

func newWorld(t testing.TB) *world {
	return &world{machine: machineOf(t), cells: map[string]map[string]hbase.Cell{}, faults: map[int]fault{}}
}

func (w *world) Partitions(context.Context, string) (int, error) { return partitions, nil }

func (w *world) Publish(_ context.Context, _ string, part int, records []command.Record) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	f := w.faults[w.calls]
	switch f {
	case lost:
		return 0, errors.New("no answer")
	case refused:
		return 0, fmt.Errorf("too large: %w", command.ErrRefused)
	}
	at := len(w.log[part])
	w.log[part] = append(w.log[part], records...)
	if f == unclear {
		return 0, errors.New("no answer")
	}
	return int64(at), nil
}

// Since takes the shop's own records, which have no time, as older than all commands.
func (w *world) Since(_ context.Context, _ string, part int, at time.Time) (from, to int64, whole bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	from = int64(w.gone[part])
	to = int64(len(w.log[part]))
	for from < to && w.log[part][from].Time.Before(at) {
		from++
	}
	return from, to, w.gone[part] == 0 || from > int64(w.gone[part]), nil
}

func (w *world) Records(_ context.Context, _ string, part int, from, to int64) iter.Seq2[command.Seen, error] {
	return func(yield func(command.Seen, error) bool) {
		for ; from < to; from++ {
			w.mu.Lock()
			seen := command.Seen{Offset: from, Command: w.log[part][from].Command}
			w.mu.Unlock()
			if !yield(seen, nil) {
				return
			}
		}
	}
}

// shop publishes one of the shop's own changes.
func (w *world) shop(c sample.Change) {
	value, _ := json.Marshal(c)
	part := command.Murmur2.Partition([]byte(c.Order), partitions)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log[part] = append(w.log[part], command.Record{Key: []byte(c.Order), Value: value})
}

// apply does what the pipeline does with the next records of each partition, at most n.
func (w *world) apply(t testing.TB, n int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for part := range w.log {
		for i := 0; i < n && w.applied[part] < len(w.log[part]); i++ {
			w.write(t, w.log[part][w.applied[part]])
			w.applied[part]++
		}
	}
}

func (w *world) write(t testing.TB, r command.Record) {
	t.Helper()
	c := decode(t, r)
	row := string(w.row(t, c.Order, c.User, c.Created))
	if w.cells[row] == nil {
		w.cells[row] = map[string]hbase.Cell{}
	}
	put := func(column string, v event.Value) {
		family, qualifier, _ := bytes.Cut([]byte(column), []byte(":"))
		if has, ok := w.cells[row][column]; !ok || has.Timestamp <= c.At {
			w.cells[row][column] = hbase.Cell{Row: []byte(row), Family: family, Qualifier: qualifier, Timestamp: c.At, Value: event.AppendValue(nil, v)}
		}
	}
	if c.Status != "" {
		put("brief:status", event.TextValue(c.Status))
	}
	if c.Deleted != nil {
		put("brief:deleted", event.BoolValue(*c.Deleted))
	}
	if c.Reason != "" {
		put("detail:reason", event.TextValue(c.Reason))
	}
}

func decode(t testing.TB, r command.Record) (c sample.Change) {
	t.Helper()
	if err := json.Unmarshal(r.Value, &c); err != nil {
		t.Fatalf("%s: %v", r.Value, err)
	}
	return c
}

// row returns the key of an order.
func (w *world) row(t testing.TB, order, user string, created int64) []byte {
	t.Helper()
	keys, err := w.machine.Table.RowsOf(map[string]string{"order": order, "user": user, "created": fmt.Sprint(created)})
	if err != nil {
		t.Fatal(err)
	}
	return keys[0]
}

func (w *world) settled(_ context.Context, _, _ string, part int) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int64(w.applied[part]), nil
}

func (w *world) Scan(context.Context, string, hbase.Scan) iter.Seq2[hbase.Result, error] {
	return func(func(hbase.Result, error) bool) {}
}

func (w *world) GetAll(_ context.Context, _ string, gets []hbase.Get) ([]hbase.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]hbase.Result, len(gets))
	for i, g := range gets {
		out[i].Row = g.Row
		for _, c := range w.cells[string(g.Row)] {
			out[i].Cells = append(out[i].Cells, c)
		}
		slices.SortFunc(out[i].Cells, func(a, b hbase.Cell) int {
			return cmp.Or(bytes.Compare(a.Family, b.Family), bytes.Compare(a.Qualifier, b.Qualifier))
		})
	}
	return out, nil
}

// read returns a row as a reader sees it.
func (w *world) read(t testing.TB, row []byte) query.Row {
	t.Helper()
	rows, err := query.ByRow(t.Context(), w, w.machine.Table, [][]byte{row})
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

// database returns a database to which the migrations were applied.
func database(t testing.TB) *account.Store {
	t.Helper()
	return databaseIn(t, t.TempDir())
}

// databaseIn is database in a folder, where it may be already.
func databaseIn(t testing.TB, dir string) *account.Store {
	t.Helper()
	s, err := account.Open(t.Context(), account.Options{Connect: "embedded:" + filepath.Join(dir, "accounts")})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context(), command.Migrations, command.Versions); err != nil {
		t.Fatal(err)
	}
	return s
}

// desk opens a desk, which works until stop is called.
func (w *world) desk(t testing.TB, db *account.Store) (d *command.Desk, stop func()) {
	t.Helper()
	return w.deskOn(t, db.DB())
}

func (w *world) deskOn(t testing.TB, db *sql.DB) (d *command.Desk, stop func()) {
	t.Helper()
	box := command.NewOutbox(db)
	d = command.NewDesk(command.Options{Machines: []command.Machine{w.machine}, Outbox: box, Rows: w, Publisher: w, Topics: w, Settled: w.settled,
		Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return d, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		box.Close()
	}
}
