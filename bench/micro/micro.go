// Package micro runs the Go benchmarks of a record's path and writes the results, with their targets, to docs/benchmarks.md. `make bench`
// runs it.
//
// It ends with one line per target, `name value target ok|short`, and exits with 1 if any is short. Time is CPU time of one core (-cpu 1),
// in medians of several runs, because these machines are small and shared. Commands are timed on all cores.
package micro

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/bench/measure"
)

// none means that there is no limit on allocations.
const none = -1

// target is a benchmark and its limits; a time of 0 means that there is no limit.
type target struct {
	what      string // in the record's path
	pkg       string
	bench     string // full name, as go test prints it, without the -cpu suffix
	maxNS     float64
	maxAllocs float64
	maxRatio  float64 // for a benchmark that compares two ways; otherwise 0
}

var targets = []target{
	{"decode: JSON to event, a 200-byte scan", "./event", "BenchmarkDecode/200B", 700, 0, 0},
	{"decode: a change of 1 kB as Debezium writes it, both images", "./event", "BenchmarkDebezium/bare", 2500, 0, 0},
	{"decode: the same behind its schema, as by default", "./event", "BenchmarkDebezium/with_its_schema", 2500, 0, 0},
	{"beside it: encoding/json", "./event", "BenchmarkDebezium/encoding-json", 0, none, 0},
	{"beside it: fastjson with its Validate", "./event", "BenchmarkDebezium/fastjson+Validate", 0, none, 0},
	{"decode: Avro, 8 fields of 8", "./event/avro", "BenchmarkDecode/8_of_8_fields", 350, 0, 0},
	{"decode: Avro, 8 fields of 8, by a registry", "./event/avro", "BenchmarkDecode/8_of_8_fields_by_a_registry", 350, 0, 0},
	{"decode: Avro, 8 fields of 20", "./event/avro", "BenchmarkDecode/8_of_20_fields", 0, 0, 0},
	{"beside it: twmb/avro into a struct", "./event/avro", "BenchmarkOtherLibraries/twmb_struct", 0, none, 0},
	{"beside it: goavro", "./event/avro", "BenchmarkOtherLibraries/goavro", 0, none, 0},
	{"decode: Protobuf, 8 fields", "./event/protobuf", "BenchmarkRead/plan", 350, 0, 0},
	{"decode: Protobuf, 8 fields, by a registry", "./event/protobuf", "BenchmarkRead/plan_by_a_registry", 350, 0, 0},
	{"beside it: dynamicpb", "./event/protobuf", "BenchmarkRead/dynamicpb", 0, none, 0},
	{"decode: CSV, a row", "./event/csv", "BenchmarkDecode", 0, 0, 0},
	{"when, of three clauses, and two lets, one of which joins texts", "./derive", "BenchmarkWhenAndTwoLets", 1000, 1, 0},
	{"beside it: CEL alone", "./derive", "BenchmarkWhenAndTwoLetsByCEL", 0, none, 0},
	{"key: md5 prefix, waybill, time, action", "./rowkey", "BenchmarkAppend", 150, 0, 0},
	{"key back to fields", "./rowkey", "BenchmarkDecode", 200, 0, 0},
	// Nearly all of a key's time is its hash. In relation to crypto/md5 on the same bytes, the machine's state does not matter.
	{"key, the quickest of many, after crypto/md5 of its waybill", "./rowkey", "BenchmarkBesideMD5/append", 150, none, 1.3},
	{"key back to fields, likewise", "./rowkey", "BenchmarkBesideMD5/decode", 200, none, 1.6},
	{"cell: one cell into a cell block", "./hbase/internal/wire", "BenchmarkAppendCell", 0, 0, 0},
	{"frame: encode a Multi, per mutation", "./hbase/internal/wire", "BenchmarkEncodeMulti", 0, 0, 0},
	{"frame: decode its answer, per mutation", "./hbase/internal/wire", "BenchmarkDecodeMulti", 0, 0, 0},
	{"whole path: decode, key, mutation, cell block, per event", "./sink", "BenchmarkPath", 1500, 1, 0},
	{"client: submit to a peer in this process that only answers, per mutation, its part included", "./hbase", "BenchmarkSubmit", 0, none, 0},
	// 3 % of what brine itself spends on an event.
	{"metrics and skew, all hooks of a batch, per event", "./metrics", "BenchmarkBatch", 40, 0, 0},
	// 5,000 documents a second on one core.
	{"embedded index: a document of partial changes until it is on disk", "./indexer/embedded", "BenchmarkWriter/partial", 200_000, none, 0},
	{"tables plan --sample: a million events of a file", "./cmd/brine", "BenchmarkPlan", 3e9, none, 0},
	// One call per bucket is pending at a time, so that the answer does not wait for 64 consecutive ones.
	{"query: the first row of 64 buckets after that of one, on servers that take 1 ms a call", "./query",
		"BenchmarkFirstRow/delay=1ms", 0, none, 3},
	// 100 ns per mutation; the one allocation is the benchmark's own.
	{"skew: count 1,000 mutations with keys of their own", "./skew", "BenchmarkAdd/distinct_keys", 100_000, 1, 0},
}

// rivals are benchmarks that do the same in another way. A busy machine slows both, so that their ratio is known even if neither time is.
var rivals = []struct {
	pkg, bench, rival string
	most              float64 // fraction of the rival's time
}{
	{"./event", "BenchmarkDebezium/bare", "BenchmarkDebezium/fastjson+Validate", 1},
	{"./event", "BenchmarkDebezium/with_its_schema", "BenchmarkDebezium/fastjson+Validate", 1},
	{"./event/avro", "BenchmarkDecode/8_of_8_fields", "BenchmarkOtherLibraries/twmb_struct", 1},
	{"./event/avro", "BenchmarkDecode/8_of_8_fields_by_a_registry", "BenchmarkOtherLibraries/twmb_struct", 1},
	{"./event/protobuf", "BenchmarkRead/plan", "BenchmarkRead/dynamicpb", 0.2},
	{"./event/protobuf", "BenchmarkRead/plan_by_a_registry", "BenchmarkRead/dynamicpb", 0.2},
	{"./derive", "BenchmarkWhenAndTwoLets", "BenchmarkWhenAndTwoLetsByCEL", 0.6},
}

// commands are the packages whose benchmarks use all cores, as when a user waits for them.
var commands = []string{"./cmd/brine"}

const runs = 6

// Command is the command line.
type Command struct{}

// Run measures.
func (*Command) Run(ctx context.Context) error {
	return measure.Make("bench", func() error { return run(ctx) })
}

// line is one run of one benchmark.
type line struct{ ns, allocs, ratio float64 }

// result is the result of a benchmark's runs.
type result struct{ ns, allocs, ratio measure.Estimate }

func run(ctx context.Context) error {
	measured := map[string]result{}
	for _, pkg := range packages() {
		fmt.Fprintln(os.Stderr, "measuring", pkg)
		if err := benchmark(ctx, pkg, measured); err != nil {
			return err
		}
	}
	if err := write(measured); err != nil {
		return err
	}
	var all []measure.Target
	for _, t := range targets {
		r, ok := measured[t.pkg+" "+t.bench]
		if !ok {
			return fmt.Errorf("%s has no %s", t.pkg, t.bench)
		}
		all = append(all, t.targets(r)...)
		if of, most := t.ofRival(measured); most > 0 {
			all = append(all, measure.AtMost(t.name()+".of_rival", of, most))
		}
	}
	return measure.Judge(all)
}

func packages() []string {
	var out []string
	for _, t := range targets {
		if !slices.Contains(out, t.pkg) {
			out = append(out, t.pkg)
		}
	}
	return out
}

// benchmark runs the wanted benchmarks of a package.
func benchmark(ctx context.Context, pkg string, into map[string]result) error {
	var names []string
	for _, t := range targets {
		if t.pkg == pkg {
			top, _, _ := strings.Cut(t.bench, "/")
			names = append(names, top)
		}
	}
	cpus := "1"
	if slices.Contains(commands, pkg) {
		cpus = strconv.Itoa(runtime.NumCPU())
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^("+strings.Join(names, "|")+")$", "-benchmem", "-cpu", cpus,
		"-benchtime", "0.5s", "-count", strconv.Itoa(runs), pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", pkg, err, out.String())
	}
	all := map[string][]line{}
	for text := range strings.Lines(out.String()) {
		if name, r, ok := parse(text); ok {
			name = strings.TrimSuffix(name, "-"+cpus) // absent with one core
			all[name] = append(all[name], r)
		}
	}
	for name, rs := range all {
		into[pkg+" "+name] = result{
			repeated(rs, func(r line) float64 { return r.ns }), repeated(rs, func(r line) float64 { return r.allocs }),
			repeated(rs, func(r line) float64 { return r.ratio }),
		}
	}
	return nil
}

var measurement = regexp.MustCompile(`([0-9.]+) (ns/event|ns/mutation|allocs/event|allocs/mutation|ns/op|allocs/op|ratio)`)

// parse parses one line of go test. If a benchmark reports per event or per mutation, that counts instead of per op.
func parse(text string) (name string, r line, ok bool) {
	name, rest, ok := strings.Cut(text, " ")
	if !ok || !strings.HasPrefix(name, "Benchmark") {
		return "", r, false
	}
	seen := map[string]float64{}
	for _, m := range measurement.FindAllStringSubmatch(rest, -1) {
		seen[m[2]], _ = strconv.ParseFloat(m[1], 64) // the pattern admits only numbers, at worst with several dots
	}
	first := func(units ...string) float64 {
		for _, u := range units {
			if v, ok := seen[u]; ok {
				return v
			}
		}
		return 0
	}
	return strings.TrimSpace(name), line{first("ns/event", "ns/mutation", "ns/op"), first("allocs/event", "allocs/mutation", "allocs/op"),
		first("ratio")}, len(seen) > 0
}

func repeated(rs []line, of func(line) float64) measure.Estimate {
	var v []float64
	for _, r := range rs {
		v = append(v, of(r))
	}
	return measure.Repeated(v)
}

// ofRival returns the benchmark's time as a fraction of its rival's, and the largest allowed fraction, or 0 if it has no rival.
func (t target) ofRival(measured map[string]result) (of measure.Estimate, most float64) {
	for _, r := range rivals {
		if r.pkg == t.pkg && r.bench == t.bench {
			return measured[t.pkg+" "+t.bench].ns.Over(measured[t.pkg+" "+r.rival].ns), r.most
		}
	}
	return of, 0
}

// name returns the target's name, without what is measured.
func (t target) name() string {
	return strings.TrimPrefix(t.pkg, "./") + "." + strings.TrimPrefix(t.bench, "Benchmark")
}

// targets returns the targets of a benchmark. Allocations are counted; their hundredths come from what is allocated once.
func (t target) targets(r result) []measure.Target {
	name := t.name()
	var out []measure.Target
	if t.maxAllocs != none {
		out = append(out, measure.AtMost(name+".allocs", measure.Exactly(math.Floor(r.allocs.Value*100+0.5)/100), t.maxAllocs))
	}
	if t.maxNS > 0 {
		out = append(out, measure.AtMost(name+".ns", r.ns, t.maxNS))
	}
	if t.maxRatio > 0 {
		out = append(out, measure.AtMost(name+".ratio", r.ratio, t.maxRatio))
	}
	return out
}

// write puts the table between its marks in the page.
func write(measured map[string]result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/%s, %d cores, %s; `make bench`: medians of %d runs on one core, of commands on all.\n\n", runtime.Version(),
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().Format("2006-01-02"), runs)
	b.WriteString("| step | ns | allocations | target |\n|---|---|---|---|\n")
	for _, t := range targets {
		r := measured[t.pkg+" "+t.bench]
		var limits []string
		if t.maxNS > 0 {
			limits = append(limits, fmt.Sprintf("≤ %.0f ns", t.maxNS))
		}
		if t.maxRatio > 0 {
			limits = append(limits, fmt.Sprintf("%.2f ± %.2f of ≤ %g ×", r.ratio.Value, r.ratio.Spread, t.maxRatio))
		}
		if of, most := t.ofRival(measured); most > 0 {
			limits = append(limits, fmt.Sprintf("%.2f ± %.2f of ≤ %g × its rival", of.Value, of.Spread, most))
		}
		allocs := "–"
		if t.maxAllocs != none {
			limits = append(limits, fmt.Sprintf("≤ %g allocations", t.maxAllocs))
			allocs = fmt.Sprintf("%.2f", r.allocs.Value)
		}
		fmt.Fprintf(&b, "| %s | %.0f ± %.0f | %s | %s |\n", t.what, r.ns.Value, r.ns.Spread, allocs, strings.Join(limits, ", "))
	}
	return measure.WriteSection("docs/benchmarks.md", "micro", "bench", b.String())
}
