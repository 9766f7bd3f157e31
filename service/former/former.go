// Package former knows how halves of pipelines were configured earlier: from which offset on another filter decides what becomes of
// records, for example, and which one did before. Reloads and starts record this in the control topic (Configuration). Code that reads
// records again asks for it (Read, Notes.Of).
//
// The invariants:
//   - An answer is what was in force, or unknown: an earlier configuration that is loaded counts only if it still means what it
//     meant, however variables, files and brine have changed since.
//   - Where two notes do not follow each other, because a process was restarted with another configuration or another member
//     owned the partition in between, what lies between them is unknown.
//   - An earlier configuration agrees with the current one on keys, tables and indexes. One that does not is unknown: nothing is
//     written or judged by it.
package former

import (
	"cmp"
	"context"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"brine/config"
	"brine/event"
	"brine/ingest/control"
	"brine/ingest/eras"
	"brine/service/reload"
)

// Configuration returns what to store of the configuration that a half has, before a mark says that it was in force.
func Configuration(of config.Half, cfg *config.Config) (control.Configuration, error) {
	written, err := cfg.Written()
	return control.Configuration{Name: reload.MeaningOf(of), Pipeline: of.Pipeline.Name, Written: written, Place: PlaceOf(of)}, err
}

// Notes are the marks and configurations in the control topic.
type Notes struct {
	cfg     *config.Config
	marks   []control.Mark
	kept    map[string]control.Configuration // those stored last
	stored  []control.Configuration          // whose places have not been asked for yet
	places  []control.Place
	lost    []string // pipelines of which an earlier version stored a configuration that no longer says where they read
	commits map[groupPartition]Commit
	loaded  map[string]*config.Config // by name; nil: it is no longer known what was in force
}

// Topic is the control topic, as far as it holds notes.
type Topic interface {
	Marks(ctx context.Context) ([]control.Mark, []control.Configuration, error)
}

// Read reads the notes for the halves of a configuration.
func Read(ctx context.Context, topic Topic, cfg *config.Config) (*Notes, error) {
	marks, all, err := topic.Marks(ctx)
	n := &Notes{cfg: cfg, marks: marks, kept: map[string]control.Configuration{}, stored: all, loaded: map[string]*config.Config{}}
	for _, c := range all {
		n.kept[c.Name] = c
	}
	return n, err
}

// OtherMeanings returns what the half made of records where it was configured otherwise, by what its group's commits note of who reads.
func OtherMeanings(h config.Half, readers []string) (names []string) {
	now := reload.MeaningOf(h)
	for _, reader := range readers {
		r := reload.ParseReader(reader).For(h)
		for _, name := range []string{r.Last(), r.Meaning} {
			if name != unknown && name != now && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Onward returns the last mark of each partition of a topic that a group reads, and of several at once the first.
func (n *Notes) Onward(group, topic string) map[int]control.Mark {
	last := map[int]control.Mark{}
	if n == nil {
		return last
	}
	for _, m := range n.marks {
		if before, known := last[m.Partition]; m.Group == group && m.Topic == topic && (!known || m.At.After(before.At)) {
			last[m.Partition] = m
		}
	}
	return last
}

// Over returns the marks that say what m says, though others lie behind it, because the offset was moved back to m.Offset: before m it is
// as they say, and up to the last of them both the former configurations and the one that reads now may have written. There are none if
// nothing changes.
func (n *Notes) Over(m control.Mark) []control.Mark {
	var behind []control.Mark
	for _, other := range n.marks { // sorted by offset and time
		if other.Group == m.Group && other.Topic == m.Topic && other.Partition == m.Partition && other.Offset > m.Offset {
			behind = append(behind, other)
		}
	}
	switch {
	case len(behind) > 0:
		last := behind[len(behind)-1]
		m.Was, m.Until = behind[0].Was, max(m.Until, last.Offset)
		marks := []control.Mark{m}
		if last.Is != m.Is { // or that one would count as the last
			m.Offset, m.Was, m.Until = last.Offset, last.Is, 0
			marks = append(marks, m)
		}
		return marks
	case m.Was != m.Is:
		return []control.Mark{m}
	}
	return nil
}

// Otherwise reports whether a configuration is stored by which a half makes something else of records, or may do so.
func (n *Notes) Otherwise(h config.Half) bool {
	for name, c := range n.kept {
		if c.Pipeline == h.Pipeline.Name && n.nameOf(name, h) != reload.MeaningOf(h) {
			return true
		}
	}
	return false
}

// Configured returns the configuration that is stored for a pipeline under a name, or nil if it is no longer known.
func (n *Notes) Configured(name, pipeline string) *config.Config { return n.load(name, pipeline) }

// Last returns the configuration that was stored last among those that have a table or an index, such as tables.scans, or nil.
func (n *Notes) Last(store string) *config.Config {
	latestFirst := func(a, b control.Configuration) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Name, b.Name)) }
	for _, c := range slices.SortedFunc(maps.Values(n.kept), latestFirst) {
		if cfg := n.load(c.Name, c.Pipeline); cfg != nil && has(cfg, store) {
			return cfg
		}
	}
	return nil
}

func has(cfg *config.Config, store string) bool {
	kind, name, _ := strings.Cut(store, ".")
	if kind == "tables" {
		return cfg.Table(name) != nil
	}
	return cfg.Index(name) != nil
}

// Half is how a half was configured before.
type Half struct {
	eras.Eras
	// Halves are the earlier halves, by reading, each on the half's topic. An unknown one has no Pipeline; its records are read as they are
	// now, and every event is kept.
	Halves  []config.Half
	Configs []*config.Config // their configurations; nil: unknown

	elsewhere bool
}

// Known reports whether a reading is of a known configuration.
func (h *Half) Known(reading int) bool { return h.Configs[reading] != nil }

// Unknown returns the number of offsets of a partition in [from, to) that were written by an unknown configuration.
func (h *Half) Unknown(partition int, from, to int64) int64 {
	if h == nil {
		return 0
	}
	return h.Within(partition, from, to, func(i int) bool { return !h.Known(i) })
}

// Ends returns the eras of each partition, which say where they end.
func (h *Half) Ends() map[int][]eras.Era {
	if h == nil {
		return nil
	}
	return h.Parts
}

// Elsewhere reports whether the half's group is read by another configuration than the one asked about, as where its file was edited, and
// brine has not been reloaded yet.
func (h *Half) Elsewhere() bool { return h != nil && h.elsewhere }

// Alike reports whether two say that a half was configured in the same ways, for the same records.
func (h *Half) Alike(other *Half) bool {
	return h.Elsewhere() == other.Elsewhere() && reflect.DeepEqual(h.meant(), other.meant())
}

// meaning is an era by what its configuration means. It covers the records before until that no earlier one covers.
type meaning struct {
	until   int64
	present bool
	name    string // "" and not present: it is not known
}

// meant returns what records of each partition meant. Eras that follow on each other and mean the same are one: commits move between them.
func (h *Half) meant() map[int][]meaning {
	out := map[int][]meaning{}
	for partition, list := range h.Ends() {
		for _, era := range list {
			m := meaning{until: era.Until, present: era.Reading == eras.Present}
			if !m.present && h.Known(era.Reading) {
				m.name = reload.MeaningOf(h.Halves[era.Reading])
			}
			if last := len(out[partition]) - 1; last >= 0 && out[partition][last].present == m.present && out[partition][last].name == m.name {
				out[partition][last].until = m.until
				continue
			}
			out[partition] = append(out[partition], m)
		}
	}
	return out
}

// As returns the configuration under which a record arrived, and its half, or nil if that is the current one. known is false if it is
// unknown.
func (h *Half) As(partition int, offset int64) (cfg *config.Config, half *config.Half, known bool) {
	if h == nil {
		return nil, nil, true
	}
	i, _ := h.At(partition, offset)
	if i == eras.Present {
		return nil, nil, true
	}
	return h.Configs[i], &h.Halves[i], h.Known(i)
}

// Of returns how a half of a single topic was configured before, or nil if no note says that it ever was different. Records that two
// configurations may have written are those of the later one.
func (n *Notes) Of(h config.Half) *Half { return n.of(h, false) }

// Written is Of for those who judge what was written: of records that two configurations may have written, it is unknown which did. And if
// the half has had another configuration since, as after a reload during a verification, records from then on are judged by that one. Where
// the last commit names the present one again, it is unknown from where on.
func (n *Notes) Written(h config.Half) *Half { return n.of(h, true) }

func (n *Notes) of(h config.Half, doubts bool) *Half {
	if n == nil {
		return nil
	}
	out, now := &Half{}, reload.MeaningOf(h)
	readings := map[string]int{}
	add := func(partition int, name string, until int64) {
		i, known := readings[name]
		if !known {
			i = len(out.Readings)
			readings[name] = i
			out.add(n.agreeing(name, h), h)
		}
		out.Add(partition, eras.Era{Until: until, Reading: i})
	}
	byPartition := map[int][]control.Mark{}
	for _, m := range n.marks { // sorted by offset and time
		if m.Group == h.Group() && m.Topic == h.Pipeline.Topic {
			m.Was, m.Is = n.nameOf(m.Was, h), n.nameOf(m.Is, h)
			byPartition[m.Partition] = append(byPartition[m.Partition], m)
		}
	}
	for at := range n.commits {
		if at.group == h.Group() && at.topic == h.Pipeline.Topic && byPartition[at.partition] == nil {
			byPartition[at.partition] = []control.Mark{}
		}
	}
	for _, partition := range slices.Sorted(maps.Keys(byPartition)) { // sorted, so that readings always get the same numbers
		marks := byPartition[partition]
		doubt, end := int64(0), int64(0) // records before doubt may be of both; the eras so far end at end
		for i, m := range marks {
			was := m.Was
			if i > 0 && marks[i-1].Is != was {
				if last := marks[i-1]; last.Offset == m.Offset && last.Was == was && last.Is == m.Is {
					doubt = max(doubt, m.Until)
					continue // one and the same, written twice
				}
				was = unknown // they do not follow each other
			}
			if doubts && doubt > end {
				end = min(doubt, m.Offset)
				add(partition, unknown, end)
			}
			if m.Offset > end || !doubts {
				add(partition, was, m.Offset)
			}
			doubt, end = max(doubt, m.Until), m.Offset
		}
		if doubts && doubt > end {
			add(partition, unknown, doubt)
			end = doubt
		}
		last := control.Mark{}
		if len(marks) > 0 {
			last = marks[len(marks)-1]
		}
		read, r, committed := n.reader(h, partition, marks)
		switch read {
		case another:
			out.readBy(r, partition, committed, end, last.Is, now, add)
			continue
		case uncertain:
			add(partition, unknown, math.MaxInt64)
			continue
		}
		if last.Is != now && wasInForce(marks, now) { // the configuration asked about is itself an earlier one
			since := unknown // nothing is written by what others have made of the file since
			if doubts && read != asked {
				since = last.Is
			}
			add(partition, since, math.MaxInt64)
		}
	}
	if len(out.Readings) == 0 {
		return nil
	}
	return out
}

const unknown = "" // a name that no configuration has

func wasInForce(marks []control.Mark, name string) bool {
	return slices.ContainsFunc(marks, func(m control.Mark) bool { return m.Was == name })
}

// add adds a reading.
func (h *Half) add(cfg *config.Config, now config.Half) {
	half := config.Half{Kind: now.Kind}
	if cfg != nil {
		half.Pipeline = cfg.Pipeline(now.Pipeline.Name)
		if now.Pipeline.Part() {
			half.Pipeline = half.Pipeline.On(now.Pipeline.Topic)
		}
		o := cfg.Ingest(half.Pipeline, half.Group())
		h.Readings = append(h.Readings, eras.Reading{Schema: o.Schema, Conditions: o.Conditions})
	} else {
		schema := now.Pipeline.Schema()
		if all, ok := schema.Derive.(interface{ KeepAll() event.Deriver }); ok {
			schema.Derive = all.KeepAll()
		}
		h.Readings = append(h.Readings, eras.Reading{Schema: schema})
	}
	h.Halves, h.Configs = append(h.Halves, half), append(h.Configs, cfg)
}

// agreeing loads an earlier configuration. It returns nil if the configuration is unknown, or has other keys, tables or indexes than the
// current one, as after a restart.
func (n *Notes) agreeing(name string, h config.Half) *config.Config {
	cfg := n.load(name, h.Pipeline.Name)
	if cfg == nil || !reload.Agree(cfg, n.cfg, h.Name()) {
		return nil
	}
	return cfg
}

// load loads an earlier configuration, or returns nil if it is no longer known.
func (n *Notes) load(name, pipeline string) *config.Config {
	if cfg, done := n.loaded[name]; done {
		return cfg
	}
	n.loaded[name] = nil
	kept, is := n.kept[name]
	if !is || name == "" {
		return nil
	}
	cfg := n.alike(kept.Written)
	if cfg == nil {
		loaded, problems := n.cfg.Formerly(kept.Written)
		if problems.Err() != nil {
			return nil
		}
		cfg = loaded
	}
	p := cfg.Pipeline(pipeline)
	if p == nil || !slices.ContainsFunc(p.Halves(), func(h config.Half) bool { return reload.Means(h, name) }) {
		return nil
	}
	n.loaded[name] = cfg
	return cfg
}

// alike returns the configuration that was loaded from the same text, as both halves of a pipeline have stored it, or nil.
func (n *Notes) alike(written string) *config.Config {
	for name, cfg := range n.loaded {
		if cfg != nil && n.kept[name].Written == written {
			return cfg
		}
	}
	return nil
}

// nameOf returns what a name in a mark means for a half. Earlier versions gave other names, also to what the whole pipeline means, which
// may differ although the half makes the same of records.
func (n *Notes) nameOf(name string, h config.Half) string {
	switch cfg := n.load(name, h.Pipeline.Name); {
	case reload.Means(h, name):
		return reload.MeaningOf(h)
	case cfg != nil:
		is := reload.MeaningOf(config.Half{Pipeline: cfg.Pipeline(h.Pipeline.Name), Kind: h.Kind})
		if n.load(is, h.Pipeline.Name) == nil {
			n.loaded[is] = cfg
		}
		return is
	}
	return name
}

// Renamed makes the earlier configurations write to other tables; see config.Config.Rename.
func (n *Notes) Renamed(into map[string]string) {
	if n == nil || len(into) == 0 {
		return
	}
	all := map[*config.Config]bool{} // loaded before any is renamed: a renamed one is known by none of its names
	for name := range n.kept {
		if cfg := n.load(name, n.kept[name].Pipeline); cfg != nil {
			all[cfg] = true
		}
	}
	for cfg := range all {
		cfg.Rename(into)
	}
}
