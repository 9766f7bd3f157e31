package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"brine/hbase"
)

// Findings are the differences between the table and its required contents.
type Findings struct {
	Rows, Cells  int
	Acknowledged int
	Refused      int
	Lost         int // acknowledged cells that are missing or have another value
	Twice        int // cells that came twice, or that nobody wrote
	Reordered    int // timestamps at which a mutation won over an acknowledged one that was given after it
	Examples     []string
}

// verify reads every version of every cell.
func (m *model) verify(ctx context.Context, c *hbase.Client) (*Findings, error) {
	n := m.count()
	f := &Findings{Acknowledged: n[acknowledged], Refused: n[refused]}
	seen := make(map[string]bool)
	for result, err := range c.Scan(ctx, table, hbase.Scan{MaxVersions: math.MaxInt32}) {
		if err != nil {
			return nil, err
		}
		f.Rows++
		f.Cells += len(result.Cells)
		var slot, i int
		if _, err := fmt.Sscanf(string(result.Row), "%d-%d", &slot, &i); err != nil || slot >= slots || i >= rowsPerSlot ||
			seen[string(result.Row)] {
			f.twice("row %q is not ours, or came twice", result.Row)
			continue
		}
		seen[string(result.Row)] = true
		f.row(result, m.rows[slot][i].fates)
	}
	for slot := range m.rows {
		for i, r := range m.rows[slot] {
			if k := key(slot, i); !seen[string(k)] {
				f.row(hbase.Result{Row: k}, r.fates)
			}
		}
	}
	return f, nil
}

// row compares one row's cells with its mutations.
func (f *Findings) row(r hbase.Result, fates []fate) {
	versions, datas, orders := make([]bool, len(fates)+1), make([]bool, len(fates)+1), make([]int, len(fates)/tie+1)
	for _, c := range r.Cells {
		n := int(c.Timestamp)
		switch q := string(c.Qualifier); {
		case q == "v" && n >= 1 && n <= len(fates) && !versions[n] && bytes.Equal(c.Value, versionOf(r.Row, n)):
			versions[n] = true
		case q == "d" && n >= 1 && n <= len(fates) && !datas[n] && bytes.Equal(c.Value, dataOf(r.Row, n)):
			datas[n] = true
		case q == "o" && n >= 0 && n < len(orders) && orders[n] == 0 && len(c.Value) == 8:
			orders[n] = int(binary.BigEndian.Uint64(c.Value))
		default:
			f.twice("row %q has %s at %d = %x, which nobody gave or which came twice", r.Row, q, n, c.Value)
		}
	}
	last := make([]int, len(orders)) // acknowledged mutation at each timestamp of o
	for i, fate := range fates {
		n := i + 1
		if fate != acknowledged {
			continue
		}
		last[n/tie] = n
		if !versions[n] || !datas[n] {
			f.Lost++
			f.example("row %q: mutation %d of %d was acknowledged and is missing", r.Row, n, len(fates))
		}
	}
	for at, n := range last {
		switch won := orders[at]; {
		case won >= n && won <= len(fates) && (won == 0 || won/tie == at):
		case won == 0:
			f.Lost++
			f.example("row %q: o at %d is missing", r.Row, at)
		case won < n:
			f.Reordered++
			f.example("row %q: at %d mutation %d won over %d, given later and acknowledged", r.Row, at, won, n)
		default:
			f.twice("row %q: o at %d is of mutation %d", r.Row, at, won)
		}
	}
}

func (f *Findings) twice(format string, args ...any) {
	f.Twice++
	f.example(format, args...)
}

// example keeps the text of the first few findings.
func (f *Findings) example(format string, args ...any) {
	if len(f.Examples) < 20 {
		f.Examples = append(f.Examples, fmt.Sprintf(format, args...))
		fmt.Fprintln(os.Stderr, "chaos-hbase:", f.Examples[len(f.Examples)-1])
	}
}
