// Package former is how halves of pipelines were configured before they were reloaded: from which offset on another filter, say, decides
// what becomes of records, and which one did before. Reloads note it (Note), in the topic of what is asked of pipelines; whoever reads
// records again asks for it (Read, Halves.Of).
//
// The invariants:
//   - What is answered is what was in force, or that it is not known: a configuration that is loaded again counts only if it still means
//     what it meant, whatever has become of variables, files and brine since.
//   - Where two notes do not follow on each other, since a process was restarted otherwise or a partition was another member's between
//     them, what is between them is not known.
//   - An earlier configuration agrees with that of now on keys, tables and indexes. One that does not is not known: nothing is written, or
//     judged, by it.
package former

import (
	"context"
	"maps"
	"math"
	"slices"

	"brine/config"
	"brine/event"
	"brine/ingest/control"
	"brine/ingest/eras"
	"brine/service/reload"
)

// Note adds to marks what the pipeline means and has meant, by a configuration, and returns what is to be kept of that.
func Note(marks []control.Mark, before, after *config.Pipeline, cfg *config.Config) (control.Configuration, error) {
	was, is := reload.Meaning(before), reload.Meaning(after)
	for i := range marks {
		marks[i].Was, marks[i].Is = was, is
	}
	written, err := cfg.Written()
	return control.Configuration{Name: was, Pipeline: before.Name, Written: written}, err
}

// Notes are what reloads have noted.
type Notes struct {
	cfg    *config.Config
	marks  []control.Mark
	kept   map[string]control.Configuration
	loaded map[string]*config.Config // by name; nil: what was in force is not known any more
}

// Read reads the notes, for the halves of a configuration.
func Read(ctx context.Context, topic *control.Topic, cfg *config.Config) (*Notes, error) {
	n := &Notes{cfg: cfg, loaded: map[string]*config.Config{}}
	var err error
	n.marks, n.kept, err = topic.Marks(ctx)
	return n, err
}

// Half is how a half was configured before.
type Half struct {
	eras.Eras
	// Halves are what it was, by reading, each on the half's topic; without a Pipeline where that is not known. Records are then read as they
	// are now, and every event is kept.
	Halves  []config.Half
	Configs []*config.Config // that these are of; nil where it is not known
}

// Known reports whether a reading is that of a configuration that is known.
func (h *Half) Known(reading int) bool { return h.Configs[reading] != nil }

// Unknown is how many offsets of a partition, from one up to another, were written by a configuration that is not known.
func (h *Half) Unknown(partition int, from, to int64) int64 {
	if h == nil {
		return 0
	}
	return h.Within(partition, from, to, func(i int) bool { return !h.Known(i) })
}

// Ends are where the eras end, by partition.
func (h *Half) Ends() map[int][]eras.Era {
	if h == nil {
		return nil
	}
	return h.Parts
}

// As returns the configuration that a record came under, and the half by it; nil if it is that of now. known is false where nobody knows
// which one it was.
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

// Of returns how the half, which is of one topic, was configured before; nil: never otherwise, as far as was noted.
func (n *Notes) Of(h config.Half) *Half {
	if n == nil {
		return nil
	}
	out, now := &Half{}, reload.Meaning(h.Pipeline)
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
	for _, m := range n.marks { // by offset and time
		if m.Group == h.Group() && m.Topic == h.Pipeline.Topic {
			byPartition[m.Partition] = append(byPartition[m.Partition], m)
		}
	}
	for _, partition := range slices.Sorted(maps.Keys(byPartition)) { // readings have the same numbers each time
		marks := byPartition[partition]
		for i, m := range marks {
			was := m.Was
			if i > 0 && marks[i-1].Is != was {
				was = unknown // they do not follow on each other
			}
			add(partition, was, m.Offset)
		}
		if last := marks[len(marks)-1]; last.Is != now && wasInForce(marks, now) { // what is asked about is an earlier one itself
			add(partition, unknown, math.MaxInt64)
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

// agreeing loads an earlier configuration; nil where it is not known, or has other keys, tables or indexes than that of now, as after a
// restart.
func (n *Notes) agreeing(name string, h config.Half) *config.Config {
	cfg := n.load(name, h.Pipeline.Name)
	if cfg == nil || !reload.Agree(cfg, n.cfg, h.Name()) {
		return nil
	}
	return cfg
}

// load loads an earlier configuration; nil where it is not known what it was.
func (n *Notes) load(name, pipeline string) *config.Config {
	if cfg, done := n.loaded[name]; done {
		return cfg
	}
	n.loaded[name] = nil
	kept, is := n.kept[name]
	if !is || name == "" {
		return nil
	}
	cfg, problems := n.cfg.Formerly(kept.Written)
	if problems.Err() != nil {
		return nil
	}
	if p := cfg.Pipeline(pipeline); p == nil || reload.Meaning(p) != name {
		return nil
	}
	n.loaded[name] = cfg
	return cfg
}

// Renamed has the earlier configurations write other tables, as config.Config.Rename does.
func (n *Notes) Renamed(into map[string]string) {
	if n == nil || len(into) == 0 {
		return
	}
	for name := range n.kept {
		if cfg := n.load(name, n.kept[name].Pipeline); cfg != nil {
			cfg.Rename(into)
		}
	}
}
