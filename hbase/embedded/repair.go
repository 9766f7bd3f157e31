package embedded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// Repaired is the result of Repair.
type Repaired struct {
	Damage error // nil: nothing was damaged, and nothing was done

	Rows, Cells int      // saved
	Lost        []string // what could not be saved, a line for each damaged file or table
}

// IsFolder reports whether dir is a server's data folder, even if parts of it are damaged.
func IsFolder(dir string) bool { return store.IsFolder(dir) }

// Repair reads a whole data folder. If the folder is damaged, Repair moves it to aside, which must not exist, and creates a new one from
// everything readable; it changes and deletes no file of the old one. For each cell the newest readable version counts, so if a newer one
// is lost, a cell may have an older value, or a deleted one may reappear.
func Repair(dir, aside string) (r Repaired, err error) {
	r.Damage = store.Verify(dir)
	if !errors.Is(r.Damage, ErrDamaged) {
		return Repaired{}, r.Damage
	}
	if err := os.Rename(dir, aside); err != nil {
		return r, err
	}
	saved, err := store.Salvage(aside, dir, spaceOf)
	if err != nil {
		return r, fmt.Errorf("what is in %s could not be saved: %w", aside, err)
	}
	r.Rows, r.Cells, r.Lost = saved.Rows, saved.Cells, saved.Lost
	lost, err := repairCatalogue(dir)
	r.Lost = append(r.Lost, lost...)
	return r, err
}

// spaceOf returns the space of the table or snapshot described by a record of the catalogue.
func spaceOf(name string, value []byte) (store.Space, bool) {
	var rec tableRecord
	if !strings.HasPrefix(name, recordTable) && !strings.HasPrefix(name, recordSnapshot) || json.Unmarshal(value, &rec) != nil {
		return 0, false
	}
	return rec.Space, true
}

// repairCatalogue makes hbase:meta agree with the catalogue's records again. It drops regions of no table. A table whose regions
// do not cover each key exactly once gets a single region.
func repairCatalogue(dir string) (lost []string, err error) {
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	opts := Options{Dir: dir}
	opts.EnsureDefaults()
	c := newCluster(opts, st)
	defer func() { err = errors.Join(err, st.Close()) }()
	defer c.cancel()
	if err := c.loadTables(); err != nil {
		return nil, err
	}
	b := st.NewBatch()
	err = c.loadRegions(b, func(b *store.Batch, row *store.Row) error {
		if c.loadRegion(b, row) != nil {
			return b.DropRow(store.MetaSpace, row.Key)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	for _, t := range c.sorted() {
		if t == c.meta || covers(t.regions) {
			continue
		}
		lost = append(lost, fmt.Sprintf("table %s: the splits of its %d regions; it now has a single one", t.name, len(t.regions)))
		for _, r := range t.regions {
			if err := b.DropRow(store.MetaSpace, r.name); err != nil {
				return lost, errors.Join(err, b.Close())
			}
		}
		if err := c.putRegion(b, newRegion(t, nil, nil, c.regionID()), hbasepb.RegionState_CLOSED, nil); err != nil {
			return lost, errors.Join(err, b.Close())
		}
	}
	return lost, b.Commit()
}

// covers reports whether regions, in key order, contain every row exactly once.
func covers(regions []*region) bool {
	var next []byte
	for i, r := range regions {
		if !bytes.Equal(r.info.StartKey, next) || i > 0 && len(next) == 0 {
			return false
		}
		next = r.info.EndKey
	}
	return len(regions) > 0 && len(next) == 0
}
