package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"brine/config"
	"brine/event"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/skew"
)

// foresight is what would become of sampled records if a pipeline wrote them into a table now.
type foresight struct {
	Pipeline   string            `json:"pipeline"`
	Table      string            `json:"table"`
	Records    int               `json:"records"`
	Rows       int               `json:"rows"`                        // distinct
	Rejected   map[string]int    `json:"rejected,omitempty"`          // dead letters by reason
	Examples   map[string]string `json:"rejected_examples,omitempty"` // the first of each reason
	Collisions int               `json:"collisions"`                  // different events on one key of a table whose rows are events
	Collided   string            `json:"collided_example,omitempty"`
	Expired    map[string]int    `json:"expired,omitempty"` // by family: older than its TTL, so HBase hides them as they are written
	Regions    []regionForecast  `json:"regions"`
	Indices    skew.Indices      `json:"indices"`
}

// regionForecast is a region's share of the sampled rows.
type regionForecast struct {
	Start string  `json:"start"` // as the HBase shell prints it
	Rows  int     `json:"rows"`
	Share float64 `json:"share"`
}

// foreseer takes records and counts.
type foreseer struct {
	out     foresight
	decoder *event.Decoder
	encoder *eventkey.Encoder
	table   *config.Table
	splits  [][]byte
	now     time.Time
	seed    maphash.Seed
	seen    map[uint64]uint64 // hash of the row → hash of the record
	counts  []int
	batch   event.Batch
}

// foreseers makes one for each pipeline and each table that it writes.
func foreseers(cfg *config.Config, pipelines ...string) ([]*foreseer, error) {
	var out []*foreseer
	for _, p := range cfg.Pipelines {
		if len(pipelines) > 0 && !slices.Contains(pipelines, p.Name) {
			continue
		}
		for _, r := range p.Rows {
			t := cfg.Table(r.Table)
			splits, err := t.SplitPoints()
			if err != nil {
				return nil, usage(err)
			}
			encoder, err := eventkey.New(t.RowKey(), p.Schema())
			if err != nil {
				return nil, usage(err)
			}
			out = append(out, &foreseer{
				out:     foresight{Pipeline: p.Name, Table: t.Name, Rejected: map[string]int{}, Examples: map[string]string{}, Expired: map[string]int{}},
				decoder: event.NewDecoder(p.Schema()), encoder: encoder, table: t, splits: splits,
				now: time.Now(), seed: maphash.MakeSeed(), seen: map[uint64]uint64{}, counts: make([]int, len(splits)+1),
			})
		}
	}
	return out, nil
}

func (f *foreseer) reject(err error) {
	reason := event.Unknown
	var fault *event.Error
	if errors.As(err, &fault) {
		reason = fault.Reason
	}
	if f.out.Rejected[string(reason)]++; f.out.Rejected[string(reason)] == 1 {
		f.out.Examples[string(reason)] = err.Error()
	}
}

// add takes one record.
func (f *foreseer) add(rec *event.Record) {
	f.out.Records++
	f.decoder.Reset(&f.batch)
	if err := f.decoder.Decode(rec, &f.batch); err != nil {
		f.reject(err)
		return
	}
	ev := &f.batch.Events[0]
	row, err := f.encoder.Append(nil, ev)
	if err != nil {
		f.reject(err)
		return
	}
	for _, family := range f.table.Families {
		if family.TTL > 0 && ev.Version < f.now.Add(-family.TTL).UnixMilli() {
			f.out.Expired[family.Name]++
		}
	}
	rowHash, recHash := maphash.Bytes(f.seed, row), maphash.Bytes(f.seed, rec.Value)
	if before, ok := f.seen[rowHash]; ok {
		if before != recHash && f.table.Row == "event" {
			f.out.Collisions++
			f.out.Collided = rowkey.Binary(row)
		}
		return
	}
	f.seen[rowHash] = recHash
	f.out.Rows++
	region, found := slices.BinarySearchFunc(f.splits, row, bytes.Compare)
	if found { // a split point is the first row of its region
		region++
	}
	f.counts[region]++
}

// result is what was foreseen of all records taken.
func (f *foreseer) result() foresight {
	shares := make([]float64, len(f.counts))
	for i, n := range f.counts {
		start := ""
		if i > 0 {
			start = rowkey.Binary(f.splits[i-1])
		}
		shares[i] = float64(n)
		f.out.Regions = append(f.out.Regions, regionForecast{Start: start, Rows: n, Share: float64(n) / float64(max(1, f.out.Rows))})
	}
	f.out.Indices = skew.Measure(shares)
	return f.out
}

// foreseeFile reads a sample of JSON lines, gzipped or not.
func foreseeFile(cfg *config.Config, path string) ([]foresight, error) {
	all, err := foreseers(cfg)
	if err != nil {
		return nil, err
	}
	for line, err := range fileLines(path) {
		if err != nil {
			return nil, usage(fmt.Errorf("--sample: %w", err))
		}
		rec := &event.Record{Topic: path, Timestamp: time.Now().UnixMilli(), Value: line}
		for _, f := range all {
			f.add(rec)
		}
	}
	out := make([]foresight, len(all))
	for i, f := range all {
		out[i] = f.result()
	}
	return out, nil
}

// warnings are what a person should know before writing.
func (f foresight) warnings() []string {
	var out []string
	for _, family := range sortedKeys(f.Expired) {
		out = append(out, fmt.Sprintf("%s of %s events are older than the TTL of family %s of %s: HBase would hide them as they are written; raise the ttl or leave it out",
			thousands(int64(f.Expired[family])), thousands(int64(f.Records)), family, f.Table))
	}
	if f.Collisions > 0 {
		out = append(out, fmt.Sprintf("events that share a row key of %[2]s with a different one, hiding it: %[1]s (such as %[3]s); add a field to the key that tells them apart",
			thousands(int64(f.Collisions)), f.Table, f.Collided))
	}
	for _, reason := range sortedKeys(f.Rejected) {
		out = append(out, fmt.Sprintf("%s of %s records would become dead letters, the first because of %s",
			thousands(int64(f.Rejected[reason])), thousands(int64(f.Records)), f.Examples[reason]))
	}
	return out
}

func (f foresight) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s → %s: %s records, %s rows; max/mean %.3f, CV %.3f, Gini %.3f\n",
		f.Pipeline, f.Table, thousands(int64(f.Records)), thousands(int64(f.Rows)), f.Indices.MaxMean, f.Indices.CV, f.Indices.Gini)
	for _, r := range f.Regions {
		fmt.Fprintf(out, "  %-12s %10s  %5.2f %%  %s\n", start(r.Start), thousands(int64(r.Rows)), 100*r.Share, bar(r.Share, f.largest()))
	}
	for _, w := range f.warnings() {
		fmt.Fprintf(out, "  warning: %s\n", w)
	}
}

func (f foresight) largest() float64 {
	largest := 0.0
	for _, r := range f.Regions {
		largest = max(largest, r.Share)
	}
	return largest
}
