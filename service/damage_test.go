package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"brine/config"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/fault"
	"brine/internal/testenv"
)

const damagedTable = "t"

// filledFolder returns the data folder of an embedded HBase with a table of rows.
func filledFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	server, err := embedded.Start(embedded.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + server.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CreateTable(t.Context(), hbase.Table{Name: damagedTable, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		t.Fatal(err)
	}
	fillTable(t, client)
	if err := errors.Join(client.FlushTable(t.Context(), damagedTable), client.Close(), server.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// damage flips bytes in the middle of a folder's table files.
func damage(t *testing.T, dir string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no table files: %v", err)
	}
	for _, name := range tables {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(file) / 4; i < len(file)*3/4; i += 1000 {
			file[i] ^= 0xFF
		}
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fillTable writes incompressible rows, so that they make up nearly all of the table's file.
func fillTable(t *testing.T, client *hbase.Client) {
	t.Helper()
	mutator, err := client.Mutator(hbase.MutatorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(1, 2))
	b := hbase.NewBatch(damagedTable)
	for i := range 100 {
		value := make([]byte, 10_000)
		for j := range value {
			value[j] = byte(noise.Uint32())
		}
		b.Mutate(rowName(i))
		b.Put([]byte("e"), []byte("q"), 1, value)
	}
	if failures, err := mutator.Submit(t.Context(), b).Wait(t.Context()); err != nil || len(failures) > 0 {
		t.Fatal(failures, err)
	}
}

func rowName(i int) []byte { return fmt.Appendf(nil, "row%03d", i) }

// openDamaged opens a service on an embedded HBase whose rows cannot be read.
func openDamaged(t *testing.T, purpose Purpose) *Service {
	t.Helper()
	kafka, dir := testenv.KafkaFake(t, 1, "topic"), filledFolder(t)
	cfg, problems := config.Parse("test.yaml", fmt.Appendf(nil, `
kafka: { brokers: [%q], group: g }
hbase: { connect: "embedded:%s" }
http: { listen: "127.0.0.1:0" }
tables:
  %s: { row: entity, key: id, families: { e: {} } }
pipelines:
  p:
    topic: topic
    fields: { id: text, at: time_ms }
    version: at
    changes: partial
    rows: [ { table: %[3]s, set: { "e:at": at } } ]
`, kafka.ListenAddrs()[0], dir, damagedTable), func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(problems)
	}
	s, err := Open(t.Context(), cfg, Options{For: purpose, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	damage(t, dir) // only now, because Open would refuse a damaged folder
	return s
}

// readAll makes the embedded server find the damage.
func readAll(ctx context.Context, client *hbase.Client) {
	for i := range 100 {
		_, _ = client.Get(ctx, damagedTable, hbase.Get{Row: rowName(i)})
	}
}

// TestDamageFoundWhileItRuns checks that damage found in an embedded store ends Run, and a replay within Guard, with an error that names
// the file.
func TestDamageFoundWhileItRuns(t *testing.T) {
	for name, c := range map[string]struct {
		purpose Purpose
		work    func(context.Context, *Service) error
	}{
		"run": {ToRun, func(ctx context.Context, s *Service) error { return s.Run(ctx) }},
		"replay": {ToWrite, func(ctx context.Context, s *Service) error {
			ctx, end := s.Guard(ctx)
			<-ctx.Done()
			return end(ctx.Err())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openDamaged(t, c.purpose)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go readAll(ctx, s.Client())
			is, ok := errors.AsType[*fault.Error](c.work(ctx, s))
			if !ok || is.Kind != fault.Damaged || !errors.Is(is, embedded.ErrDamaged) || is.Fix == "" {
				t.Errorf("it ends with %v", is)
			}
		})
	}
}
