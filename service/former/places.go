package former

import (
	"slices"
	"strings"

	"brine/config"
	"brine/ingest/control"
)

// PlaceOf returns where a half reads, writes, and leaves dead letters.
func PlaceOf(h config.Half) *control.Place {
	p := h.Pipeline
	at := &control.Place{Half: h.Name(), Topics: p.Named(), Pattern: p.TopicPattern, DeadLetters: p.DeadLetters, Writes: []string{}}
	if p.Topic != "" && p.DeadLetters == lettersOf(p, "") {
		at.DeadLetters = "" // the default, spelled out
	}
	add := func(store string) {
		if !slices.Contains(at.Writes, store) {
			at.Writes = append(at.Writes, store)
		}
	}
	if h.Kind == "rows" {
		for i := range p.Rows {
			add("tables." + p.Rows[i].Table)
		}
	} else {
		for i := range p.Documents {
			add("indexes." + p.Documents[i].Index)
		}
	}
	return at
}

// lettersOf returns the topic of the dead letters of a pipeline of a single topic under another setting.
func lettersOf(p *config.Pipeline, setting string) string {
	with := *p
	with.DeadLetters = setting
	return with.DeadLetterTopic()
}

// Moved reports whether a half reads, writes or leaves dead letters elsewhere than another.
func Moved(a, b config.Half) bool {
	x, y := PlaceOf(a), PlaceOf(b)
	return !slices.Equal(x.Topics, y.Topics) || x.Pattern != y.Pattern || x.DeadLetters != y.DeadLetters || !slices.Equal(x.Writes, y.Writes)
}

// Letters returns the topics, other than the present one, in which a half of a single topic has left dead letters, as its setting was then.
func (n *Notes) Letters(h config.Half) (topics []string) {
	if n == nil {
		return nil
	}
	n.readPlaces()
	now := h.Pipeline.DeadLetterTopic()
	for _, at := range n.places {
		if at.Half != h.Name() || at.Pattern == "" && !slices.Contains(at.Topics, h.Pipeline.Topic) {
			continue
		}
		if topic := lettersOf(h.Pipeline, at.DeadLetters); topic != now && !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
	}
	return topics
}

// Others returns from where a table or an index was written earlier, and is not now, for people: "pipeline scans from topic scans.old".
// What has come from there stays, and no record that the present pipelines read accounts for it.
func (n *Notes) Others(store string, index bool) (others []string) {
	if n == nil {
		return nil
	}
	n.readPlaces()
	kind := "tables."
	if index {
		kind = "indexes."
	}
	add := func(pipeline, from string) {
		if text := "pipeline " + pipeline + " from " + from; !slices.Contains(others, text) {
			others = append(others, text)
		}
	}
	for i := range n.places {
		at := &n.places[i]
		if !slices.Contains(at.Writes, kind+store) {
			continue
		}
		name, _, _ := strings.Cut(at.Half, ".")
		var now *config.Pipeline
		if j := slices.IndexFunc(n.cfg.Halves(), func(h config.Half) bool { return h.Name() == at.Half }); j >= 0 {
			if h := n.cfg.Halves()[j]; slices.Contains(PlaceOf(h).Writes, kind+store) {
				now = h.Pipeline
			}
		}
		if at.Pattern != "" && (now == nil || now.TopicPattern != at.Pattern) {
			add(name, "topics that match "+at.Pattern)
		}
		for _, topic := range at.Topics {
			if now == nil || !now.Reads(topic) {
				add(name, "topic "+topic)
			}
		}
	}
	for _, pipeline := range n.lost {
		if n.cfg.Pipeline(pipeline) == nil {
			add(pipeline, "a topic that is no longer known")
		}
	}
	slices.Sort(others)
	return others
}

// readPlaces collects the places of all stored configurations, the first time. Earlier versions have not stored any: those follow from the
// configuration, which is loaded for that. Whoever only wants marks need not wait for it.
func (n *Notes) readPlaces() {
	all := n.stored
	n.stored = nil
	for i := range all {
		c := &all[i]
		if c.Place != nil {
			n.places = append(n.places, *c.Place)
			continue
		}
		var p *config.Pipeline
		if cfg, problems := n.cfg.Formerly(c.Written); problems.Err() == nil {
			p = cfg.Pipeline(c.Pipeline)
		}
		if p == nil {
			n.lost = append(n.lost, c.Pipeline)
			continue
		}
		for _, h := range p.Halves() {
			n.places = append(n.places, *PlaceOf(h))
		}
	}
}
