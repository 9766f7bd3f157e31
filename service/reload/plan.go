// Package reload is what a reload of the configuration does, as it follows from two configurations: which halves of pipelines start, stop,
// change and stay, by which settings, and what keeps it from being done. It is pure: it asks no server, and starts nothing.
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

// Action is what becomes of a half.
type Action string

// The actions.
const (
	Starts  Action = "starts"
	Stops   Action = "stops"   // it settles what it has begun, and commits
	Changes Action = "changes" // it settles, commits, and goes on from there as it is configured then
	Stays   Action = "stays"   // nothing of it stops
)

// Half is one half of a pipeline.
type Half struct {
	Name     string   `json:"pipeline"` // pipeline.half
	Does     Action   `json:"does"`
	Settings []string `json:"settings,omitempty"` // that change it
	Onward   bool     `json:"onward,omitempty"`   // what was written before stays as it is, though it would be written otherwise now
}

// Refusal is a setting that cannot change while brine runs.
type Refusal struct {
	Setting string `json:"setting"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Setting is one that changes.
type Setting struct {
	config.Difference
	Effect Effect `json:"effect"`
}

// Plan is what a reload does.
type Plan struct {
	Halves   []Half    `json:"pipelines"` // those of the new configuration in its order, behind them those that stop
	Settings []Setting `json:"settings"`
	Refusals []Refusal `json:"refusals,omitempty"` // none: it can be done
}

// New plans the way from one configuration to another.
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
	return p
}

func find(halves []config.Half, name string) int {
	return slices.IndexFunc(halves, func(h config.Half) bool { return h.Name() == name })
}

// judge says what it takes for a setting to count, and refuses what cannot change. A half that goes as a whole leaves what it has written
// as it is, and nothing goes on differently.
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
		p.refuse(&d, "is of the whole process", "restart brine with it: one member of the group after another")
	case Replay:
		p.refuse(&d, cmp.Or(d.Part, "is part of what rows and documents are known by, or of what those that are written mean"),
			"write a new table or index by a new pipeline, which reads the topic from its start; or stop brine in all members, "+
				"start it with this configuration, and have brine replay --as-configured write again what should be as it says")
	}
	return s
}

func (p *Plan) refuse(d *config.Difference, message, fix string) {
	p.Refusals = append(p.Refusals, Refusal{d.Setting, message, fix})
}

// Served refuses what a process that serves too cannot change while it runs: what it serves, and what it hides from whom, is as it was at
// its start.
func (p *Plan) Served(old, new *config.Config) {
	for i := range p.Settings {
		if d := &p.Settings[i]; d.Effect == Elsewhere {
			d.Effect = Restart
			p.refuse(&d.Difference, "is of what this process serves", "restart brine with it")
		}
	}
	if !config.MasksAlike(old, new) {
		p.refuse(&config.Difference{Setting: "mask"},
			"would hide other fields than this process, which serves them too, has hidden since its start",
			"restart brine with it")
	}
}

// halfOf is the half whose only rows or documents a difference may be.
func halfOf(d *config.Difference) string {
	if kind, ok := strings.CutPrefix(d.Section, "pipelines.<name>."); ok && (kind == "rows" || kind == "documents") {
		return d.Names[0] + "." + kind
	}
	return ""
}

// concerns reports whether a half has to change for a setting to count.
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
		if d.Names[0] != h.Pipeline.Name {
			return false
		}
		switch setting := strings.TrimPrefix(d.Setting, "pipelines."+h.Pipeline.Name+"."); {
		case strings.HasPrefix(setting, "documents"):
			return h.Kind == "documents"
		case strings.HasPrefix(setting, "write."), setting == "hot_fields", setting == "writer_header":
			return h.Kind == "rows"
		}
		return true
	}
	return false
}

// Err is what keeps the plan from being done; nil: nothing does.
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

// Names are those of the halves that do something.
func (p *Plan) Names(does Action) (names []string) {
	for i := range p.Halves {
		if p.Halves[i].Does == does {
			names = append(names, p.Halves[i].Name)
		}
	}
	return names
}

// Outcome is what has come of a reload.
type Outcome string

// The outcomes.
const (
	Applied   Outcome = "applied"
	Unchanged Outcome = "unchanged" // the configuration says what it said before
	Previewed Outcome = "preview"   // it could be applied, and was not asked to be
	Refused   Outcome = "refused"   // what ran before goes on
)

// Outcomes are all of them.
var Outcomes = []Outcome{Applied, Unchanged, Previewed, Refused}

// Result is what has come of a reload.
type Result struct {
	Outcome Outcome   `json:"result"`
	By      string    `json:"by"` // who asked, and how
	At      time.Time `json:"at"`
	Before  string    `json:"before"`          // the beginning of the configuration's SHA-256, without secrets and comments
	After   string    `json:"after,omitempty"` // nothing: it could not be read

	*Plan           // nil when there was no configuration to compare
	Error  string   `json:"error,omitempty"` // of what was refused
	Fix    string   `json:"fix,omitempty"`
	Warned []string `json:"warnings,omitempty"`

	Onward     []Offset `json:"onward,omitempty"`     // where what is Onward begins
	Unrecorded string   `json:"unrecorded,omitempty"` // why Onward is in the log alone
}

// Offset is where a half goes on in a partition.
type Offset struct {
	Half      string `json:"pipeline"`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"` // the first record that is written by the new configuration
}

// Compare sorts by half, topic and partition.
func (o Offset) Compare(other Offset) int {
	return cmp.Or(cmp.Compare(o.Half, other.Half), cmp.Compare(o.Topic, other.Topic), cmp.Compare(o.Partition, other.Partition))
}
