package fault

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Kind is one way to break something.
type Kind struct {
	Times int // in the whole plan
	Do    func(*Scene) error
}

// Kinds are all kinds by name.
type Kinds map[string]Kind

// Fault is a fault that was played, with its result.
type Fault struct {
	Kind   string
	Hits   string
	Failed string    // why it could not be played; it does not count then
	At     float64   // s since faults could first come
	Took   float64   // s until everything had recovered, and what was killed was back
	Began  time.Time `json:"-"`
}

// Plan returns every kind as often as it is to come, in an order that the seed determines.
func (k Kinds) Plan(seed uint64) []string {
	var all []string
	for _, name := range k.Names() {
		all = append(all, slices.Repeat([]string{name}, k[name].Times)...)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// Parse parses kinds separated by commas.
func (k Kinds) Parse(list string) (all []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if _, ok := k[name]; !ok {
			return nil, fmt.Errorf("--faults: unknown fault %q; the faults are: %s", name, strings.Join(k.Names(), ", "))
		}
		all = append(all, name)
	}
	return all, nil
}

// Names returns the names of the kinds, sorted.
func (k Kinds) Names() []string { return slices.Sorted(maps.Keys(k)) }
