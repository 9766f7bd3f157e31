package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"

	"brine/internal/datadir"
)

// Salvaged is what Salvage saved and what it could not save.
type Salvaged struct {
	Rows, Cells int      // of tables in the catalogue
	Lost        []string // a line for each file that could not be read completely, and one for cells that belong to no table
}

// Verify opens a folder, reads everything in it and closes it. The error is an ErrDamaged if something cannot be read.
func Verify(dir string) (err error) {
	var damage error
	s, err := Open(Options{Dir: dir, Damaged: func(err error) { damage = err }})
	if err != nil {
		return err
	}
	l, err := s.enter()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	it, err := l.db.NewIter(nil)
	if err == nil {
		for it.First(); it.Valid(); it.Next() {
		}
		err = errors.Join(it.Error(), it.Close())
	}
	l.leave()
	err = errors.Join(err, s.Close())
	switch {
	case damage != nil:
		return damage
	case pebble.IsCorruptionError(err):
		return datadir.Damaged(dir, "%v", err)
	}
	return err
}

// Salvage reads the readable parts of the tables and logs of a folder, regardless of its manifest, into a new one. If it finds a key more
// than once, the newest counts. spaceOf returns the space that a record of the catalogue describes; Salvage drops cells of other spaces.
func Salvage(from, to string, spaceOf func(name string, value []byte) (Space, bool)) (saved Salvaged, err error) {
	scratch := filepath.Join(from, "REPAIR")
	db, err := pebble.Open(scratch, &pebble.Options{Logger: quiet{}, DisableWAL: true, MemTableSize: 16 << 20})
	if err != nil {
		return saved, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	defer func() { err = errors.Join(err, db.Close()) }()
	g := gathering{db: db, from: from}
	if err := g.gather(); err != nil {
		return saved, err
	}
	saved.Lost = g.lost
	return saved, g.write(to, spaceOf, &saved)
}

// gathering puts what it finds into a scratch database. The value of a key there is the number of the write, 8 bytes big endian, whether it
// has a value, 1 byte, and the value.
type gathering struct {
	db      *pebble.DB
	from    string
	lost    []string
	removed []removedRange
}

// removedRange is a range of keys deleted by one write.
type removedRange struct {
	start, end []byte
	seq        uint64
}

func (g *gathering) lose(name, format string, args ...any) {
	g.lost = append(g.lost, filepath.Base(name)+": "+fmt.Sprintf(format, args...))
}

func (g *gathering) gather() error {
	live, err := liveTables(g.from)
	if err != nil {
		g.lose("MANIFEST", "it names a table that is missing: %v", err)
	}
	tables, err := filepath.Glob(filepath.Join(datadir.EscapeGlob(g.from), "*.sst"))
	if err != nil {
		return err
	}
	for _, name := range tables {
		base := filepath.Base(name)
		if live != nil && !slices.Contains(live, base) {
			continue // its content is in others
		}
		if err := g.table(name); err != nil {
			return err
		}
	}
	logs, err := filepath.Glob(filepath.Join(datadir.EscapeGlob(g.from), "*.log"))
	if err != nil {
		return err
	}
	for _, name := range logs {
		if err := g.log(name); err != nil {
			return err
		}
	}
	g.missingLogs()
	return nil
}

// missingLogs records the logs that are missing or too short as lost.
func (g *gathering) missingLogs() {
	for _, o := range writtenLengths(g.from).of {
		if !strings.HasSuffix(o.name, ".log") {
			continue
		}
		if info, err := os.Stat(filepath.Join(g.from, o.name)); err != nil {
			g.lose(o.name, "it is missing, with %d bytes", o.bytes)
		} else if info.Size() < o.bytes {
			g.lose(o.name, "its last %d bytes are missing", o.bytes-info.Size())
		}
	}
}

// writtenLengths returns the lengths of a folder, or none if they are damaged too.
func writtenLengths(dir string) *lengths {
	l := &lengths{}
	if text, err := os.ReadFile(filepath.Join(dir, lengthsFile)); err != nil || !l.decode(text) {
		return &lengths{}
	}
	return l
}

// liveTables returns the tables that the manifest names, or nil if the manifest is damaged. The error is for a missing table.
func liveTables(dir string) ([]string, error) {
	desc, err := pebble.Peek(dir, vfs.Default)
	if err != nil || !desc.Exists {
		return nil, nil
	}
	l := writtenLengths(dir)
	if i := l.find(filepath.Base(desc.ManifestFilename)); i < 0 || l.of[i].check(dir) != nil {
		return nil, nil // it may be truncated
	}
	db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}, ReadOnly: true, DisableConsistencyCheck: true})
	if err != nil {
		return nil, nil // its logs are damaged
	}
	defer func() { _ = db.Close() }() // it was only read
	levels, err := db.SSTables()
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, level := range levels {
		for _, t := range level {
			names = append(names, fmt.Sprintf("%06d.sst", uint64(t.BackingSSTNum)))
		}
	}
	return names, nil
}

// put keeps a write unless there is a newer one of its key.
func (g *gathering) put(key []byte, seq uint64, kind pebble.InternalKeyKind, value []byte) error {
	isValue := byte(0)
	switch kind {
	case pebble.InternalKeyKindSet, pebble.InternalKeyKindSetWithDelete:
		isValue = 1
	case pebble.InternalKeyKindRangeDelete:
		g.removed = append(g.removed, removedRange{bytes.Clone(key), bytes.Clone(value), seq})
		return nil
	case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete, pebble.InternalKeyKindDeleteSized:
	default:
		return nil // this store does not write other kinds
	}
	had, closer, err := g.db.Get(key)
	if err == nil {
		newer := binary.BigEndian.Uint64(had) > seq
		if err := closer.Close(); err != nil || newer {
			return err
		}
	} else if !errors.Is(err, pebble.ErrNotFound) {
		return err
	}
	entry := append(binary.BigEndian.AppendUint64(nil, seq), isValue)
	return g.db.Set(key, append(entry, value...), pebble.NoSync)
}

// table reads a table from both ends, up to the damaged part.
func (g *gathering) table(name string) (err error) {
	defer func() {
		if p := recover(); p != nil { // from a reader that trusts its input
			g.lose(name, "it cannot be read: %v", p)
			err = nil
		}
	}()
	f, err := vfs.Default.Open(name)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return err
	}
	ctx := context.Background()
	r, err := sstable.NewReader(ctx, readable, sstable.ReaderOptions{})
	if err != nil {
		g.lose(name, "none of it can be read: %v", err)
		return nil
	}
	defer func() { _ = r.Close() }() // it was only read
	if err := g.ranges(ctx, r); err != nil {
		g.lose(name, "deletions of ranges cannot be read: %v", err)
	}
	return g.cells(ctx, name, r)
}

// cells reads a table's cells from both ends.
func (g *gathering) cells(ctx context.Context, name string, r *sstable.Reader) error {
	it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		g.lose(name, "none of it can be read: %v", err)
		return nil
	}
	defer func() { _ = it.Close() }() // Error reports the faults
	read, err := g.half(it, true)
	damage := it.Error()
	if err != nil || damage == nil {
		return err
	}
	behind, err := g.half(it, false)
	all := "an unknown number"
	if p, err := r.ReadPropertiesBlock(ctx, nil); err == nil {
		all = strconv.FormatUint(p.NumEntries-p.NumRangeDeletions, 10)
	}
	g.lose(name, "%d of %s cells could be read: %v", read+behind, all, damage)
	return err
}

// half reads cells, forward from the first or backward from the last, until one cannot be read. It returns the number of cells.
func (g *gathering) half(it sstable.Iterator, forward bool) (n int, err error) {
	first, next := it.First, it.Next
	if !forward {
		first, next = it.Last, it.Prev
	}
	for kv := first(); kv != nil; kv = next() {
		value, _, err := kv.Value(nil)
		if err != nil {
			return n, nil //nolint:nilerr // the iterator reports the damage
		}
		if err := g.put(kv.K.UserKey, uint64(kv.K.SeqNum()), kv.K.Kind(), value); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// ranges reads a table's range deletions.
func (g *gathering) ranges(ctx context.Context, r *sstable.Reader) error {
	it, err := r.NewRawRangeDelIter(ctx, sstable.NoFragmentTransforms, sstable.ReadEnv{Block: block.NoReadEnv})
	if err != nil || it == nil {
		return err
	}
	defer it.Close()
	for span, err := it.First(); ; span, err = it.Next() {
		if err != nil || span == nil {
			return err
		}
		for _, k := range span.Keys {
			g.removed = append(g.removed, removedRange{bytes.Clone(span.Start), bytes.Clone(span.End), uint64(k.SeqNum())})
		}
	}
}

// log reads the records of a log. After a damaged one it continues with the next block.
func (g *gathering) log(name string) error {
	file, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), ".log"), 10, 64)
	if err != nil {
		return nil //nolint:nilerr // not a log of Pebble's
	}
	for at := 0; at < len(file); {
		end := at + readableTo(file[at:])
		if err := g.records(newRecords(record.NewReader, bytes.NewReader(file[at:end]), number)); err != nil {
			return err
		}
		if end == len(file) {
			break
		}
		at = min(len(file), end-end%blockBytes+blockBytes)
		g.lose(name, "its bytes from %d to %d are damaged", end, at)
	}
	return nil
}

// newRecords calls Pebble's constructor, whose type of log numbers cannot be named here.
func newRecords[N ~uint64](reader func(io.Reader, N) *record.Reader, r io.Reader, number uint64) *record.Reader {
	return reader(r, N(number))
}

func (g *gathering) records(r *record.Reader) error {
	for {
		next, err := r.Next()
		if err != nil {
			return nil //nolint:nilerr // the end, or a record whose other chunks are damaged
		}
		repr, err := io.ReadAll(next)
		if err != nil || len(repr) < batchrepr.HeaderLen {
			continue
		}
		seq := uint64(batchrepr.ReadSeqNum(repr))
		for b := batchrepr.Read(repr); ; seq++ {
			kind, key, value, ok, err := b.Next()
			if !ok || err != nil {
				break
			}
			if err := g.put(key, seq, kind, value); err != nil {
				return err
			}
		}
	}
}

// write makes a store from what was gathered.
func (g *gathering) write(to string, spaceOf func(string, []byte) (Space, bool), saved *Salvaged) (err error) {
	if err := folderLayout.Make(to); err != nil {
		return err
	}
	if n, err := readFormat(g.from); err == nil && n == formatWithoutTTLs {
		if err := datadir.Replace(to, formatFile, []byte("1\n")); err != nil {
			return err
		}
	}
	s, err := Open(Options{Dir: to})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := s.enter()
	if err != nil {
		return err
	}
	defer l.leave()
	it, err := g.db.NewIter(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	b := l.db.NewBatch()
	f := filling{spaceOf: spaceOf, known: map[Space]bool{MetaSpace: true}, saved: saved}
	for it.First(); it.Valid(); it.Next() {
		key, entry := it.Key(), it.Value()
		if entry[8] == 0 || g.isRemoved(key, binary.BigEndian.Uint64(entry)) || !f.takes(key, entry[9:]) {
			continue
		}
		if err := b.Set(key, entry[9:], nil); err != nil {
			return err
		}
		if b.Len() >= dropChunk {
			if err := b.Commit(pebble.Sync); err != nil {
				return err
			}
			b.Reset()
		}
	}
	if f.nobodys > 0 {
		saved.Lost = append(saved.Lost, fmt.Sprintf("%d cells belong to tables whose descriptions are lost", f.nobodys))
	}
	return errors.Join(it.Error(), b.Commit(pebble.Sync), b.Close())
}

// filling counts what a store is filled with. It sees the records of the catalogue first, because their keys come first.
type filling struct {
	spaceOf func(name string, value []byte) (Space, bool)
	known   map[Space]bool
	nobodys int // cells that belong to no table
	row     []byte
	saved   *Salvaged
}

// takes reports whether to keep a key.
func (f *filling) takes(key, value []byte) bool {
	if key[0] == recordPrefix {
		if space, ok := f.spaceOf(string(key[1:]), value); ok {
			f.known[space] = true
		}
		return true
	}
	p, ok := parse(key)
	if !ok {
		f.nobodys++
		return false
	}
	space := Space(binary.BigEndian.Uint32(key[1:]))
	switch {
	case !f.known[space]:
		f.nobodys++
		return false
	case space == MetaSpace:
		return true
	}
	f.saved.Cells++
	if !bytes.Equal(f.row, key[:p.rowEnd]) {
		f.row = append(f.row[:0], key[:p.rowEnd]...)
		f.saved.Rows++
	}
	return true
}

// isRemoved reports whether a range deletion removed the key after the write with number seq.
func (g *gathering) isRemoved(key []byte, seq uint64) bool {
	for _, r := range g.removed {
		if r.seq > seq && bytes.Compare(key, r.start) >= 0 && bytes.Compare(key, r.end) < 0 {
			return true
		}
	}
	return false
}
