package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"brine/sink"
)

// Plan is what a seed draws: the size of the world, the input, and what goes wrong when.
type Plan struct {
	Seed uint64

	Processes, Partitions, Brokers, Servers int

	Records  int // in the input while faults last
	Burst    int // average number of records that come together
	Waybills int
	Note     int     // most bytes of a scan's note
	Poison   float64 // fraction of the records that cannot be written

	Format string  `json:",omitempty"` // of the records, one of formats; "": json
	Filter bool    `json:",omitempty"` // the pipeline has a when and a let
	Nulls  float64 `json:",omitempty"` // fraction of the records without a value

	Tombstones bool `json:",omitempty"` // records without a value delete what their keys and headers identify

	// Otherwise is what becomes of a row of the table last whose when does not hold; "": its rows have no when.
	Otherwise sink.Otherwise `json:",omitempty"`

	Asks bool `json:",omitempty"` // the processes obey people's requests while they run

	// Protocol is how the processes are members of their group: by the classic protocol, the consumer protocol, or first one and then the
	// other.
	Protocol string `json:",omitempty"`

	Static     bool // the processes are static members of their group
	Autoflush  bool
	Window     int
	MaxBatch   int           // records
	RPCTimeout time.Duration // of the HBase client
	Retries    int
	InTransit  time.Duration // how long regions that move stay closed

	Faults []Fault
}

// Fault is something that goes wrong at a time for a while.
type Fault struct {
	Kind string
	At   time.Duration // after the start
	For  time.Duration
	Seed uint64 // for what the fault draws when it begins: its victim, its strength
}

// Trouble is the time in which faults may begin; they end by its end.
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
	kinds := slices.DeleteFunc(Kinds(), func(kind string) bool {
		return slices.ContainsFunc(apart, func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
	})
	for range 5 + rng.IntN(20) {
		at := time.Duration(rng.Int64N(int64(Trouble)))
		p.Faults = append(p.Faults, Fault{
			Kind: kinds[rng.IntN(len(kinds))], At: at, Seed: rng.Uint64(),
			For: min(Trouble-at, time.Second+time.Duration(rng.Int64N(int64(2*time.Minute)))),
		})
	}
	p.drawFormat()
	p.drawTombstones()
	p.drawOtherwise()
	p.drawReloads()
	p.drawAsks()
	p.drawProtocol()
	slices.SortFunc(p.Faults, func(a, b Fault) int { return int(a.At - b.At) })
	return p
}

// drawFormat draws the format of the records, and, if the format has schemas, the faults of their registry. It uses its own random numbers,
// so that everything else that a seed draws stays the same.
func (p *Plan) drawFormat() {
	rng := rand.New(rand.NewPCG(p.Seed, 4))
	p.Format = []string{"json", "json", "json_array", "csv", "avro", "protobuf"}[rng.IntN(6)]
	p.Filter, p.Nulls = rng.IntN(2) == 0, []float64{0, 0.01}[rng.IntN(2)]
	if !p.registered() {
		return
	}
	kinds := kindsOf(ofRegistry)
	rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for _, kind := range kinds[:1+rng.IntN(len(kinds))] {
		p.add(rng, kind)
	}
}

// add adds a fault of up to a minute.
func (p *Plan) add(rng *rand.Rand, kind string) {
	at := time.Duration(rng.Int64N(int64(Trouble)))
	lasts := time.Second + time.Duration(rng.Int64N(int64(time.Minute)))
	p.Faults = append(p.Faults, Fault{Kind: kind, At: at, Seed: rng.Uint64(), For: min(Trouble-at, lasts)})
}

// drawReloads draws whether the processes are reloaded, and when. It uses its own random numbers, as drawFormat does.
func (p *Plan) drawReloads() {
	rng := rand.New(rand.NewPCG(p.Seed, 7))
	if rng.IntN(2) == 0 {
		return
	}
	kinds := kindsOf(ofReload)
	for range 1 + rng.IntN(5) {
		p.add(rng, kinds[rng.IntN(len(kinds))])
	}
}

// drawAsks draws whether people ask for pauses and limits. It uses its own random numbers too.
func (p *Plan) drawAsks() {
	rng := rand.New(rand.NewPCG(p.Seed, 8))
	if p.Asks = rng.IntN(3) == 0; !p.Asks {
		return
	}
	kinds := kindsOf(ofAsked)
	for range 1 + rng.IntN(4) {
		p.add(rng, kinds[rng.IntN(len(kinds))])
	}
}

// The protocols of plans, besides "", which is the classic one.
const (
	byBrokers = "consumer"
	moving    = "moving" // from the classic to the consumer protocol
)

// drawProtocol draws the protocol by which the processes are members. It uses its own random numbers too.
func (p *Plan) drawProtocol() {
	rng := rand.New(rand.NewPCG(p.Seed, 9))
	p.Protocol = []string{"", "", byBrokers, moving}[rng.IntN(4)]
	if p.Protocol == "" {
		return
	}
	if p.Protocol == moving {
		p.add(rng, ofConsumers+" take over")
	}
	for range rng.IntN(4) {
		p.add(rng, ofConsumers+" are refused")
	}
}

// apart are the name prefixes of the faults that only some plans have.
var apart = []string{ofRegistry, ofReload, ofAsked, ofConsumers}

// kindsOf returns the faults whose names have a prefix.
func kindsOf(prefix string) []string {
	return slices.DeleteFunc(Kinds(), func(kind string) bool { return !strings.HasPrefix(kind, prefix) })
}

// drawTombstones draws whether records without a value are deletes. It uses its own random numbers, as drawFormat does.
func (p *Plan) drawTombstones() {
	rng := rand.New(rand.NewPCG(p.Seed, 5))
	if rng.IntN(3) > 0 || p.Format == "json_array" { // several events share one key and one of each header
		return
	}
	p.Tombstones, p.Nulls = true, []float64{0.01, 0.1}[rng.IntN(2)]
}

// drawOtherwise draws whether one of the tables has a condition. It uses its own random numbers too.
func (p *Plan) drawOtherwise() {
	p.Otherwise = []sink.Otherwise{"", "", sink.Skip, sink.Delete}[rand.New(rand.NewPCG(p.Seed, 6)).IntN(4)]
}

// registered reports whether records name schemas at a registry.
func (p *Plan) registered() bool { return p.Format == "avro" || p.Format == "protobuf" }

// Kinds returns the names of all faults.
func Kinds() []string {
	var names []string
	for name := range faults {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String describes the plan for people who examine what a seed found.
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
