package former

import (
	"reflect"
	"testing"
	"time"

	"brine/config"
	"brine/ingest/control"
	"brine/ingest/eras"
	"brine/service/reload"
)

// TestReadByAnotherConfiguration checks by which configuration records count as read if the group's commits name another one than that of
// the file.
func TestReadByAnotherConfiguration(t *testing.T) {
	running, edited := load(t), load(t, "    version: at\n", "    version: at\n"+filter)
	now := edited.Halves()[0]
	was, is := reload.MeaningOf(running.Halves()[0]), reload.MeaningOf(now)
	since := time.UnixMilli(7)
	mark := func(offset int64, was, is string) control.Mark {
		return control.Mark{Group: now.Group(), Topic: "t", Offset: offset, Was: was, Is: is}
	}
	for name, c := range map[string]struct {
		reader    string
		moved     bool
		none      bool // nothing is committed
		marks     []control.Mark
		forgotten bool
		alone     bool   // only the configuration of the file is stored
		want      string // of offsets 5, 15, 25, 35, with a commit at 20: r of the running one, u unknown, . of the file
		elsewhere bool
	}{
		"of the file":                      {reader: is, want: "...."},
		"nobody noted it":                  {reader: "", want: "uuuu"},
		"nobody noted it, nothing stored":  {reader: "", forgotten: true, want: "...."},
		"nobody noted it, no other one":    {reader: "", alone: true, want: "...."},
		"nobody noted it, behind a mark":   {reader: "", marks: []control.Mark{mark(10, was, is)}, want: "ruuu"},
		"announced, and set":               {reader: reload.Reader{Meaning: is, Since: since, Before: was}.String(), moved: true, want: "uuuu"},
		"announced otherwise, and set":     {reader: reload.Reader{Meaning: was, Since: since, Before: is}.String(), moved: true, want: "uuuu"},
		"of the file, and set":             {reader: is, moved: true, want: "...."},
		"not reloaded yet, and set":        {reader: was, moved: true, want: "rrrr", elsewhere: true},
		"not reloaded yet":                 {reader: was, want: "rrrr", elsewhere: true},
		"not known":                        {reader: was, forgotten: true, want: "uuuu", elsewhere: true},
		"of an earlier version, not known": {reader: "x", want: "...."},
		"announced":                        {reader: reload.Reader{Meaning: is, Since: since, Before: was}.String(), want: "rr.."},
		"announced the other way":          {reader: reload.Reader{Meaning: was, Since: since, Before: is}.String(), want: "..rr", elsewhere: true},
		"reloaded to it before":            {reader: was, marks: []control.Mark{mark(10, is, was)}, want: ".rrr", elsewhere: true},
		"back to that of the file":         {reader: is, marks: []control.Mark{mark(10, is, was)}, want: ".uuu"},
		"a mark of another, no commit":     {none: true, marks: []control.Mark{mark(10, is, was)}, want: ".rrr"},
		"the mark is newer":                {reader: was, marks: []control.Mark{mark(20, was, is)}, want: "rr.."},
		"the mark is of another":           {reader: was, marks: []control.Mark{mark(10, was, is)}, want: "rurr", elsewhere: true},
	} {
		n := &Notes{cfg: edited, marks: c.marks, kept: map[string]control.Configuration{}}
		n.loaded = map[string]*config.Config{}
		for _, cfg := range []*config.Config{running, edited} {
			kept, err := Configuration(cfg.Halves()[0], cfg)
			if err != nil {
				t.Fatal(err)
			}
			if !c.forgotten && (!c.alone || cfg == edited) {
				n.kept[kept.Name] = kept
			}
		}
		if !c.none {
			n.Committed(now, 0, Commit{Offset: 20, Reader: c.reader, Moved: c.moved})
		}
		got, half := "", n.Written(now)
		for offset := int64(5); offset < 40; offset += 10 {
			switch _, as, known := half.As(0, offset); {
			case !known:
				got += "u"
			case as == nil || as.Pipeline.When != "":
				got += "."
			default:
				got += "r"
			}
		}
		if got != c.want || half.Elsewhere() != c.elsewhere {
			t.Errorf("%s: read by %s, elsewhere %v; want %s, %v", name, got, half.Elsewhere(), c.want, c.elsewhere)
		}
	}
}

// TestErasDoNotMoveWithCommits checks that each further commit of the same other configuration leaves the eras as they are: whoever follows
// opens its writers again where they change.
func TestErasDoNotMoveWithCommits(t *testing.T) {
	running, edited := load(t), load(t, "    version: at\n", "    version: at\n"+filter)
	now := edited.Halves()[0]
	was := reload.MeaningOf(running.Halves()[0])
	kept, err := Configuration(running.Halves()[0], running)
	if err != nil {
		t.Fatal(err)
	}
	n := &Notes{cfg: edited, kept: map[string]control.Configuration{kept.Name: kept}, loaded: map[string]*config.Config{}}
	var before map[int][]eras.Era
	for _, offset := range []int64{20, 30} {
		n.Committed(now, 0, Commit{Offset: offset, Reader: was})
		ends := n.Written(now).Ends()
		if len(ends[0]) != 1 || before != nil && !reflect.DeepEqual(ends, before) {
			t.Errorf("with a commit at %d: %+v, before %+v", offset, ends, before)
		}
		before = ends
	}
}
