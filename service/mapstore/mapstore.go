// Package mapstore stores the heat maps of tables in an HBase table of brine's own. They outlive every process and include the writes of
// all members of a group.
//
//	mapstore.go   the table, its rows, and what is written once a minute
//	coarser.go    combining minutes into quarters of an hour, and those into hours
//	read.go       the map and the sizes of a table over a time span
//
// A row is a time bucket of one table. Its key is the table's name, a zero byte, and the seconds since 1970 at which the bucket begins.
// Minutes have one row per member; its number and the time at which its data begins follow in the key, and the sum of the rows is what was
// written. Coarser buckets are made from finer ones in the table, by any member that finds one missing. The result is the same whichever
// member makes it, and a restart in between loses none. Each layer is a column family, from which the servers remove buckets by its TTL.
//
// The invariant: nothing here is on a record's path. A single goroutine makes a bounded number of calls per minute, one after the other,
// and a call that fails ends that minute's work. What could not be written stays in the counters, which cover eight hours, and is written
// later.
package mapstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/hbase"
	"brine/internal/backoff"
	"brine/skew"
	"brine/skew/past"
)

// Client is the part of HBase's client that a Store uses; *hbase.Client implements it.
type Client interface {
	Get(ctx context.Context, table string, g hbase.Get) (hbase.Result, error)
	Scan(ctx context.Context, table string, s hbase.Scan) iter.Seq2[hbase.Result, error]
	MutateRow(ctx context.Context, b *hbase.Batch) error
	CreateNamespace(ctx context.Context, name string) error
	Namespaces(ctx context.Context) ([]hbase.Namespace, error)
	CreateTable(ctx context.Context, t hbase.Table, splits [][]byte) error
}

// Options configure what is stored, and where.
type Options struct {
	Client Client
	Table  string           // brine's own; created with the first bucket
	Tables *skew.Tables     // the counters of this process
	Log    *slog.Logger     // required
	Now    func() time.Time // nil: time.Now
	Hooks  Hooks
}

// Hooks are called by the goroutine that writes. Both may be nil.
type Hooks struct {
	Written func() // a bucket, of this process or a coarser one, was written
	Failed  func() // a minute's work failed, at least in part
}

// Store stores maps. It is safe for concurrent use.
type Store struct {
	opts    Options
	member  uint64 // number of this process
	made    map[layered]*progress
	failing bool

	reading chan struct{} // holds one element while a map is read, which needs some memory
	drawn   []drawn       // guarded by reading; recent maps to share

	mu      sync.Mutex           // never held during a request to HBase
	written map[string]time.Time // by table: the time up to which this process's columns are stored
}

// layer is a kind of bucket.
type layer struct {
	family string
	long   time.Duration // duration of a bucket
	kept   time.Duration
}

// layers lists the layers, finest first. A bucket of each begins where one of the next begins.
var layers = []layer{
	{"m", past.Minute, 24 * time.Hour},
	{"q", 15 * time.Minute, 7 * 24 * time.Hour},
	{"h", time.Hour, 31 * 24 * time.Hour},
}

const (
	qualifier = "b"
	beside    = "m"         // of the cell with the rest; earlier brines read the first cell of a row alone
	each      = time.Minute // interval between turns
	within    = 30 * time.Second
	atEnd     = 3 * time.Second
	mostLate  = 30 // columns of a table written per minute when catching up
)

// Open returns a store. It makes no request to HBase yet.
func Open(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Hooks.Written == nil {
		o.Hooks.Written = func() {}
	}
	if o.Hooks.Failed == nil {
		o.Hooks.Failed = func() {}
	}
	return &Store{opts: o, member: rand.Uint64(), made: map[layered]*progress{}, reading: make(chan struct{}, 1),
		written: map[string]time.Time{}}
}

// Run writes until ctx is done, and then writes the rest. It must be called only once.
func (s *Store) Run(ctx context.Context) {
	lag := time.Duration(rand.Int64N(int64(each / 4))) // spreads the members' requests
	for {
		now := s.opts.Now()
		next := now.Truncate(each).Add(each + 2*time.Second + lag) // counters close their columns in the first second of a minute
		if backoff.Wait(ctx, next.Sub(now)) != nil {
			break
		}
		s.turn(ctx, within, false)
	}
	s.turn(context.WithoutCancel(ctx), atEnd, true)
}

// turn does one minute's work. At the end, it also writes open columns, and makes no coarser buckets.
func (s *Store) turn(ctx context.Context, most time.Duration, end bool) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	s.forget()
	err := s.work(ctx, end)
	if err != nil {
		s.opts.Hooks.Failed()
	}
	switch {
	case err == nil && s.failing:
		s.opts.Log.Info("map history is being written again", "table", s.opts.Table)
	case err != nil && !s.failing:
		s.opts.Log.Warn("cannot write map history; pipelines continue, and writing is retried every minute", "table", s.opts.Table,
			"error", err)
	}
	s.failing = err != nil
}

func (s *Store) work(ctx context.Context, end bool) error {
	for _, table := range s.opts.Tables.Names() {
		if err := s.write(ctx, table, end); err != nil {
			return err
		}
	}
	if end {
		return nil
	}
	for _, table := range s.opts.Tables.Names() {
		if err := s.coarsen(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// write writes the columns of a table that are not stored yet.
func (s *Store) write(ctx context.Context, table string, end bool) error {
	s.mu.Lock()
	since := s.written[table]
	s.mu.Unlock()
	columns, open := s.opts.Tables.Counter(table, skew.Shape{}).Columns(since)
	if len(columns) > mostLate {
		columns = columns[:mostLate]
	} else if end && open.To.After(open.From) {
		columns = append(columns, open)
	}
	for i := range columns {
		c := &columns[i]
		if !c.Empty() { // most are, of a process that only reads
			b := past.Of(c, past.Minute)
			if err := s.put(ctx, layers[0], table, &b, tailOf(s.member, c.From)); err != nil {
				return err
			}
			if err := s.again(ctx, table, b.At); err != nil {
				return err
			}
		}
		s.mu.Lock()
		s.written[table] = c.To
		s.mu.Unlock()
	}
	return nil
}

// put writes a bucket, and creates the table if it is missing.
func (s *Store) put(ctx context.Context, in layer, table string, b *past.Bucket, tail []byte) error {
	batch := hbase.NewBatch(s.opts.Table)
	batch.Mutate(append(rowOf(table, b.At), tail...))
	first := b.Encode()
	batch.Put([]byte(in.family), []byte(qualifier), b.At.UnixMilli(), first)
	if more := b.EncodeMore(first); more != nil {
		batch.Put([]byte(in.family), []byte(beside), b.At.UnixMilli(), more)
	}
	err := s.opts.Client.MutateRow(ctx, batch)
	if errors.Is(err, hbase.ErrNoTable) {
		if err = s.create(ctx); err == nil {
			err = s.opts.Client.MutateRow(ctx, batch)
		}
	}
	if err == nil {
		s.opts.Hooks.Written()
	}
	return err
}

// create creates the table, and its namespace if that is missing. Another member may do so at the same time.
func (s *Store) create(ctx context.Context) error {
	if namespace, _, ok := strings.Cut(s.opts.Table, ":"); ok && !s.hasNamespace(ctx, namespace) {
		if err := s.opts.Client.CreateNamespace(ctx, namespace); err != nil && !s.hasNamespace(ctx, namespace) {
			return fmt.Errorf("namespace %s of the map history (map.history) is missing and cannot be created: %w", namespace, err)
		}
	}
	t := hbase.Table{Name: s.opts.Table}
	for _, l := range layers {
		t.Families = append(t.Families, hbase.Family{Name: l.family, Values: map[string]string{
			"TTL": strconv.Itoa(int(l.kept.Seconds())), "VERSIONS": "1"}})
	}
	err := s.opts.Client.CreateTable(ctx, t, nil)
	if err != nil && !errors.Is(err, hbase.ErrTableExists) {
		return fmt.Errorf("table %s of the map history (map.history) is missing and cannot be created: %w", s.opts.Table, err)
	}
	return nil
}

func (s *Store) hasNamespace(ctx context.Context, name string) bool {
	all, err := s.opts.Client.Namespaces(ctx)
	if err != nil {
		return false
	}
	for _, n := range all {
		if n.Name == name {
			return true
		}
	}
	return false
}

// rowOf returns the prefix of a bucket's rows.
func rowOf(table string, at time.Time) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(table), 0), uint64(max(0, at.Unix())))
}

// tailOf returns the rest of a minute's row: the member, and the time at which its data begins.
func tailOf(member uint64, from time.Time) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, member), uint64(max(0, from.UnixMilli())))
}

// timeOf returns when the bucket of a row of the table begins.
func timeOf(table string, row []byte) (time.Time, bool) {
	n := len(table) + 1
	if len(row) < n+8 {
		return time.Time{}, false
	}
	return time.Unix(int64(binary.BigEndian.Uint64(row[n:])), 0).UTC(), true
}
