package devstack

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"brine/config"
	"brine/examples"
	"brine/hbase/embedded"
	"brine/ingest"
	"brine/ingest/offsets"
	"brine/internal/fault"
	"brine/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, dir string) *Stack {
	t.Helper()
	s, err := Start(Options{Dir: dir, HBaseNodes: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kindOf(err error) fault.Kind {
	if is, ok := errors.AsType[*fault.Error](err); ok {
		return is.Kind
	}
	return fault.Failed
}

// TestAStackHasItsFolderAlone checks that a second stack on the folder, and a repair, are refused until the first is closed.
func TestAStackHasItsFolderAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir)
	_, err := Start(Options{Dir: dir, HBaseNodes: 1, Log: slog.New(slog.DiscardHandler)})
	if kindOf(err) != fault.Data {
		t.Errorf("a second one: %v", err)
	}
	nothing := func(f Finding) { t.Errorf("found %v", f) }
	if _, err := Repair(t.Context(), dir, slog.New(slog.DiscardHandler), nothing); kindOf(err) != fault.Data {
		t.Errorf("a repair: %v", err)
	}
	s.Close()
	if aside, err := Repair(t.Context(), dir, slog.New(slog.DiscardHandler), nothing); err != nil || aside != "" {
		t.Errorf("a repair of what is whole: %q, %v", aside, err)
	}
	start(t, dir).Close()
}

// TestATemporaryFolderGoes checks that a stack with a temporary folder leaves nothing behind.
func TestATemporaryFolderGoes(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := start(t, "")
	if _, err := os.Stat(s.Dir()); err != nil {
		t.Error(err)
	}
	s.Close()
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestFormat checks that a folder of a newer brine is refused, and that an unreadable mark is damage, which a repair moves away.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		mark string
		kind fault.Kind
	}{{"2\n", fault.Data}, {"two\n", fault.Damaged}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "FORMAT"), []byte(c.mark), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(Options{Dir: dir, HBaseNodes: 1, Log: slog.New(slog.DiscardHandler)}); kindOf(err) != c.kind {
			t.Errorf("%q: %v", c.mark, err)
		}
		found := 0
		aside, err := Repair(t.Context(), dir, slog.New(slog.DiscardHandler), func(Finding) { found++ })
		if c.kind == fault.Data && kindOf(err) != fault.Data {
			t.Errorf("%q is repaired: %v", c.mark, err)
		}
		if c.kind == fault.Damaged && (err != nil || found != 1 || aside != filepath.Join(dir, "damaged-1")) {
			t.Errorf("%q: %d found, aside in %q, %v", c.mark, found, aside, err)
		}
	}
}

// TestPrepareTakesWhatIsThere checks that existing topics, tables and indexes are not an error.
func TestPrepareTakesWhatIsThere(t *testing.T) {
	s := start(t, "")
	defer s.Close()
	cfg, problems := config.Parse("dev.yaml", examples.Dev, s.Getenv)
	if err := problems.Err(); err != nil {
		t.Fatal(problems)
	}
	for range 2 {
		if err := s.Prepare(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepairOfAnHBaseAlone checks that the folders of embedded:DIR and brine hbase --data are repaired in place as what they are, without
// adding other stores, and that a folder of neither kind is refused and left alone.
func TestRepairOfAnHBaseAlone(t *testing.T) {
	for _, file := range []string{"MANIFEST-*", "BRINE-FORMAT"} {
		t.Run(file, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "hbase")
			s, err := embedded.Start(embedded.Options{Dir: dir})
			if err == nil {
				err = s.Close()
			}
			names, errGlob := filepath.Glob(filepath.Join(dir, file))
			if err != nil || errGlob != nil || len(names) == 0 {
				t.Fatal(err, errGlob, names)
			}
			if err := os.Truncate(names[0], 0); err != nil {
				t.Fatal(err)
			}
			found := 0
			aside, err := Repair(t.Context(), dir, slog.New(slog.DiscardHandler), func(Finding) { found++ })
			if err != nil || found != 1 || aside != dir+".damaged-1" {
				t.Fatalf("%d found, aside %q, %v", found, aside, err)
			}
			for _, name := range []string{"FORMAT", "kafka", "hbase", "search"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
					t.Errorf("the repair made %s", name)
				}
			}
			if s, err = embedded.Start(embedded.Options{Dir: dir}); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	dir := t.TempDir()
	if _, err := Repair(t.Context(), dir, slog.New(slog.DiscardHandler), func(Finding) {}); kindOf(err) == fault.Failed {
		t.Errorf("a folder of something else: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("a refused repair made %v, %v", entries, err)
	}
}

// TestGroupsAreAskedForOnlyIfAStoreIsMissing checks that a start with all tables and indexes does not depend on the broker's list of groups.
func TestGroupsAreAskedForOnlyIfAStoreIsMissing(t *testing.T) {
	cfg, problems := config.Parse("dev.yaml", examples.Dev, func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	client := offsets.Open(ingest.Kafka{Brokers: []string{"127.0.0.1:1"}}, requestTimeout)
	defer client.Close()
	canceled, cancel := context.WithCancel(t.Context())
	cancel() // any request fails
	s := &Stack{opts: Options{Log: slog.New(slog.DiscardHandler)}}
	if err := s.readAgain(canceled, cfg, &schema.Changes{}, client); err != nil {
		t.Errorf("nothing is missing: %v", err)
	}
	missing := &schema.Changes{Tables: []schema.TableStep{{Table: "shop:orders", Action: schema.Create}}}
	if err := s.readAgain(canceled, cfg, missing, client); err == nil {
		t.Error("a table is missing, and nobody was asked for the groups")
	}
}

// TestALostStoreIsWrittenAgain: somebody deleted the folder of a store alone. The groups that had written it read their topics from the
// start, and the others go on. brine dev used to say that all events are rows, and there were none.
func TestALostStoreIsWrittenAgain(t *testing.T) {
	for _, c := range []struct {
		lost string
		kept []string // halves that go on
	}{
		{"", []string{"scans.rows", "orders.rows", "orders.documents"}},
		{"hbase", []string{"orders.documents"}},
		{"search", []string{"scans.rows", "orders.rows"}},
		{filepath.Join("search", "orders"), []string{"scans.rows", "orders.rows"}},
	} {
		t.Run(c.lost, func(t *testing.T) {
			dir := t.TempDir()
			// prepared starts the stack on the folder and returns which halves have committed something; they all have when it ends.
			prepared := func() (committed []string) {
				s := start(t, dir)
				defer s.Close()
				cfg, problems := config.Parse("dev.yaml", examples.Dev, s.Getenv)
				if err := problems.Err(); err != nil {
					t.Fatal(err)
				}
				if err := s.Prepare(t.Context(), cfg); err != nil {
					t.Fatal(err)
				}
				client := s.Offsets()
				defer client.Close()
				for _, half := range cfg.Halves() {
					g, err := client.Group(t.Context(), half.Group(), half.Pipeline.Named()[0])
					if err != nil {
						t.Fatal(err)
					}
					if len(g.Committed) > 0 {
						committed = append(committed, half.Name())
					}
					if err := client.Set(t.Context(), g, []offsets.Move{{Partition: 0}}); err != nil {
						t.Fatal(err)
					}
				}
				return committed
			}
			if got := prepared(); len(got) > 0 {
				t.Errorf("at first, %v have committed something", got)
			}
			if c.lost != "" {
				if err := os.RemoveAll(filepath.Join(dir, c.lost)); err != nil {
					t.Fatal(err)
				}
			}
			if got := prepared(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(c.kept))) {
				t.Errorf("%v go on, want %v", got, c.kept)
			}
		})
	}
}

// TestHeapOfDevIsBounded: the collector leaves room in 256 MiB for what it does not count (stacks, written pages, SQLite) and for what is
// allocated while it runs.
func TestHeapOfDevIsBounded(t *testing.T) {
	cfg, problems := config.Parse("dev.yaml", examples.Dev, func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if bound := int64(cfg.ProcessMemory); bound == 0 || bound > 200<<20 {
		t.Errorf("process_memory is %d MiB, expected a bound that leaves 56 of 256 MiB", bound>>20)
	}
}
