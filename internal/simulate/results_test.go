package simulate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/bench/measure"
)

// results are the results of make simulate: the pieces of the seeds that were run, in seed order, without duplicates.
type results struct{ Pieces []*piece }

// piece is the result of consecutive seeds on one commit. Times are in seconds.
type piece struct {
	First, Last           uint64
	Seeds                 int
	Date, Commit, Machine string
	Took, Simulated       float64
	CaughtUp              float64 // longest
	Counts                Counts
	Kinds                 map[string]int // of the faults
	Formats               map[string]int `json:",omitempty"` // of the records
	Failed                []failure      `json:",omitempty"`
}

// failure is the first failure that a seed found. Its plan is in testdata/seeds.txt.
type failure struct {
	Seed    uint64
	Finding string
}

func readResults(file string) (*results, error) {
	r := new(results)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

func (r *results) write(file string) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// next returns the first seed after all that were run.
func (r *results) next() uint64 {
	if len(r.Pieces) == 0 {
		return 1
	}
	return r.Pieces[len(r.Pieces)-1].Last + 1
}

// room reports whether seeds can be added: an existing piece is replaced whole, or not at all.
func (r *results) room(first, last uint64) error {
	for _, p := range r.Pieces {
		if overlap := first <= p.Last && p.First <= last; overlap && (p.First < first || last < p.Last) {
			return fmt.Errorf("seeds %d to %d are recorded, as one piece: FIRST=%d begins behind it, or run all of them again", p.First, p.Last, p.Last+1)
		}
	}
	return nil
}

// add adds a piece, which replaces the pieces whose seeds it ran again.
func (r *results) add(p *piece) {
	r.Pieces = slices.DeleteFunc(r.Pieces, func(o *piece) bool { return p.First <= o.First && o.Last <= p.Last })
	r.Pieces = append(r.Pieces, p)
	slices.SortFunc(r.Pieces, func(a, b *piece) int { return cmp.Compare(a.First, b.First) })
	for i := len(r.Pieces) - 1; i > 0; i-- { // adjacent pieces of one commit become one
		if before, p := r.Pieces[i-1], r.Pieces[i]; before.Last+1 == p.First && before.Commit == p.Commit && before.Date == p.Date && before.Machine == p.Machine {
			before.absorb(p)
			before.Last = p.Last
			r.Pieces = slices.Delete(r.Pieces, i, i+1)
		}
	}
}

func (p *piece) absorb(o *piece) {
	p.Seeds += o.Seeds
	p.Took += o.Took
	p.Simulated += o.Simulated
	p.CaughtUp = max(p.CaughtUp, o.CaughtUp)
	p.Counts.Add(o.Counts)
	for kind, n := range o.Kinds {
		p.Kinds[kind] += n
	}
	if p.Formats == nil {
		p.Formats = map[string]int{}
	}
	for format, n := range o.Formats {
		p.Formats[format] += n
	}
	p.Failed = append(p.Failed, o.Failed...)
}

// page returns the summary for docs/reliability.md.
func (r *results) page() string {
	var b strings.Builder
	all := piece{Kinds: map[string]int{}}
	b.WriteString("| seeds | commit | date | machine | failed |\n|---|---|---|---|---|\n")
	for _, p := range r.Pieces {
		all.absorb(p)
		fmt.Fprintf(&b, "| %d–%d | %s | %s | %s | %d |\n", p.First, p.Last, p.Commit, p.Date, p.Machine, len(p.Failed))
	}
	faults := 0
	for _, n := range all.Kinds {
		faults += n
	}
	fmt.Fprintf(&b, "\nIn all %d seeds, %.1f days simulated in %v, %d faults, %d failed.\n\n",
		all.Seeds, all.Simulated/(24*3600), time.Duration(all.Took*float64(time.Second)).Round(time.Minute), faults, len(all.Failed))
	c := &all.Counts
	fmt.Fprintf(&b, "%d records came in and were submitted %d times, %d of them again by the loop; %d became dead letters. Processes had %d lives, partitions were assigned %d times, %d flights were abandoned, "+
		"%d partitions halted for a while, and %d commits were made, of which %d failed. The longest time from the end of the faults to no lag was %.1f s, of %v allowed. %d rows were shared by two events; the undisturbed runs reported %d.\n\n",
		c.Records, c.Submitted, c.Retried, c.Letters, c.Lives, c.Assignments, c.Abandoned, c.Halted, c.Commits, c.CommitsFailed, all.CaughtUp, catchUp, c.Shared, c.Reported)
	if len(all.Formats) > 0 {
		b.WriteString("| format | seeds |\n|---|---|\n")
		for _, format := range slices.Sorted(maps.Keys(all.Formats)) {
			fmt.Fprintf(&b, "| %s | %d |\n", format, all.Formats[format])
		}
		b.WriteString("\n")
	}
	b.WriteString("| fault | times |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(all.Kinds)) {
		fmt.Fprintf(&b, "| %s | %d |\n", kind, all.Kinds[kind])
	}
	for _, f := range all.Failed {
		fmt.Fprintf(&b, "\nSeed %d: %s\n", f.Seed, f.Finding)
	}
	return b.String()
}

// atOnce is the number of seeds that are recorded together, and so the most that an interrupted run loses.
const atOnce = 250

// recorded runs seeds, one piece after another, and records the results.
func recorded(t *testing.T, first uint64, n int, file, page string) {
	t.Helper()
	if err := measure.CleanTree(); err != nil {
		t.Fatal(err)
	}
	all, err := readResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if first == 0 {
		first = all.next()
	}
	last := first + uint64(n) - 1
	if err := all.room(first, last); err != nil {
		t.Fatal(err)
	}
	on := measure.NewReport("simulate")
	for ; first <= last; first += atOnce {
		y := seeds(t, first, min(atOnce, int(last-first)+1), func(line string) { fmt.Fprintln(os.Stderr, line) })
		y.piece.Date, y.piece.Commit, y.piece.Machine = on.Date, on.Commit, on.Machine
		all.add(&y.piece)
		err := all.write(file)
		if err == nil && page != "" {
			err = measure.WriteSection(page, "simulate", "simulate", all.page())
		}
		for _, r := range y.failed {
			err = errors.Join(err, keep(r))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestPiecesAddUp(t *testing.T) {
	some := func(first, last uint64, commit string) *piece {
		n := int(last - first + 1)
		return &piece{First: first, Last: last, Seeds: n, Commit: commit, Took: 60 * float64(n), Simulated: 864 * float64(n), CaughtUp: float64(first), Counts: Counts{Records: 10 * n}, Kinds: map[string]int{"move": n}}
	}
	file := t.TempDir() + "/simulate.json"
	for _, p := range []*piece{some(301, 400, "b"), some(1, 200, "a"), some(201, 300, "a"), some(401, 500, "b")} {
		r, err := readResults(file)
		if err == nil {
			err = r.room(p.First, p.Last)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.add(p)
		if err := r.write(file); err != nil {
			t.Fatal(err)
		}
	}
	r, err := readResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pieces) != 2 || r.Pieces[0].Last != 300 || r.Pieces[1].Counts.Records != 2000 || r.next() != 501 {
		t.Fatalf("%d pieces, next %d", len(r.Pieces), r.next())
	}
	for _, want := range []string{"| 1–300 | a |", "| 301–500 | b |", "In all 500 seeds, 5.0 days simulated in 8h20m0s, 500 faults, 0 failed", "5000 records came in", "no lag was 401.0 s", "| move | 500 |"} {
		if !strings.Contains(r.page(), want) {
			t.Errorf("the page lacks %q:\n%s", want, r.page())
		}
	}
	if err := r.room(250, 600); err == nil || !strings.Contains(err.Error(), "FIRST=301") {
		t.Errorf("half of a piece: %v", err)
	}
	again := some(301, 600, "c")
	again.Failed = []failure{{310, "1: lost"}}
	if err := r.room(again.First, again.Last); err != nil {
		t.Fatal(err)
	}
	if r.add(again); len(r.Pieces) != 2 || !strings.Contains(r.page(), "In all 600 seeds") || !strings.Contains(r.page(), "Seed 310: 1: lost") {
		t.Errorf("run again:\n%s", r.page())
	}
}
