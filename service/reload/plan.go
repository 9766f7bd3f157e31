// Package reload derives from two configurations what a reload does: which halves of pipelines start, stop, change and stay, because of
// which settings, and what prevents the reload. It is pure: it makes no requests and starts nothing.
package reload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/internal/fault"
)

// Action is what a reload does to a half.
type Action string

// Actions.
const (
	Starts  Action = "starts"
	Stops   Action = "stops"   // it settles what it has started, and commits
	Changes Action = "changes" // it settles, commits, and continues from there with the new configuration
	Stays   Action = "stays"   // it is not stopped
)

// Half is one half of a pipeline in a plan.
type Half struct {
	Name     string   `json:"pipeline"` // pipeline.half
	Does     Action   `json:"does"`
	Settings []string `json:"settings,omitempty"` // the settings that change it
	Onward   bool     `json:"onward,omitempty"`   // what was written before is kept, although it would be written differently now
}

// Refusal is a changed setting that cannot change while brine runs.
type Refusal struct {
	Setting string `json:"setting"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Setting is a changed setting.
type Setting struct {
	config.Difference
	Effect Effect `json:"effect"`
}

const restarts = "restart brine with it"

// Plan is what a reload does.
type Plan struct {
	Halves   []Half    `json:"pipelines"` // the new configuration's halves in order, then those that stop
	Settings []Setting `json:"settings"`
	Refusals []Refusal `json:"refusals,omitempty"` // none: the plan can be carried out
}

// New returns the plan that leads from the old configuration to the new one.
func New(old, new *config.Config) *Plan {
	p := &Plan{Halves: []Half{}, Settings: []Setting{}}
	for _, d := range config.Differences(old, new) {
		p.Settings = append(p.Settings, p.judge(d, new))
	}
	before, after := old.Halves(), new.Halves()
	for _, h := range after {
		half := Half{Name: h.Name(), Does: Starts}
		if at := find(before, h.Name()); at >= 0 {
			half.Does = Stays
			for i := range p.Settings {
				if d := &p.Settings[i]; concerns(d, before[at]) || concerns(d, h) {
					half.Does, half.Onward = Changes, half.Onward || d.Effect == Onward
					half.Settings = append(half.Settings, d.Setting)
				}
			}
		}
		p.Halves = append(p.Halves, half)
	}
	for _, h := range before {
		if find(after, h.Name()) < 0 {
			p.Halves = append(p.Halves, Half{Name: h.Name(), Does: Stops})
		}
	}
	p.refuseDeadLetters(old, new)
	return p
}

// refuseDeadLetters refuses a change after which a pipeline's pattern matches a topic that still holds dead letters: it would read those as
// records.
func (p *Plan) refuseDeadLetters(old, new *config.Config) {
	for _, was := range old.Pipelines {
		for _, reads := range new.Pipelines {
			if was.DeadLetters != "" && reads.TopicPattern != "" && reads.Reads(was.DeadLetters) {
				p.refuse(&config.Difference{Setting: "pipelines." + reads.Name + ".topic_pattern"},
					"matches "+was.DeadLetters+", which holds dead letters of pipeline "+was.Name, "leave that topic out of the pattern")
			}
		}
	}
}

func find(halves []config.Half, name string) int {
	return slices.IndexFunc(halves, func(h config.Half) bool { return h.Name() == name })
}

// judge returns the effect of a change, and refuses a setting that cannot change. A half that is removed as a whole keeps what it has
// written, and nothing is written differently.
func (p *Plan) judge(d config.Difference, new *config.Config) Setting {
	s := Setting{d, effectOf(d.Section, d.Name)}
	of := halfOf(&d)
	switch {
	case d.Part != "":
		s.Effect = Replay
	case of != "" && d.Name == config.Goes && find(new.Halves(), of) < 0:
		s.Effect = Drain
	}
	switch s.Effect {
	case Restart:
		p.refuse(&d, "applies to the whole process", restarts+", one member of the group at a time")
	case Replay:
		p.refuse(&d, cmp.Or(d.Part, "is part of the identity or the meaning of rows and documents already written"),
			"write a new table or index with a new pipeline, which reads the topic from its start; or stop brine on all members, "+
				"start it with this configuration, and use brine replay --as-configured to rewrite what should follow it")
	}
	return s
}

func (p *Plan) refuse(d *config.Difference, message, fix string) {
	p.Refusals = append(p.Refusals, Refusal{d.Setting, message, fix})
}

// Comes returns the tables and indexes that only the new configuration has, such as tables.scans.
func (p *Plan) Comes() (stores []string) {
	for i := range p.Settings {
		if s := &p.Settings[i]; s.Name == config.Comes && (s.Section == "tables" || s.Section == "indexes") {
			stores = append(stores, s.Setting)
		}
	}
	return stores
}

// Returns refuses what must not be different of a half that comes back: it has written by the earlier configuration until it was removed.
// The earlier one is nil if nobody knows it any more.
func (p *Plan) Returns(h config.Half, earlier, new *config.Config) {
	if earlier == nil {
		p.refuse(&config.Difference{Setting: "pipelines." + h.Pipeline.Name},
			"is back, and it is not known whether its "+h.Kind+" had other keys or versions before it was removed", restarts)
		return
	}
	was := earlier.Halves()
	at := find(was, h.Name())
	p.refuseAgain(earlier, new, h.Name()+" wrote so until it was removed", func(s *Setting) bool {
		return concerns(s, h) || at >= 0 && concerns(s, was[at])
	})
}

// ReturnsStore is Returns for a table or an index, such as tables.scans.
func (p *Plan) ReturnsStore(store string, earlier, new *config.Config) {
	p.refuseAgain(earlier, new, store+" was so until it was removed", func(s *Setting) bool { return strings.HasPrefix(s.Setting, store+".") })
}

// refuseAgain refuses what would be refused between two other configurations, of the settings that count.
func (p *Plan) refuseAgain(earlier, new *config.Config, why string, counts func(*Setting) bool) {
	between := New(earlier, new)
	for i := range between.Settings {
		s := &between.Settings[i]
		if s.Effect != Replay || !counts(s) {
			continue
		}
		for _, r := range between.Refusals {
			known := slices.ContainsFunc(p.Refusals, func(other Refusal) bool { return other.Setting == r.Setting })
			if r.Setting == s.Setting && !known {
				p.Refusals = append(p.Refusals, Refusal{r.Setting, r.Message + ": " + why, r.Fix})
			}
		}
	}
}

// Served refuses what cannot change while the process also serves: what it serves, and what it masks from whom, stay as they were at its
// start.
func (p *Plan) Served(old, new *config.Config) {
	for i := range p.Settings {
		if d := &p.Settings[i]; d.Effect == Elsewhere {
			d.Effect = Restart
			p.refuse(&d.Difference, "affects what this process serves", restarts)
		}
	}
	if !config.MasksAlike(old, new) {
		p.refuse(&config.Difference{Setting: "mask"},
			"would mask fields other than those that this process, which also serves them, has masked since its start", restarts)
	}
}

// halfOf returns the name of the half whose only rows or documents a difference may be.
func halfOf(d *config.Difference) string {
	if kind, ok := strings.CutPrefix(d.Section, "pipelines.<name>."); ok && (kind == "rows" || kind == "documents") {
		return d.Names[0] + "." + kind
	}
	return ""
}

// concerns reports whether a half must change for a setting to take effect.
func concerns(d *Setting, h config.Half) bool {
	if d.Effect == Live || d.Effect == Elsewhere {
		return false
	}
	kind, _, _ := strings.Cut(d.Section, ".")
	switch kind {
	case "kafka":
		return true
	case "tables":
		return len(d.Names) > 0 && h.Pipeline.Uses(d.Names[0])
	case "indexes":
		return len(d.Names) > 0 && h.Kind == "documents" &&
			slices.ContainsFunc(h.Pipeline.Documents, func(x config.Documents) bool { return x.Index == d.Names[0] })
	case "pipelines":
		return d.Names[0] == h.Pipeline.Name && affects(d.Setting, h)
	}
	return false
}

// affects reports whether a setting of the half's pipeline is one of the half.
func affects(setting string, h config.Half) bool {
	switch setting := strings.TrimPrefix(setting, "pipelines."+h.Pipeline.Name+"."); {
	case strings.HasPrefix(setting, "documents"):
		return h.Kind == "documents"
	case strings.HasPrefix(setting, "write."), setting == "hot_fields", setting == "writer_header":
		return h.Kind == "rows"
	}
	return true
}

// Err returns what prevents the plan, or nil if nothing does.
func (p *Plan) Err() error {
	if len(p.Refusals) == 0 {
		return nil
	}
	var all []error
	var fixes []string
	for _, r := range p.Refusals {
		all = append(all, fmt.Errorf("%s %s", r.Setting, r.Message))
		if !slices.Contains(fixes, r.Fix) {
			fixes = append(fixes, r.Fix)
		}
	}
	return fault.New(fault.Usage, errors.Join(all...), strings.Join(fixes, "; "))
}

// Names returns the names of the halves with the given action.
func (p *Plan) Names(does Action) (names []string) {
	for i := range p.Halves {
		if p.Halves[i].Does == does {
			names = append(names, p.Halves[i].Name)
		}
	}
	return names
}

// Outcome is the outcome of a reload.
type Outcome string

// Outcomes.
const (
	Applied   Outcome = "applied"
	Unchanged Outcome = "unchanged" // the configuration means the same as before
	Previewed Outcome = "preview"   // only checked, as requested; it could be applied
	Refused   Outcome = "refused"   // what ran before continues
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Applied, Unchanged, Previewed, Refused}

// Result is the result of a reload.
type Result struct {
	Outcome Outcome   `json:"result"`
	By      string    `json:"by"` // who asked, and how
	At      time.Time `json:"at"`
	Before  string    `json:"before"`          // the configuration's Digest
	After   string    `json:"after,omitempty"` // empty if it could not be read

	*Plan             // nil if there was no configuration to compare
	Error  string     `json:"error,omitempty"` // of a refused reload
	Kind   fault.Kind `json:"kind,omitempty"`  // of the error
	Fix    string     `json:"fix,omitempty"`
	Warned []string   `json:"warnings,omitempty"`

	// Renewed are certificates and secrets whose files hold something else than at the last reload. New connections use them, whatever becomes
	// of the reload.
	Renewed    []config.Renewal `json:"renewed,omitempty"`
	Onward     []Offset         `json:"onward,omitempty"`     // where Onward settings take effect
	Unrecorded string           `json:"unrecorded,omitempty"` // why Onward was not recorded; halves record it before they read on
}

// Offset is where a half continues in a partition.
type Offset struct {
	Half      string `json:"pipeline"`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"`          // the first record that is written by the new configuration
	Until     int64  `json:"until,omitempty"` // records before it may be written by both; 0: none, since all had settled
}

// String returns half, topic, partition and offset in one word each.
func (o Offset) String() string {
	text := fmt.Sprintf("%s %s:%d:%d", o.Half, o.Topic, o.Partition, o.Offset)
	if o.Until > 0 {
		text += fmt.Sprintf(" (both before %d)", o.Until)
	}
	return text
}

// Compare orders offsets by half, topic and partition.
func (o Offset) Compare(other Offset) int {
	return cmp.Or(cmp.Compare(o.Half, other.Half), cmp.Compare(o.Topic, other.Topic), cmp.Compare(o.Partition, other.Partition))
}
