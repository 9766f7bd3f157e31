package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/ingest/eras"
	"brine/mask"
	"brine/rowkey"
	"brine/sink"
)

const (
	diffSlices   = 8   // places in each partition from which a sample is taken
	diffRows     = 500 // rows per read
	diffScans    = 16  // rows whose delete markers are read at the same time
	diffExamples = 10
)

// DiffOptions select the part of a replay that a Diff looks at.
type DiffOptions struct {
	Ingest  ingest.Options
	Plan    ingest.Plan // of the replay
	Keys    [][]byte    // only records with these keys; nil: all
	Rows    sink.Options
	Records int // the approximate number of records, spread over the range

	Eras   *eras.Eras // see Source
	Former []Former
}

// DiffReport is what a sample of records from a replay's range would change in existing rows. Each row is counted once, its cells for each
// record that writes them.
type DiffReport struct {
	Records  int        `json:"records"`
	Rejected int        `json:"dead_letters"`
	Rows     int        `json:"rows"`
	New      int        `json:"new_rows"`
	Changed  int        `json:"changed_rows"`
	Same     int        `json:"same_cells"`
	Added    int        `json:"added_cells"`    // to existing rows
	Replaced int        `json:"replaced_cells"` // older ones
	Tied     int        `json:"tied_cells"`     // of the same version with another value: the one written last stays
	Kept     int        `json:"kept_cells"`     // newer ones, which stay
	Deleted  int        `json:"deleted_cells"`  // that delete markers hide, also of rows that do not exist
	Examples []DiffCell `json:"examples"`       // never nil; at most 10
	Missing  []string   `json:"-"`              // tables that do not exist

	LeftOut  map[string]int64 `json:"left_out_by_reason,omitempty"` // events that become nothing
	Filtered map[string]int64 `json:"filtered,omitempty"`           // events for which the when of a row fails, by table
}

// DiffCell is a cell that would change. Row is formatted as HBase's shell does.
type DiffCell struct {
	Table   string      `json:"table"`
	Row     string      `json:"row"`
	Column  string      `json:"column"`
	Now     *sink.Shown `json:"now,omitempty"` // absent: there is no cell
	At      int64       `json:"now_version,omitempty"`
	Then    sink.Shown  `json:"then"`
	Version int64       `json:"version"`
}

// Hide masks the examples.
func (d *DiffReport) Hide(rules *mask.Rules) {
	for i := range d.Examples {
		x := &d.Examples[i]
		x.Row = mask.If(rules.MasksKey(x.Table), x.Row)
		if rules.MasksPlace(x.Table, x.Column) {
			x.Then.Cover(mask.Text)
			x.Now.Cover(mask.Text)
		}
	}
}

// Diff compares what records of a replay would write with the existing rows. It writes nothing.
func Diff(ctx context.Context, rows Reader, o DiffOptions) (*DiffReport, error) {
	d := differ{client: rows, opts: &o, missing: map[string]bool{}, pending: map[string][]wantedRow{}, by: map[int]*diffReading{},
		counted: map[diffKey]diffRow{}}
	d.out.Examples = []DiffCell{}
	d.out.LeftOut, d.out.Filtered = map[string]int64{}, map[string]int64{}
	reader := ingest.NewTopicReader(o.Ingest)
	defer reader.Close()
	if err := d.sample(ctx, reader); err != nil {
		return nil, err
	}
	d.out.Missing = slices.Sorted(maps.Keys(d.missing))
	return &d.out, nil
}

// differ reads records and looks up the rows that they would become.
type differ struct {
	client  Reader
	opts    *DiffOptions
	by      map[int]*diffReading
	batch   event.Batch
	pending map[string][]wantedRow // by table
	n       int                    // rows in pending
	counted map[diffKey]diffRow
	missing map[string]bool // tables
	out     DiffReport
}

// diffKey identifies a row.
type diffKey struct{ table, row string }

// diffRow says how a row has been counted.
type diffRow struct{ made, changed bool }

// diffReading makes rows of the records of a reading.
type diffReading struct {
	decoder    *event.Decoder
	rows       *sink.Preview
	conditions []event.Condition
}

// of returns the diffReading for a record.
func (d *differ) of(rec *event.Record) (*diffReading, error) {
	i := d.opts.Eras.Of(rec)
	if r := d.by[i]; r != nil {
		return r, nil
	}
	o, schema, conditions := d.opts.Rows, d.opts.Rows.Schema, d.opts.Ingest.Conditions
	if i != eras.Present {
		o, schema, conditions = *d.opts.Former[i].Rows, d.opts.Eras.Readings[i].Schema, d.opts.Eras.Readings[i].Conditions
	}
	rows, err := sink.NewPreview(o)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	d.by[i] = &diffReading{event.NewDecoder(schema), rows, conditions}
	return d.by[i], nil
}

// wantedRow is a row as a record would write it.
type wantedRow struct {
	by      *sink.Preview
	key     []byte
	version int64
	cells   []sink.Cell
}

// sample reads records from all over the plan's range. With keys it reads the same number of records, and uses those that have one of the
// keys.
func (d *differ) sample(ctx context.Context, reader *ingest.TopicReader) error {
	total := d.opts.Plan.Left()
	for _, part := range d.opts.Plan.Partitions {
		share := min(part.Left(), part.Left()*int64(d.opts.Records)/max(1, total)+1)
		pieces := max(1, min(int64(diffSlices), share))
		for i := range pieces {
			from := part.Next + part.Left()*i/pieces
			to := from + share*(i+1)/pieces - share*i/pieces
			for rec, err := range reader.Records(ctx, part.Partition, from, to) {
				if err != nil {
					return err
				}
				if !d.chosen(rec) {
					continue
				}
				if err := d.add(ctx, rec); err != nil {
					return err
				}
			}
		}
	}
	return d.compare(ctx)
}

func (d *differ) chosen(rec *event.Record) bool {
	return d.opts.Keys == nil || slices.ContainsFunc(d.opts.Keys, func(key []byte) bool { return bytes.Equal(key, rec.Key) })
}

// add makes the rows of a record, or counts it as a future dead letter.
func (d *differ) add(ctx context.Context, rec *event.Record) error {
	d.out.Records++
	r, err := d.of(rec)
	if err != nil {
		return err
	}
	r.decoder.Reset(&d.batch)
	if err := r.decoder.Resolve(ctx, rec); err != nil {
		return err
	}
	err = r.decoder.Decode(rec, &d.batch)
	for i := range d.batch.Events {
		if err == nil {
			err = d.want(r, &d.batch.Events[i])
		}
	}
	if err != nil {
		d.out.Rejected++
	}
	if d.n < diffRows {
		return nil
	}
	return d.compare(ctx)
}

// want adds the rows that an event becomes to the pending ones.
func (d *differ) want(r *diffReading, ev *event.Event) error {
	if ev.LeftOut != "" {
		d.out.LeftOut[string(ev.LeftOut)]++
	} else {
		for _, c := range r.conditions {
			if c.Fails(ev) {
				d.out.Filtered[c.Of]++
			}
		}
	}
	return r.rows.Rows(ev, func(table string, key []byte, cells func() []sink.Cell) {
		row := wantedRow{by: r.rows, key: bytes.Clone(key), version: ev.Version}
		for _, cell := range cells() {
			cell.Value = bytes.Clone(cell.Value)
			row.cells = append(row.cells, cell)
		}
		d.pending[table] = append(d.pending[table], row)
		d.n++
	})
}

// compare reads the pending rows and counts the differences.
func (d *differ) compare(ctx context.Context) error {
	for _, table := range slices.Sorted(maps.Keys(d.pending)) {
		rows := d.pending[table]
		found, err := d.read(ctx, table, rows)
		if err != nil {
			return err
		}
		markers, err := d.markers(ctx, table, rows, found)
		if err != nil {
			return err
		}
		for i := range rows {
			d.row(table, &rows[i], found[i].Cells, markers[i])
		}
	}
	clear(d.pending)
	d.n = 0
	return nil
}

func (d *differ) read(ctx context.Context, table string, rows []wantedRow) ([]hbase.Result, error) {
	if d.missing[table] {
		return make([]hbase.Result, len(rows)), nil
	}
	gets := make([]hbase.Get, len(rows))
	for i := range rows {
		gets[i].Row = rows[i].key
	}
	found, err := d.client.GetAll(ctx, table, gets)
	if errors.Is(err, hbase.ErrNoTable) {
		d.missing[table] = true
		return make([]hbase.Result, len(rows)), nil
	}
	return found, err
}

// markers reads the delete markers of rows in which a cell may be missing because it is deleted.
func (d *differ) markers(ctx context.Context, table string, rows []wantedRow, found []hbase.Result) ([]Markers, error) {
	markers := make([]Markers, len(rows))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(diffScans)
	for i := range rows {
		if d.missing[table] || !rows[i].adds(found[i].Cells) {
			continue
		}
		g.Go(func() (err error) {
			markers[i], err = MarkersOf(ctx, d.client, table, rows[i].key)
			return err
		})
	}
	return markers, g.Wait()
}

// adds reports whether a cell is missing among those found, or is older there.
func (w *wantedRow) adds(found []hbase.Cell) bool {
	return slices.ContainsFunc(w.cells, func(c sink.Cell) bool {
		at := standing(c, found)
		return at == nil || at.Timestamp < w.version
	})
}

// standing returns the existing cell of a wanted one's column, or nil if there is none.
func standing(cell sink.Cell, found []hbase.Cell) *hbase.Cell {
	for i := range found {
		if string(found[i].Family) == cell.Family && string(found[i].Qualifier) == cell.Qualifier {
			return &found[i]
		}
	}
	return nil
}

func (d *differ) row(table string, want *wantedRow, found []hbase.Cell, markers Markers) {
	o := &d.out
	made, changed := false, false
	for _, cell := range want.cells {
		at := standing(cell, found)
		switch {
		case (at == nil || at.Timestamp < want.version) && markers.Hiding([]byte(cell.Family+":"+cell.Qualifier), want.version) >= 0:
			o.Deleted++
		case len(found) == 0:
			made = true
		case d.cell(want, cell, at):
			changed = true
			if len(o.Examples) < diffExamples {
				o.Examples = append(o.Examples, exampleOf(table, want, cell, at))
			}
		}
	}
	d.count(diffKey{table, string(want.key)}, made, changed)
}

// count counts a row, unless another record has made it count.
func (d *differ) count(row diffKey, made, changed bool) {
	before, seen := d.counted[row]
	d.counted[row] = diffRow{made || before.made, changed || before.changed}
	if !seen {
		d.out.Rows++
	}
	if made && !before.made {
		d.out.New++
	}
	if changed && !before.changed {
		d.out.Changed++
	}
}

// cell counts what happens to one cell of an existing row, whose current cell is at, or nil without one. It reports whether it changes.
func (d *differ) cell(want *wantedRow, cell sink.Cell, at *hbase.Cell) (changes bool) {
	switch {
	case at == nil:
		d.out.Added++
	case at.Timestamp > want.version:
		d.out.Kept++
		return false
	case at.Timestamp < want.version:
		d.out.Replaced++
	case bytes.Equal(at.Value, cell.Value):
		d.out.Same++
		return false
	default:
		d.out.Tied++
	}
	return true
}

func exampleOf(table string, want *wantedRow, cell sink.Cell, at *hbase.Cell) DiffCell {
	x := DiffCell{Table: table, Row: rowkey.Binary(want.key), Column: cell.Family + ":" + cell.Qualifier, Version: want.version}
	x.Then = want.by.Show(table, x.Column, cell.Value)
	if at != nil {
		now := want.by.Show(table, x.Column, at.Value)
		x.Now, x.At = &now, at.Timestamp
	}
	return x
}
