package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"brine/rowkey"
	"brine/skew"
)

// TieRule is the rule of the advice about events that tie.
const TieRule = "tie"

// advise adds advice about the spread of rows.
func (f *Forecast) advise(t *Table) {
	say := func(rule, fix, format string, args ...any) {
		f.Advice = append(f.Advice, Advice{Rule: rule, Msg: fmt.Sprintf(format, args...), Fix: fix})
	}
	f.adviseSplit(t, say)
	largest := 0.0
	for _, h := range f.Hot {
		largest = max(largest, h.Share)
	}
	for _, h := range f.Hot {
		fix := "it contains no split point: add a field that tells its rows apart to the key, or begin the key with salt(N, …) of one"
		if len(h.SplitAt) > 0 {
			others := ""
			if len(f.Hot) > 1 {
				others = ", and the other large ones as well"
			}
			fix = fmt.Sprintf("split it at %s%s: the largest region then takes %.1f %% instead of %.1f %%", keys(h.SplitAt), others,
				100*h.Largest, 100*largest)
		}
		if t.Masked != "" {
			fix = "split it: brine tables plan --unmask says where"
		}
		say("hot-region", fix, "the region from %s takes %.1f %% of the rows, %.3f times the mean",
			cmp.Or(t.Masked, startText(h.Start)), 100*h.Share, h.Times)
	}
	if n := f.emptyRegions(); n > 0 {
		fix := "remove them"
		if f.Kind == "boundaries" {
			fix = fmt.Sprintf("write regions: %d instead of splits: brine splits on the key's own boundaries", len(f.Split.Regions))
		}
		say("empty-regions", fix, "%d of %d regions get no row of the sample: no key lies between their ends, or too few do",
			n, len(f.Split.Regions))
	}
	if l := f.Lead; l != nil {
		say("large-value", "rows with the same value are adjacent; if they get too many writes for one region, spread them with salt(N, …) "+
			"of a field that differs within "+l.Field,
			"one %s, %s, has %.1f %% of the rows", l.Field, l.Value, 100*l.Share)
	}
	if f.Collisions > 0 {
		say("collision", "add a field to the key that tells them apart",
			"different events share a row key of %s, and each hides the ones before: %s", t.Name, count(f.Collisions, "row"))
	}
	if f.Ties > 0 {
		say(TieRule, t.TieFix,
			"changes with the same version tie, and which one wins depends on the order in which they are applied: %s of %s",
			count(f.Ties, "row"), t.Name)
	}
}

// adviseSplit adds advice about what prevents a split from being found or from helping.
func (f *Forecast) adviseSplit(t *Table, say func(rule, fix, format string, args ...any)) {
	n := max(len(f.Split.Regions), f.asked)
	if n > 1 && f.tooFew(n) {
		fix := fmt.Sprintf("sample %d or more, with as many different values as the table will have", enough*n)
		if f.Rows < enough*n {
			say("few-rows", fix, "too few rows to tell how they spread over %d regions: %s", n, count(f.Rows, "row"))
		} else {
			say("few-values", fix, "too few values of the key's first field to tell how rows spread over %d regions: %d", n, f.values)
		}
	}
	lead := t.Key.Lint(rowkey.LintOptions{})
	i := slices.IndexFunc(lead, func(l rowkey.Finding) bool { return l.Rule == "monotonic-lead" })
	switch {
	case f.timed != nil && i >= 0:
		say("newest-region", lead[i].Fix, "all writes go to the newest region, wherever the table is split: %s", lead[i].Msg)
	case f.timed != nil:
		fix := "spread the rows of one value: begin the key with salt(N, …) of a field that differs among them"
		if f.timed.fix != "" {
			fix = f.timed.fix
		}
		say("split-in-time", fix, "a split into %d regions would cut within times: all writes would go to the newest region", f.timed.asked)
	}
}

// count formats a number of things.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// emptyRegions returns the number of regions without rows, if the sample is so large that each should have some.
func (f *Forecast) emptyRegions() (n int) {
	if f.tooFew(len(f.Split.Regions)) {
		return 0
	}
	for _, r := range f.Split.Regions {
		if r.Rows == 0 {
			n++
		}
	}
	return n
}

func keys(all []skew.Key) string {
	texts := make([]string, len(all))
	for i, k := range all {
		texts[i] = k.String()
	}
	return strings.Join(texts, " ")
}

func startText(k skew.Key) string {
	if len(k) == 0 {
		return "the table's start"
	}
	return k.String()
}
