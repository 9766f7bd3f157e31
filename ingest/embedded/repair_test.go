package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/ingest/embedded"
	"brine/internal/datadir/datadirtest"
)

// TestRepair: whatever happens to a file, Kafka starts again after Repair with every record outside the damaged part, and what is lost is
// reported. The old folder is set aside.
func TestRepair(t *testing.T) {
	for state, dir := range kafkaFolders(t) {
		t.Run(state, func(t *testing.T) {
			datadirtest.Each(t, dir, []datadirtest.Damage{datadirtest.Gone, datadirtest.Half, datadirtest.FlippedInside}, repaired)
		})
	}
}

// repaired repairs a folder with a damaged file.
func repaired(t *testing.T, dir, name string) {
	t.Helper()
	aside := dir + ".damaged"
	r, err := embedded.Repair(dir, aside)
	if err != nil {
		t.Fatal(err)
	}
	b, err := startIn(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	n := len(recordsIn(t, b))
	if r.Damage == nil {
		if n != damageRecords {
			t.Errorf("%d records of %d, and nothing was damaged", n, damageRecords)
		}
		return
	}
	if !errors.Is(r.Damage, embedded.ErrDamaged) || int64(n) != r.Records {
		t.Errorf("%d records: %+v", n, r)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Error(err)
	}
	segment := strings.HasSuffix(name, ".dat")
	if !segment && n != damageRecords {
		t.Errorf("%d records of %d, though no segment is damaged: %+v", n, damageRecords, r)
	}
	if segment && n < damageRecords-45 || n < damageRecords && !strings.Contains(strings.Join(r.Lost, "\n"), filepath.Base(filepath.Dir(name))) {
		t.Errorf("%d records of %d: %q", n, damageRecords, r.Lost)
	}
}
