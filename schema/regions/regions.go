// Package regions finds, lists and changes the regions of one table, as a person names them: by a prefix of a region's name, or by a row
// that it holds.
//
// The invariant: an ambiguous name is refused, so that no region is split or merged by mistake.
package regions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/hbase"
	"brine/internal/term"
	"brine/rowkey"
	"brine/skew"
)

// Client is the part of HBase's client that is used; *hbase.Client implements it.
type Client interface {
	Regions(ctx context.Context, table string) ([]hbase.Region, error)
	RegionLoads(ctx context.Context, table string) ([]hbase.RegionLoad, error)
	SplitRegion(ctx context.Context, r hbase.Region, at []byte) error
	MergeRegions(ctx context.Context, regions ...hbase.Region) error
	MoveRegion(ctx context.Context, r hbase.Region, to string) error
}

// Table is a table's regions at the time when it was opened.
type Table struct {
	Name    string
	Keys    rowkey.Keys // none: the fields of its keys are unknown
	Regions []hbase.Region

	client Client
	loads  map[string]hbase.RegionLoad // by encoded name
}

// Open fetches the regions of a table and their loads. It returns hbase.ErrNoTable if the table does not exist.
func Open(ctx context.Context, client Client, name string, keys rowkey.Keys) (*Table, error) {
	t := &Table{Name: name, Keys: keys, client: client, loads: map[string]hbase.RegionLoad{}}
	var err error
	if t.Regions, err = client.Regions(ctx, name); err != nil {
		return nil, fmt.Errorf("regions of table %s: %w", name, err)
	}
	loads, err := client.RegionLoads(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("loads of the regions of %s: %w", name, err)
	}
	for _, l := range loads {
		t.loads[l.Encoded] = l
	}
	return t, nil
}

// NameError is the error for a name, or a row, that does not identify a region.
type NameError struct{ msg string }

func (e *NameError) Error() string { return e.msg }

func notMeant(format string, args ...any) error { return &NameError{fmt.Sprintf(format, args...)} }

// ShortName is the number of characters of an encoded name that suffice to display it, and to identify it where it might also be a row.
const ShortName = 8

// leastPrefix is the number of characters of an encoded name that identify it where no row can be meant.
const leastPrefix = 4

// Find returns the region that a person named: by its encoded name or a prefix of it, or by a row as rowkey.Binary writes it. The prefix
// "key:" marks a row unambiguously.
func (t *Table) Find(name string) (hbase.Region, error) {
	row, isKey := strings.CutPrefix(name, "key:")
	key, err := rowkey.ParseBinary(row)
	if err != nil {
		return hbase.Region{}, notMeant("%v", err)
	}
	holder := slices.IndexFunc(t.Regions, func(r hbase.Region) bool { return holds(r, key) })
	if holder < 0 {
		return hbase.Region{}, fmt.Errorf("no region of %s holds the key %s at the moment: hbase:meta has a hole, or a region is being split",
			t.Name,
			row)
	}
	if isKey || len(name) < leastPrefix || strings.Trim(name, "0123456789abcdef") != "" {
		return t.Regions[holder], nil
	}
	var named []hbase.Region
	for _, r := range t.Regions {
		if strings.HasPrefix(r.Encoded, name) {
			named = append(named, r)
		}
	}
	switch {
	case len(named) == 0:
		return t.Regions[holder], nil
	case len(named) == 1 && len(name) >= ShortName:
		return named[0], nil
	}
	return hbase.Region{}, notMeant("%s is both a prefix of the name of region %s and a row key; write more of the name, or key:%s", name,
		named[0].Encoded, name)
}

func holds(r hbase.Region, key []byte) bool {
	return bytes.Compare(r.Start, key) <= 0 && (len(r.End) == 0 || bytes.Compare(key, r.End) < 0)
}

// FindOrAll returns the named region, or all regions if name is empty.
func (t *Table) FindOrAll(name string) ([]hbase.Region, error) {
	if name == "" {
		return t.Regions, nil
	}
	r, err := t.Find(name)
	return []hbase.Region{r}, err
}

// Neighbours returns two adjacent regions, in key order.
func (t *Table) Neighbours(nameA, nameB string) (a, b hbase.Region, err error) {
	if a, err = t.Find(nameA); err != nil {
		return a, b, err
	}
	if b, err = t.Find(nameB); err != nil {
		return a, b, err
	}
	if bytes.Compare(a.Start, b.Start) > 0 {
		a, b = b, a
	}
	switch {
	case a.Encoded == b.Encoded:
		err = notMeant("%s and %s are the same region, %s", nameA, nameB, a.Encoded)
	case !bytes.Equal(a.End, b.Start):
		err = notMeant("%s and %s are not neighbours: there are other regions between them; merge those first", t.Describe(a), t.Describe(b))
	}
	return a, b, err
}

// SplitPoint parses the row, as rowkey.Binary writes it, at which to split a region; nil if there is none.
func (t *Table) SplitPoint(r hbase.Region, row string) ([]byte, error) {
	at, err := rowkey.ParseBinary(row)
	switch {
	case err != nil:
		return nil, notMeant("%v", err)
	case len(at) > 0 && (!holds(r, at) || bytes.Equal(at, r.Start)):
		return nil, notMeant("%s is not in %s", rowkey.Binary(at), t.Describe(r))
	}
	return at, nil
}

// Move moves a region, to a server that the master chooses if to is empty. It returns the region's new server, or an empty string if the
// region was split or merged in the meantime.
func (t *Table) Move(ctx context.Context, r hbase.Region, to string) (server string, err error) {
	if err := t.client.MoveRegion(ctx, r, to); err != nil {
		return "", err
	}
	after, err := t.client.Regions(ctx, t.Name)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(after, func(a hbase.Region) bool { return a.Encoded == r.Encoded })
	if i < 0 {
		return "", nil
	}
	return after[i].Server, nil
}

// Apply splits or moves a region as advised.
func Apply(ctx context.Context, client Client, a skew.Action) error {
	regions, err := client.Regions(ctx, a.Table)
	if err != nil {
		return fmt.Errorf("regions of table %s: %w", a.Table, err)
	}
	i := slices.IndexFunc(regions, func(r hbase.Region) bool { return r.Encoded == a.Region })
	if i < 0 {
		return fmt.Errorf("region %s of %s is gone: it was split or merged in the meantime; run brine skew again", a.Region, a.Table)
	}
	if a.Kind == skew.Move {
		return client.MoveRegion(ctx, regions[i], a.To)
	}
	return client.SplitRegion(ctx, regions[i], a.At)
}

// Each calls do for each region in turn, and returns the regions for which it succeeded. It continues with the others if a region fails,
// but stops if a server has not answered in time, because the others would fail likewise.
func Each(some []hbase.Region, do func(hbase.Region) error) (done []hbase.Region, err error) {
	tried := 0
	for _, r := range some {
		tried++
		failure := do(r)
		if failure == nil {
			done = append(done, r)
			continue
		}
		err = errors.Join(err, failure)
		if errors.Is(failure, context.DeadlineExceeded) || errors.Is(failure, context.Canceled) {
			break
		}
	}
	if left := len(some) - tried; err != nil && left > 0 {
		err = fmt.Errorf("%w; %s not started", err, term.Count(left, "region"))
	}
	return done, err
}

// Describe describes a region for people: its keys, size and server.
func (t *Table) Describe(r hbase.Region) string {
	end := "the end"
	if len(r.End) > 0 {
		end = term.Clip(rowkey.Binary(r.End), 40)
	}
	begin := term.Clip(skew.Key(r.Start).Start(), 40)
	return fmt.Sprintf("region %s of %s, from %s to %s, %s on %s", r.Encoded, t.Name, begin, end, t.Size(r.Encoded), r.Server)
}

// Size returns the size of a region in files and memory; servers report it in MB.
func (t *Table) Size(encoded string) string {
	l := t.loads[encoded]
	return term.Thousands(int64(l.StoreFileMB+l.MemStoreMB)) + " MB"
}

// Region is a region with its load, as JSON.
type Region struct {
	Name   string   `json:"name"` // encoded
	Start  skew.Key `json:"start"`
	End    skew.Key `json:"end"`
	Fields string   `json:"start_fields,omitempty"` // fields that are whole in the start key
	Server string   `json:"server"`
	State  string   `json:"state,omitempty"`
	FileMB int      `json:"files_mb"`
	Memory int      `json:"memstore_mb"`
	Files  int      `json:"files"`
	Reads  uint64   `json:"reads"` // since the region was opened
	Writes uint64   `json:"writes"`
	Local  float32  `json:"locality"` // fraction of the files that is on the region's server
}

// List returns all regions with their loads.
func (t *Table) List() []Region {
	out := make([]Region, len(t.Regions))
	for i, r := range t.Regions {
		l := t.loads[r.Encoded]
		out[i] = Region{Name: r.Encoded, Start: r.Start, End: r.End, Fields: t.Keys.Describe(r.Start), Server: r.Server, State: r.State,
			FileMB: l.StoreFileMB, Memory: l.MemStoreMB, Files: l.StoreFiles, Reads: l.Reads, Writes: l.Writes, Local: l.Locality}
	}
	return out
}
