package plan

import (
	"fmt"
	"strings"

	"brine/skew"
)

// advise says what a person should know of the spread.
func (f *Forecast) advise(t *Table) {
	say := func(rule, mend, format string, args ...any) {
		f.Advice = append(f.Advice, Advice{Rule: rule, Msg: fmt.Sprintf(format, args...), Mend: mend})
	}
	largest := 0.0
	for _, h := range f.Hot {
		largest = max(largest, h.Share)
	}
	for _, h := range f.Hot {
		mend := "no split point lies within it: put a field that tells its rows apart into the key, or begin the key with salt(N, …) of one"
		if len(h.SplitAt) > 0 {
			others := ""
			if len(f.Hot) > 1 {
				others = ", and the other large ones as well"
			}
			mend = fmt.Sprintf("split it at %s%s: the largest region then takes %.1f %% instead of %.1f %%", keys(h.SplitAt), others, 100*h.Largest, 100*largest)
		}
		say("hot-region", mend, "the region from %s takes %.1f %% of the rows, %.3f times the mean", startText(h.Start), 100*h.Share, h.Times)
	}
	if n := f.emptyRegions(); n > 0 {
		mend := "leave them out"
		if f.Kind == "boundaries" {
			mend = fmt.Sprintf("write regions: %d instead of splits: brine splits on the key's own boundaries", len(f.Split.Regions))
		}
		say("empty-regions", mend, "%d of %d regions get no row of the sample: no key lies between their ends, or too few do", n, len(f.Split.Regions))
	}
	if l := f.Lead; l != nil {
		say("large-value", "rows of one value stay side by side; if its writes are too many for one region, spread them: salt(N, …) of a field that differs within "+l.Field,
			"one %s, %s, has %.1f %% of the rows", l.Field, l.Value, 100*l.Share)
	}
	if f.Collisions > 0 {
		say("collision", "add a field to the key that tells them apart", "different events share a row key of %s, each hiding those before: %d rows", t.Name, f.Collisions)
	}
}

// emptyRegions counts regions without rows, if the sample is large enough that each should have had some.
func (f *Forecast) emptyRegions() (n int) {
	if f.Rows < 20*len(f.Split.Regions) {
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
