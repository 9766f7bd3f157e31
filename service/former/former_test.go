package former

import (
	"cmp"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/ingest/control"
	"brine/service/reload"
)

const text = `
kafka: { brokers: ["x:1"], group: brine }
hbase: { connect: "rpc://x:1" }
search: { connect: "http://x:1" }
tables:
  t: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }
indexes:
  x: { fields: { id: keyword, n: long } }
  other: { fields: { id: keyword, n: long } }
pipelines:
  p:
    topic: t
    fields: { id: text, at: time_ms, n: int }
    version: at
    rows: [ { table: t, set: { "e:n": n } } ]
    documents: [ { index: x, set: { id: id, n: n } } ]
`

const filter = "    when: 'n > 1'\n"

func load(t *testing.T, replaced ...string) *config.Config {
	t.Helper()
	cfg, problems := config.Parse("brine.yaml", []byte(strings.NewReplacer(replaced...).Replace(text)), os.LookupEnv)
	if err := problems.Err(); err != nil {
		t.Fatal(problems)
	}
	return cfg
}

// notesOf returns the notes of reloads through the given configurations, at offsets 1000, 2000 and so on of three partitions, as read after
// a restart with now.
func notesOf(t *testing.T, now *config.Config, reloads ...*config.Config) *Notes {
	t.Helper()
	n := &Notes{cfg: now, kept: map[string]control.Configuration{}, loaded: map[string]*config.Config{}}
	for i, before := range reloads[:len(reloads)-1] {
		for j, was := range before.Halves() {
			marks := make([]control.Mark, 3)
			for partition := range marks {
				marks[partition] = control.Mark{Group: was.Group(), Topic: "t", Partition: partition, Offset: int64(i+1) * 1000,
					Was: reload.MeaningOf(was), Is: reload.MeaningOf(reloads[i+1].Halves()[j])}
			}
			kept, err := Configuration(was, before)
			if err != nil {
				t.Fatal(err)
			}
			n.marks, n.kept[kept.Name] = append(n.marks, marks...), kept
		}
	}
	return n
}

// TestEarlierConfigurationWithOtherKeys checks that after a restart with other keys, tables or indexes nothing is written or judged by the
// earlier configuration, because old rows would appear beside the current ones. A change that does not concern a half makes nothing of it
// unknown.
func TestEarlierConfigurationWithOtherKeys(t *testing.T) {
	filtered := []string{"    version: at\n", "    version: at\n" + filter}
	for name, c := range map[string]struct {
		restarted       []string
		rows, documents bool // known
	}{
		"the same":        {filtered, true, true},
		"another filter":  {[]string{"    version: at\n", "    version: at\n    when: 'n > 5'\n"}, true, true},
		"another key":     {append(filtered, "md5(id, 4) + id", "md5(id, 8) + id"), false, false},
		"another index":   {append(filtered, "index: x", "index: other"), true, false},
		"another version": {[]string{"    version: at\n", ""}, false, false},
		"more":            {append(filtered, `"e:n": n }`, `"e:n": n, "e:id": id }`), true, true},
	} {
		now := load(t, c.restarted...)
		n := notesOf(t, now, load(t), load(t, filtered...))
		for i, want := range []bool{c.rows, c.documents} {
			h := now.Halves()[i]
			cfg, half, known := n.Of(h).As(0, 5)
			if known != want || (cfg != nil) != want || want && half.Pipeline.When != "" {
				t.Errorf("%s, %s: known %v, want %v", name, h.Kind, known, want)
			}
			if lost := n.Of(h).Unknown(0, 0, 5000); (lost == 0) != want || !want && lost != 1000 {
				t.Errorf("%s, %s: %d offsets are unknown", name, h.Kind, lost)
			}
		}
	}
}

// TestConfigurationSince checks that who asks by a configuration that a reload has replaced, as a verification that follows does, judges
// what was written since by the one that replaced it, if that is stored and agrees on keys; and that nothing is written by it.
func TestConfigurationSince(t *testing.T) {
	for name, c := range map[string]struct {
		since  []string
		stored bool
		known  bool
	}{
		"another filter":     {[]string{"    version: at\n", "    version: at\n" + filter}, true, true},
		"one not stored":     {[]string{"    version: at\n", "    version: at\n" + filter}, false, false},
		"another key":        {[]string{"md5(id, 4) + id", "md5(id, 8) + id"}, true, false},
		"another table's":    {[]string{"table: t,", "table: u,", "tables:\n", "tables:\n  u: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }\n"}, true, false},
		"a column that came": {[]string{`"e:n": n }`, `"e:n": n, "e:id": id }`}, true, false},
	} {
		first, since := load(t), load(t, c.since...)
		n := notesOf(t, first, first, since)
		h, then := first.Halves()[0], since.Halves()[0]
		if c.stored {
			kept, err := Configuration(then, since)
			if err != nil {
				t.Fatal(err)
			}
			n.kept[kept.Name] = kept
		}
		written := n.Written(h)
		if _, half, known := written.As(0, 500); !known || half.Pipeline.When != "" {
			t.Errorf("%s: before the reload: known %v, %+v", name, known, half)
		}
		_, half, known := written.As(0, 1500)
		if known != c.known || known && half.Pipeline.When != then.Pipeline.When {
			t.Errorf("%s: since the reload: known %v, want %v", name, known, c.known)
		}
		if lost := written.Unknown(0, 0, 5000); lost != map[bool]int64{false: 4000}[c.known] {
			t.Errorf("%s: %d offsets are unknown", name, lost)
		}
		if _, _, known := n.Of(h).As(0, 1500); known {
			t.Errorf("%s: a replay would write what came since", name)
		}
	}
}

// TestReadingsHaveTheSameNumbers checks that readings get the same numbers each time, whichever partitions have them.
func TestReadingsHaveTheSameNumbers(t *testing.T) {
	now := load(t, "    version: at\n", "    version: at\n"+filter)
	n := notesOf(t, now, load(t), now)
	for i := range n.marks { // unknown in one partition
		if n.marks[i].Partition == 1 {
			n.marks[i].Was = "gone"
		}
	}
	want := n.Of(now.Halves()[0]).Ends()
	for range 50 {
		if got := n.Of(now.Halves()[0]).Ends(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, then %+v", want, got)
		}
	}
}

// TestRowsKnowTheirFilterWhenOnlyDocumentsChanged reloads a filter of all, one of the documents, and one of all again: the rows' marks
// follow on each other, also those of versions that named what the whole pipeline means.
func TestRowsKnowTheirFilterWhenOnlyDocumentsChanged(t *testing.T) {
	documents := []string{"{ index: x,", "{ index: x, when: 'n > 7',"}
	filtered := []string{"    version: at\n", "    version: at\n" + filter}
	configs := []*config.Config{load(t), load(t, filtered...), load(t, append(filtered, documents...)...), load(t, documents...)}
	now := configs[3]
	for _, old := range []bool{false, true} {
		n := &Notes{cfg: now, kept: map[string]control.Configuration{}, loaded: map[string]*config.Config{}}
		for i, before := range configs[:3] {
			for j, was := range before.Halves() {
				is := configs[i+1].Halves()[j]
				if reload.MeaningOf(was) == reload.MeaningOf(is) {
					continue
				}
				kept, err := Configuration(was, before)
				if err != nil {
					t.Fatal(err)
				}
				m := control.Mark{Group: was.Group(), Topic: "t", Offset: int64(i+1) * 1000, Was: kept.Name, Is: reload.MeaningOf(is)}
				if old {
					m.Was, m.Is = reload.Meaning(was.Pipeline), reload.Meaning(is.Pipeline)
					kept.Name = m.Was
				}
				n.marks, n.kept[kept.Name] = append(n.marks, m), kept
			}
		}
		rows := n.Of(now.Halves()[0])
		if len(rows.Ends()[0]) != 2 || rows.Unknown(0, 0, 5000) > 0 {
			t.Fatalf("named as before: %v: %d offsets of rows are unknown, %+v", old, rows.Unknown(0, 0, 5000), rows.Ends())
		}
		for offset, when := range map[int64]string{5: "", 1500: "n > 1", 2500: "n > 1"} {
			if _, half, known := rows.As(0, offset); !known || half == nil || half.Pipeline.When != when {
				t.Errorf("named as before: %v: offset %d is read as %+v", old, offset, half)
			}
		}
		if h := n.Of(now.Halves()[1]); h.Unknown(0, 0, 5000) > 0 || len(h.Ends()[0]) != 3 {
			t.Errorf("named as before: %v: of documents %d are unknown, %+v", old, h.Unknown(0, 0, 5000), h.Ends())
		}
	}
}

// TestLast checks that the latest of the configurations that have a table or an index is found.
func TestLast(t *testing.T) {
	now := load(t)
	n := &Notes{cfg: now, kept: map[string]control.Configuration{}, loaded: map[string]*config.Config{}}
	for i, when := range []string{"n > 1", "n > 3", "n > 2"} {
		cfg := load(t, "    version: at\n", "    version: at\n    when: '"+when+"'\n", "md5(id, 4)", "md5(id, "+when[4:]+")")
		kept, err := Configuration(cfg.Halves()[0], cfg)
		if err != nil {
			t.Fatal(err)
		}
		kept.At = time.UnixMilli(int64(i))
		n.kept[kept.Name] = kept
	}
	for store, want := range map[string]string{"tables.t": "n > 2", "indexes.x": "n > 2", "tables.x": "", "indexes.t": ""} {
		got := ""
		if cfg := n.Last(store); cfg != nil {
			got = cfg.Pipelines[0].When
		}
		if got != want {
			t.Errorf("the last of %s has the filter %q, want %q", store, got, want)
		}
	}
}

// TestOtherMeanings checks what the notes of a group's commits say that a half made of records where it was configured otherwise.
func TestOtherMeanings(t *testing.T) {
	h := load(t).Halves()[0]
	now, early := reload.MeaningOf(h), reload.Meaning(h.Pipeline)
	for _, c := range []struct {
		readers []string
		want    []string
	}{
		{nil, nil},
		{[]string{"", now, early, now + "@7", early + "@7", now + ">" + now + "@7"}, nil},
		{[]string{"x", "x@7", now, "y@9"}, []string{"x", "y"}},
		{[]string{now + ">x@7"}, []string{"x"}}, // announced, and perhaps begun
		{[]string{"x>" + now + "@7"}, []string{"x"}},
	} {
		if got := OtherMeanings(h, c.readers); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.readers, got, c.want)
		}
	}
}

// TestWrittenByBoth checks that records which two configurations may have written are unknown to those who judge them, and only to them.
func TestWrittenByBoth(t *testing.T) {
	plain, once := load(t), load(t, "    version: at\n", "    version: at\n"+filter)
	now := load(t, "    version: at\n", "    version: at\n    when: 'n > 2'\n")
	for name, c := range map[string]struct {
		first, second [2]int64 // offset and until
		again         int64    // until of a second copy of the first mark
		want          string   // of offsets 5, 15, 25 …: p of the first, o of the second, u unknown, . of now
	}{
		"none":                           {[2]int64{10, 0}, [2]int64{40, 0}, 0, "pooo.."},
		"some":                           {[2]int64{10, 20}, [2]int64{40, 50}, 0, "puoou."},
		"a copy of the mark says so":     {[2]int64{10, 0}, [2]int64{40, 0}, 20, "puoo.."},
		"up to the next mark":            {[2]int64{10, 40}, [2]int64{40, 0}, 0, "puuu.."},
		"beyond the next mark":           {[2]int64{10, 50}, [2]int64{40, 0}, 0, "puuuu."},
		"beyond the next one's end":      {[2]int64{10, 60}, [2]int64{20, 30}, 0, "puuuuu"},
		"both at the same offset":        {[2]int64{10, 20}, [2]int64{10, 30}, 0, "puu..."},
		"from the partition's beginning": {[2]int64{0, 10}, [2]int64{40, 0}, 0, "uooo.."},
	} {
		h := now.Halves()[0]
		n := notesOf(t, now, plain, once, now)
		n.marks = nil
		p, o := reload.MeaningOf(plain.Halves()[0]), reload.MeaningOf(once.Halves()[0])
		mark := func(at [2]int64, was, is string) {
			n.marks = append(n.marks, control.Mark{Group: h.Group(), Topic: "t", Offset: at[0], Until: at[1], Was: was, Is: is})
		}
		mark(c.first, p, o)
		if c.again > 0 {
			mark([2]int64{c.first[0], c.again}, p, o)
		}
		mark(c.second, o, reload.MeaningOf(h))
		shown := func(of *Half) (text string) {
			for offset := int64(5); offset < 60; offset += 10 {
				switch _, half, known := of.As(0, offset); {
				case !known:
					text += "u"
				case half == nil:
					text += "."
				case half.Pipeline.When == "":
					text += "p"
				default:
					text += "o"
				}
			}
			return text
		}
		if got := shown(n.Written(h)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := shown(n.Of(h)); strings.Contains(got, "u") {
			t.Errorf("%s: read by %s", name, got)
		}
	}
}

// TestMarksOverEarlierOnes sets an offset back to before two marks, and checks what the marks then say of each record: what is not read
// again is by the filter of its time, what may be of several is not known, and what comes then is by the filter that reads now, even if
// that one was in force before.
func TestMarksOverEarlierOnes(t *testing.T) {
	first, second, third, fourth := load(t), withFilter(t, "n > 1"), withFilter(t, "n > 2"), withFilter(t, "n > 3")
	for name, c := range map[string]struct {
		offset, until int64 // of the mark that says from where on which filter reads now
		was, now      *config.Config
		want          string // the filter of each thousand of records
	}{
		"another filter":                {500, 2700, third, fourth, "1 ? ? ? 4"},
		"the same filter":               {500, 0, third, third, "1 ? ? 3 3"},
		"the first filter":              {500, 2700, third, first, "1 ? ? ? 1"},
		"between the marks":             {1500, 2700, third, second, "1 2 ? ? 2"},
		"between them, the same filter": {1500, 0, third, third, "1 2 ? 3 3"},
		"to the beginning":              {0, 2700, third, first, "? ? ? ? 1"},
		"behind them":                   {2300, 2700, third, fourth, "1 2 2 ? 4"},
		"behind them, the same filter":  {2300, 0, third, third, "1 2 2 3 3"},
		"nobody knows who":              {500, 2700, nil, fourth, "1 ? ? ? 4"},
	} {
		n := notesOf(t, c.now, first, second, third)
		m := control.Mark{Group: first.Halves()[0].Group(), Topic: "t", Offset: c.offset, Until: c.until, Is: meaningOf(c.now)}
		if c.was != nil {
			m.Was = meaningOf(c.was)
			kept, err := Configuration(c.was.Halves()[0], c.was)
			if err != nil {
				t.Fatal(err)
			}
			n.kept[kept.Name] = kept
		}
		for range 2 { // a process that is killed in between begins again
			n.marks = append(n.marks, n.Over(m)...)
			slices.SortStableFunc(n.marks, func(a, b control.Mark) int {
				return cmp.Or(strings.Compare(a.Group, b.Group), a.Partition-b.Partition, int(a.Offset-b.Offset))
			})
		}
		written, got := n.Written(c.now.Halves()[0]), []string{}
		for _, at := range []int64{400, 1400, 1900, 2500, 2900} {
			cfg, _, known := written.As(0, at)
			switch {
			case !known:
				got = append(got, "?")
			case cfg == nil:
				cfg = c.now
				fallthrough
			default:
				i := slices.IndexFunc([]*config.Config{first, second, third, fourth}, func(f *config.Config) bool { return meaningOf(f) == meaningOf(cfg) })
				got = append(got, strconv.Itoa(i+1))
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: records are judged by %s, want %s", name, got, c.want)
		}
	}
}

func withFilter(t *testing.T, when string) *config.Config {
	t.Helper()
	return load(t, "    version: at\n", "    version: at\n    when: '"+when+"'\n")
}

// meaningOf returns the name of what rows are made of.
func meaningOf(cfg *config.Config) string { return reload.MeaningOf(cfg.Halves()[0]) }

// TestEarlierConfigurationMasksWhatIsMaskedToday checks that what is read by an earlier configuration masks a field that only today's masks.
func TestEarlierConfigurationMasksWhatIsMaskedToday(t *testing.T) {
	masked := load(t, "    version: at\n", "    version: at\n    mask: [ n ]\n")
	was := notesOf(t, masked, withFilter(t, "n > 1"), masked).Written(masked.Halves()[0])
	if was == nil || !was.Known(0) || !was.Readings[0].Schema.Masks("n") {
		t.Errorf("read by %+v", was)
	}
}
