package simulate

import (
	"context"
	"fmt"
	"slices"

	"brine/hbase"
)

// cellOf identifies a cell by its row, column and version.
type cellOf struct {
	row, column string
	version     int64
}

// expected is the required contents of a table: for each cell its possible values, in the order of their records, with the scans that have
// them.
type expected map[cellOf][]*claim

// claim is a scan that a cell may belong to, or must belong to unless another one overwrote it: a process may have written what the filter
// of the process that committed drops.
type claim struct {
	*scan
	must bool
}

// expect computes the expected contents from the input, without using brine, by the filters that apply to each record.
func (l *Ledger) expect(table int, filters func(*record) (by, must some)) expected {
	l.mu.Lock()
	defer l.mu.Unlock()
	cells := expected{}
	for _, records := range l.records {
		for _, r := range records {
			by, must := filters(r)
			for _, s := range r.scans {
				if !by.keep(s) && !must.keep(s) {
					continue
				}
				for _, c := range tables[table].columns {
					if c.value(s) == nowhere {
						continue
					}
					at := cellOf{tables[table].row(s), c.family + ":" + c.qualifier, s.At}
					cells[at] = append(cells[at], &claim{s, must.keep(s)})
				}
			}
		}
	}
	return cells
}

// check compares the contents of the tables and dead letters with the input, and the tables with those of the undisturbed run.
func (w *World) check(ctx context.Context) {
	begun := some(0).with(w.plan.settings().filter)
	filters := [...]func(*record) (by, must some){
		func(r *record) (by, must some) { return r.by, r.must },
		func(*record) (by, must some) { return begun, begun },
	}
	for i, t := range tables {
		var want [2]expected
		var got [2]map[cellOf]string
		for n, suffix := range suffixes {
			want[n], got[n] = w.ledger.expect(i, filters[n]), w.read(ctx, t.name+suffix)
			w.compare(i, t.name+suffix, got[n], want[n], n == 1)
		}
		w.compareRuns(t.name, got, want)
		if i == 0 {
			w.checkCollisions(want)
		}
	}
	w.checkLetters(ctx)
	w.checkMarks(ctx)
	w.count()
}

// read reads all versions of all cells of a table.
func (w *World) read(ctx context.Context, table string) map[cellOf]string {
	cells := map[cellOf]string{}
	for r, err := range w.operator.Scan(ctx, table, hbase.Scan{MaxVersions: 1 << 30, Raw: true}) {
		if err != nil {
			w.ledger.find("0: reading %s: %v", table, err)
			break
		}
		for _, c := range r.Cells {
			at := cellOf{string(r.Row), string(c.Family) + ":" + string(c.Qualifier), c.Timestamp}
			if c.Type != hbase.Put {
				w.ledger.find("4: %s holds a delete marker at %q", table, at)
			}
			if _, twice := cells[at]; !twice { // of several puts to one cell, the newest comes first
				cells[at] = string(c.Value)
			}
		}
	}
	return cells
}

// compare compares a table with the input: invariants 1, 3, 4 and 6.
func (w *World) compare(table int, name string, got map[cellOf]string, want expected, undisturbed bool) {
	for at, value := range got {
		scans := want[at]
		switch i := slices.IndexFunc(scans, func(s *claim) bool { return valueOf(table, at, s) == value }); {
		case len(scans) == 0:
			w.ledger.find("3: %s holds a cell that no event has: %q = %.20q", name, at, value)
		case i < 0:
			w.ledger.find("4: %s: %q = %.20q, expected %.20q", name, at, value, valueOf(table, at, scans[0]))
		case undisturbed && value != valueOf(table, at, scans[len(scans)-1]):
			w.ledger.find("6: %s: of the changes at %q an earlier one is left: %q", name, at, value)
		}
	}
	for at, scans := range want {
		if _, ok := got[at]; !ok && slices.ContainsFunc(scans, func(s *claim) bool { return s.must }) {
			w.ledger.find("1: %s lacks %q of event %s", name, at, scans[0].ID)
		}
	}
	w.checkTies(table, name, got, want)
}

func valueOf(table int, at cellOf, s *claim) string {
	for _, c := range tables[table].columns {
		if c.family+":"+c.qualifier == at.column {
			return c.value(s.scan)
		}
	}
	return ""
}

// checkTies checks that all cells of a row and version belong to one event, because a mutation is applied whole: invariant 6.
func (w *World) checkTies(table int, name string, got map[cellOf]string, want expected) {
	id := tables[table].columns[0]
	for at, scans := range want {
		if _, ok := got[at]; !ok || len(scans) < 2 {
			continue
		}
		ids := cellOf{at.row, id.family + ":" + id.qualifier, at.version}
		winner := got[ids]
		silent := func(s *claim) bool { return s.ID == winner && valueOf(table, at, s) == nowhere }
		nameless := func(s *claim) bool { return valueOf(table, ids, s) == nowhere }
		if slices.ContainsFunc(want[ids], silent) || slices.ContainsFunc(scans, nameless) { // a delete leaves what another one wrote
			continue
		}
		if !slices.ContainsFunc(scans, func(s *claim) bool { return s.ID == winner && valueOf(table, at, s) == got[at] }) {
			w.ledger.find("6: %s: of a tie at %q the winner is %s, and the value another's: %.20q", name, at, winner, got[at])
		}
	}
}

// compareRuns compares the table with that of the undisturbed run, except for what another filter dropped or kept, and for ties, which an
// unknown outcome may decide differently, as may two filters that each keep another one of two events.
func (w *World) compareRuns(name string, got [2]map[cellOf]string, want [2]expected) {
	same := 0
	for at, scans := range want[0] {
		if must := func(s *claim) bool { return s.must }; slices.ContainsFunc(scans, must) && slices.ContainsFunc(want[1][at], must) {
			same++
			one := len(scans) == 1 && len(want[1][at]) == 1 && *scans[0].scan == *want[1][at][0].scan
			if value := got[1][at]; got[0][at] != value && one {
				w.ledger.find("4: %s: %q = %.20q, and %.20q after an undisturbed run", name, at, got[0][at], value)
			}
		}
	}
	if same == len(want[0]) && same == len(want[1]) && len(got[0]) != len(got[1]) {
		w.ledger.find("4: %s holds %d cells, and %d after an undisturbed run", name, len(got[0]), len(got[1]))
	}
}

// checkCollisions checks that only rows that two different events share were reported as such: invariant 10.
func (w *World) checkCollisions(want [2]expected) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, suffix := range suffixes {
		shared := map[string]bool{}
		for at, scans := range want[i] {
			if slices.ContainsFunc(scans, func(s *claim) bool { return *s.scan != *scans[0].scan }) {
				shared[at.row] = true
			}
		}
		for row := range w.collisions[suffix] {
			if !shared[row] {
				w.ledger.find("10: %s is said to be shared by two events, and is not: %q", tables[0].name+suffix, row)
			}
		}
		w.counts.Shared, w.counts.Reported = len(shared), len(w.collisions[suffix]) // of the undisturbed run, which comes last
	}
}

// count fills in the numbers of the run.
func (w *World) count() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.ledger.ends() {
		w.counts.Records += int(n)
	}
	w.counts.Commits, w.counts.Unknown = w.ledger.commits, w.ledger.unknown
	w.counts.Tombstones = w.ledger.tombstones()
	for _, s := range slices.Concat(w.slots, w.guests) {
		w.counts.Lives += len(s.past)
		for _, p := range s.past {
			w.counts.Add(p.did)
		}
	}
}

func (c cellOf) String() string { return fmt.Sprintf("%q %s %d", c.row, c.column, c.version) }
