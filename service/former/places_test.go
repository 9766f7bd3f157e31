package former

import (
	"context"
	"slices"
	"testing"

	"brine/config"
	"brine/ingest/control"
)

// stored are the configurations of a control topic without marks.
type stored []control.Configuration

func (s stored) Marks(context.Context) ([]control.Mark, []control.Configuration, error) {
	return nil, s, nil
}

// TestPlacesOfFormerConfigurations checks that what halves have read, written and left as dead letters elsewhere is known, also where an
// earlier version has stored the configuration, and that it is unknown rather than nothing where that cannot be read any more.
func TestPlacesOfFormerConfigurations(t *testing.T) {
	const letters, topic = "    dead_letters: x.dead\n", "    topic: t0\n"
	gone := []string{"  p:\n", "  q:\n"}
	for name, c := range map[string]struct {
		was, is        []string
		letters        []string
		rows, document []string // what else wrote table t and index x
	}{
		"the same":                     {},
		"other dead letters":           {was: []string{"    topic: t\n", "    topic: t\n" + letters}, letters: []string{"x.dead"}},
		"dead letters by default":      {is: []string{"    topic: t\n", "    topic: t\n" + letters}, letters: []string{"t.dead"}},
		"the default, spelled out":     {was: []string{"    topic: t\n", "    topic: t\n    dead_letters: t.dead\n"}},
		"another topic":                {was: []string{"    topic: t\n", topic}, rows: []string{"pipeline p from topic t0"}, document: []string{"pipeline p from topic t0"}},
		"one topic less":               {was: []string{"    topic: t\n", "    topics: [ t, t0 ]\n"}, rows: []string{"pipeline p from topic t0"}, document: []string{"pipeline p from topic t0"}},
		"one topic more":               {is: []string{"    topic: t\n", "    topics: [ t, t0 ]\n"}},
		"a pattern":                    {was: []string{"    topic: t\n", "    topic_pattern: 't.*'\n"}, rows: []string{"pipeline p from topics that match t.*"}, document: []string{"pipeline p from topics that match t.*"}},
		"a pipeline that was removed":  {was: gone, rows: []string{"pipeline q from topic t"}, document: []string{"pipeline q from topic t"}},
		"another index":                {was: []string{"index: x", "index: other"}},
		"documents that were removed":  {is: []string{"    documents: [ { index: x, set: { id: id, n: n } } ]\n", ""}, document: []string{"pipeline p from topic t"}},
		"another filter, another name": {was: []string{"    version: at\n", "    version: at\n" + filter}},
	} {
		was, now := load(t, c.was...), load(t, c.is...)
		for _, early := range []bool{false, true} {
			var all stored
			for _, cfg := range []*config.Config{was, now} {
				for _, h := range cfg.Halves() {
					kept, err := Configuration(h, cfg)
					if err != nil {
						t.Fatal(err)
					}
					if early {
						kept.Place = nil
					}
					all = append(all, kept)
				}
			}
			n, err := Read(t.Context(), all, now)
			if err != nil {
				t.Fatal(err)
			}
			h := now.Halves()[0]
			h.Pipeline = h.Pipeline.On("t")
			if got := n.Letters(h); !slices.Equal(got, c.letters) {
				t.Errorf("%s: dead letters in %q, want %q", name, got, c.letters)
			}
			if got := n.Others("t", false); !slices.Equal(got, c.rows) {
				t.Errorf("%s: the table was written by %q, want %q", name, got, c.rows)
			}
			if got := n.Others("x", true); !slices.Equal(got, c.document) {
				t.Errorf("%s: the index was written by %q, want %q", name, got, c.document)
			}
		}
	}
	for pipeline, want := range map[string][]string{"q": {"pipeline q from a topic that is no longer known"}, "p": nil} {
		n, err := Read(t.Context(), stored{{Name: "2.x", Pipeline: pipeline, Written: "pipelines: {"}}, load(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Others("t", false); !slices.Equal(got, want) {
			t.Errorf("of pipeline %s, whose configuration cannot be read: %q, want %q", pipeline, got, want)
		}
	}
}

// TestPlacesAreReadOnceAndWhenAskedFor checks that configurations without a place are loaded only for those who ask for places, and once.
func TestPlacesAreReadOnceAndWhenAskedFor(t *testing.T) {
	n, err := Read(t.Context(), stored{{Name: "2.x", Pipeline: "q", Written: "pipelines: {"}}, load(t))
	if err != nil || len(n.places)+len(n.lost) > 0 {
		t.Fatalf("read before anybody asks: %+v, %q, %v", n.places, n.lost, err)
	}
	for range 2 {
		n.Letters(n.cfg.Halves()[0])
		n.Others("t", false)
	}
	if len(n.places) != 0 || !slices.Equal(n.lost, []string{"q"}) {
		t.Errorf("read several times: %+v, %q", n.places, n.lost)
	}
}
