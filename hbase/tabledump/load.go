package tabledump

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"brine/hbase"
)

// Limits of Load.
const (
	maxLine    = 64 << 20 // bytes: a cell of 10 MiB in base64 or with escapes, and the rest of its line
	batchBytes = 2 << 20
	batchRows  = 2000
)

// Load writes the cells in the lines of a dump to a table and returns the number of cells written. The table is as, or the dump's table if
// as is empty. If it does not exist, Load creates it with the dump's families and splits. An error names the line; cells before that line
// may be in the table. Loading a dump twice has the same effect as loading it once.
func Load(ctx context.Context, client *hbase.Client, as string, from io.Reader) (cells int, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	l := loader{client: client}
	for lines.Scan() {
		l.line++
		if len(lines.Bytes()) == 0 {
			continue
		}
		if l.batch == nil {
			err = l.open(ctx, as, lines.Bytes())
		} else {
			err = l.add(ctx, lines.Bytes())
		}
		if err != nil {
			return l.cells, fmt.Errorf("line %d: %w", l.line, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return l.cells, fmt.Errorf("line %d: %w", l.line+1, lines.Err())
	case l.batch == nil:
		return 0, errors.New("the input is empty: its first line must be the table")
	}
	return l.cells, l.flush(ctx)
}

// loader gathers cells into batches. A mutation has the cells of one row that are all puts or all delete markers.
type loader struct {
	client  *hbase.Client
	line    int
	first   int // line of the batch's first cell
	batch   *hbase.Batch
	row     string
	deletes bool
	pending int // number of cells in the batch
	cells   int
}

// open reads the first line and creates the table if it does not exist.
func (l *loader) open(ctx context.Context, as string, line []byte) error {
	var h header
	if err := strictly(line, &h); err != nil {
		return fmt.Errorf("the table: %w", err)
	}
	if as != "" {
		h.Table = as
	}
	if h.Table == "" {
		return errors.New(`the first line must be the table: {"table": …, "families": […]}`)
	}
	table, splits := h.described()
	l.batch = hbase.NewBatch(h.Table)
	_, err := l.client.Describe(ctx, h.Table)
	if errors.Is(err, hbase.ErrNoTable) {
		err = l.client.CreateTable(ctx, table, splits)
	}
	return err
}

func (l *loader) add(ctx context.Context, line []byte) error {
	c, kind, err := parseCell(line)
	if err != nil {
		return err
	}
	row, deletes := string(*c.Row), kind != hbase.Put
	if l.pending == 0 || row != l.row || deletes != l.deletes {
		if l.batch.Bytes() >= batchBytes || l.batch.Len() >= batchRows {
			if err := l.flush(ctx); err != nil {
				return err
			}
		}
		l.batch.Mutate(*c.Row)
		l.row, l.deletes = row, deletes
	}
	if l.pending == 0 {
		l.first = l.line
	}
	l.pending++
	if deletes {
		l.batch.Delete(kind, *c.Family, *c.Qualifier, *c.Timestamp)
	} else {
		l.batch.Put(*c.Family, *c.Qualifier, *c.Timestamp, *c.Value)
	}
	return nil
}

// flush writes the batch.
func (l *loader) flush(ctx context.Context) error {
	failed, err := l.client.Submit(ctx, l.batch).Wait(ctx)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		f := failed[0]
		return fmt.Errorf("of the cells from line %d on, %d rows were not written; %q: %w", l.first, len(failed), l.batch.Row(f.Index), f.Err)
	}
	l.cells += l.pending
	l.pending = 0
	l.batch = hbase.NewBatch(l.batch.Table())
	return nil
}
