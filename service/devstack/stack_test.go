package devstack

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"brine/config"
	"brine/examples"
	"brine/hbase/embedded"
	"brine/internal/fault"
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
