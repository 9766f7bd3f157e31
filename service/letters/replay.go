package letters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/ingest/deadletter"
	"brine/internal/fault"
	"brine/internal/term"
	"brine/mask"
	"brine/service"
	"brine/service/brokers"
	"brine/service/fixes"
)

// Fixed compiles the --let expressions for a pipeline's records. It refuses one that moves a row or its version, unless alterIdentity
// allows it, and one that copies what is masked into a field that is not, where everybody would see it.
func Fixed(p *config.Pipeline, let []string, alterIdentity bool) (*fixes.Fix, error) {
	fix, err := fixes.New(p, let)
	if err != nil {
		return nil, fault.Misused(err)
	}
	if reveals := strings.Join(fix.Reveals, ", "); reveals != "" {
		return nil, fault.Misused(fmt.Errorf("--let would make a field that is not masked from one that is (%s), and so show it; mask both, "+
			"or give --unmask if all who see the rows may see it", reveals))
	}
	if moves := strings.Join(fix.Moves, ", "); moves != "" && !alterIdentity {
		return nil, fault.Misused(fmt.Errorf("--let would alter %s, which writes another row, or another version of it, than the record "+
			"says; check with --preview, and give --alter-identity if you mean that", moves))
	}
	return fix, nil
}

// Replay is a replay of dead letters. Count fills in what there is to replay.
type Replay struct {
	Scan    *brokers.DeadLetters
	Fix     *fixes.Fix     // nil: records are written unchanged
	Letters map[string]int // by group
	Halves  []config.Half  // halves that have some, by name
	Unknown []string       // groups that have some but are not in the configuration; they are left out
}

// Count counts the selected dead letters.
func (r *Replay) Count(ctx context.Context) (err error) {
	if r.Letters, err = deadletter.CountByGroup(r.Scan.Letters(ctx, deadletter.Place{})); err != nil {
		return service.IngestError(err)
	}
	r.Sort()
	return nil
}

// Sort assigns the dead letters to halves.
func (r *Replay) Sort() {
	for _, group := range slices.Sorted(maps.Keys(r.Letters)) {
		if h, ok := r.Scan.Half(group); ok && slices.Contains(h.Pipeline.Halves(), h) {
			r.Halves = append(r.Halves, h)
		} else {
			r.Unknown = append(r.Unknown, group)
		}
	}
	slices.SortFunc(r.Halves, func(a, b config.Half) int { return cmp.Compare(a.Name(), b.Name()) })
}

// All returns the number of dead letters.
func (r *Replay) All() (n int) {
	for _, of := range r.Letters {
		n += of
	}
	return n
}

// Names returns the names of the halves.
func (r *Replay) Names() (names []string) {
	for _, h := range r.Halves {
		names = append(names, h.Name())
	}
	return names
}

// Preview reports what a replay would do, without doing it. It calls each with the first shown effects, masked by rules, for which it reads
// the stores of s; s may be nil if shown is 0. The result is valid even with an error.
func (r *Replay) Preview(ctx context.Context, s *service.Service, shown int, rules *mask.Rules,
	each func(*Effect) error) (*Previews, error) {
	previews, err := NewPreviews(r.Halves, r.Fix, s)
	if err != nil {
		return nil, err
	}
	return previews, service.IngestError(previews.Judge(ctx, r.Scan.Letters(ctx, deadletter.Place{}), shown, rules, each))
}

// Outcome is the JSON line of what became of the dead letters of a half.
type Outcome struct {
	Pipeline string               `json:"pipeline"`
	Letters  int                  `json:"letters"`
	Written  int                  `json:"written"`
	Rejected map[event.Reason]int `json:"rejected"`

	last    *deadletter.Letter
	several bool // whether its pipeline reads several topics
}

// Run writes the dead letters again through a service that was opened ToWrite. It gives up when nothing has settled for patience (0:
// never). It returns one outcome per half, which are valid even with an error.
func (r *Replay) Run(ctx context.Context, s *service.Service, rate int, patience time.Duration) (out []Outcome, err error) {
	var targets []deadletter.Target
	for _, name := range r.Names() {
		to := s.DeadLetterTarget(name, patience)
		to.Schema, to.Let = r.Fix.Apply(to.Schema), r.Fix.Text()
		targets = append(targets, to)
	}
	outcomes, err := r.Scan.Replay(ctx, rate, targets)
	for i, h := range r.Halves {
		out = append(out, Outcome{h.Name(), r.Letters[h.Group()], outcomes[i].Written, outcomes[i].Rejected, outcomes[i].Last,
			h.Pipeline.Several()})
	}
	return out, service.IngestError(err)
}

// Reasons returns how many are still rejected, and why.
func (o *Outcome) Reasons() (n int, why string) {
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(o.Rejected)) {
		n += o.Rejected[reason]
		reasons = append(reasons, fmt.Sprintf("%s %s", reason, term.Thousands(int64(o.Rejected[reason]))))
	}
	return n, strings.Join(reasons, ", ")
}

// Err returns an error if some dead letters still cannot be written. Unless whole is set, it omits the detail of the last one, which may
// hold a masked field.
func (o *Outcome) Err(whole bool) error {
	rejected, why := o.Reasons()
	if rejected == 0 {
		return nil
	}
	text := fmt.Sprintf("%s: %s still cannot be written: %s", o.Pipeline, term.Count(rejected, "record"), why)
	if whole {
		text += fmt.Sprintf("; the last is %s, field %q: %s", o.last.Origin().Among(o.several), o.last.Field, o.last.Detail)
	}
	return fault.New(fault.Failed, errors.New(text),
		"fix the cause and replay again; brine deadletters show PARTITION:OFFSET shows one in full")
}
