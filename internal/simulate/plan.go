package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Plan is what a seed draws: how large the world is, what comes in, and what goes wrong when.
type Plan struct {
	Seed uint64

	Processes, Partitions, Brokers, Servers int

	Records  int // of the input while faults last
	Burst    int // records that come together, on average
	Waybills int
	Note     int     // bytes of a scan's note, at most
	Poison   float64 // part of the records that cannot be written

	Static     bool // the processes are static members of their group
	Autoflush  bool
	Window     int
	MaxBatch   int           // records
	RPCTimeout time.Duration // of the HBase client
	Retries    int
	InTransit  time.Duration // how long regions stay closed that move

	Faults []Fault
}

// Fault is one thing that goes wrong, from a time on for a while.
type Fault struct {
	Kind string
	At   time.Duration // after the start
	For  time.Duration
	Seed uint64 // of what the fault draws when it begins: its victim, its strength
}

// Trouble is how long faults may begin; they end by its end.
const Trouble = 10 * time.Minute

// Draw draws the plan of a seed.
func Draw(seed uint64) *Plan {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &Plan{
		Seed: seed, Processes: 1 + rng.IntN(3), Partitions: 1 + rng.IntN(4), Brokers: 1 + rng.IntN(3), Servers: 1 + rng.IntN(3),
		Records: 200 + rng.IntN(2300), Burst: 1 + rng.IntN(60), Waybills: 5 + rng.IntN(200), Note: 1 + rng.IntN(1500),
		Poison: []float64{0, 0.002, 0.02}[rng.IntN(3)], Static: rng.IntN(4) == 0, Autoflush: rng.IntN(2) == 0, Window: 1 + rng.IntN(8),
		MaxBatch:   1 + rng.IntN(60),
		RPCTimeout: []time.Duration{5, 15, 60}[rng.IntN(3)] * time.Second, Retries: []int{1, 4, 15}[rng.IntN(3)],
		InTransit: time.Duration(rng.IntN(3000)) * time.Millisecond,
	}
	kinds := Kinds()
	for range 5 + rng.IntN(20) {
		at := time.Duration(rng.Int64N(int64(Trouble)))
		p.Faults = append(p.Faults, Fault{
			Kind: kinds[rng.IntN(len(kinds))], At: at, Seed: rng.Uint64(),
			For: min(Trouble-at, time.Second+time.Duration(rng.Int64N(int64(2*time.Minute)))),
		})
	}
	slices.SortFunc(p.Faults, func(a, b Fault) int { return int(a.At - b.At) })
	return p
}

// Kinds are the names of all faults.
func Kinds() []string {
	var names []string
	for name := range faults {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String is the plan for people who look for what a seed has found.
func (p *Plan) String() string {
	var b strings.Builder
	q := *p
	q.Faults = nil
	fmt.Fprintf(&b, "%+v", q)
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "\n  %8.3fs %-24s for %.3fs", f.At.Seconds(), f.Kind, f.For.Seconds())
	}
	return b.String()
}
