package metrics

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/sink"
	"brine/skew"
	"brine/verify"
)

// counted are the counters by reason, remedy or kind, with their labels.
var counted = map[string][]string{
	"brine_ingest_dead_letters_total":    {"pipeline", "half", "reason"},
	"brine_ingest_retried_events_total":  {"pipeline", "half", "reason"},
	"brine_ingest_waits_total":           {"pipeline", "half", "reason"},
	"brine_ingest_halts_total":           {"pipeline", "half", "reason"},
	"brine_ingest_left_out_events_total": {"pipeline", "half", "reason"},
	"brine_ingest_filtered_events_total": {"pipeline", "half", "target"},
	"brine_hbase_retries_total":          {"class", "remedy"},
	"brine_hbase_flushes_total":          {"reason"},
	"brine_hbase_dials_total":            {"outcome"},
	"brine_sink_key_collisions_total":    {"pipeline", "table"},
	"brine_sink_version_ties_total":      {"pipeline", "table"},
	"brine_sink_expired_events_total":    {"pipeline", "table", "family"},
	"brine_verify_findings_total":        {"table", "kind"},
}

// At the first scrape of an idle process, each possible kind is there, at 0. What happens afterwards adds no series.
func TestCountersOfClosedKindsBeginAtZero(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	client, loop, rows, verified := HBase(reg, skew.NewTables(time.Now)), NewIngest(reg), NewSink(reg), NewVerify(reg).Hooks()
	hooks := loop.Hooks("scans", "rows", event.Condition{Of: "t"})
	mapped := rows.Hooks("scans", sink.Rows{Table: sink.Table{Name: "t", TTL: map[string]time.Duration{"e": time.Hour}}})
	verified.Compared(verify.ComparedInfo{Table: "t", Keys: 1})
	before := map[string]map[string]float64{}
	for name, labels := range counted {
		before[name] = labelled(t, reg, name, labels...)
		if len(before[name]) == 0 {
			t.Errorf("%s has no series", name)
		}
		for labels, v := range before[name] {
			if v != 0 {
				t.Errorf("%s{%s} is %v", name, labels, v)
			}
		}
	}
	for _, reason := range event.Rejects {
		hooks.DeadLettered(ingest.DeadLetteredInfo{Records: 1, Reason: reason})
	}
	hooks.Retried(ingest.RetriedInfo{Events: 1, Reason: event.Awaited})
	hooks.Waiting(ingest.WaitingInfo{Reason: event.Unavailable})
	hooks.Halted(ingest.HaltedInfo{Reason: event.NoTable})
	client.Dial(hbase.DialInfo{Server: "rs1"})
	client.Dial(hbase.DialInfo{Server: "rs1", Err: hbase.ErrClosed})
	mapped.Collision(sink.CollisionInfo{Table: "t"})
	mapped.Tie(sink.TieInfo{Table: "t"})
	mapped.Expired(sink.ExpiredInfo{Table: "t", Family: "e"})
	verified.Found(verify.FoundInfo{Table: "t", Kind: verify.Lost, Count: 1})
	for name, labels := range counted {
		after := labelled(t, reg, name, labels...)
		if !slices.Equal(slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before[name]))) {
			t.Errorf("%s: %v became %v", name, before[name], after)
		}
	}
	if got := values(t, reg, "brine_ingest_dead_letters_total", "reason"); got["mapping_refused"] != 1 || len(got) != len(event.Rejects) {
		t.Errorf("dead letters: %v", got)
	}
}

// Hooks count under the labels of their arguments.
func TestWhatHappenedIsCounted(t *testing.T) {
	reg := registered(t)
	for name, want := range map[string]string{
		"brine_ingest_dead_letters_total": "map[scans/rows/missing_field:1]",
		"brine_hbase_retries_total":       "map[DoNotRetryIOException/isolate:1 NotServingRegionException/relocate:1 other/relocate:1]",
		"brine_hbase_flushes_total":       "map[linger:1]",
	} {
		got := labelled(t, reg, name, counted[name]...)
		maps.DeleteFunc(got, func(_ string, v float64) bool { return v == 0 })
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
}

// A new reason must be in a list of those that begin at 0.
func TestEveryReasonIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range slices.Concat(event.Rejects, retryReasons, waitReasons, haltReasons) {
		listed[string(r)] = true
	}
	for _, r := range event.LeftOuts {
		listed[string(r)] = true
	}
	found := slices.Concat(constantsIn(t, "../event/reason.go", "Reason"), constantsIn(t, "../ingest/status.go", "Reason"),
		constantsIn(t, "../event/format.go", "LeftOut"))
	if len(found) < 30 {
		t.Errorf("only %d reasons were found: are they still declared there?", len(found))
	}
	for _, reason := range found {
		if !listed[reason] {
			t.Errorf("%s is in no list of those that begin at 0", reason)
		}
	}
}

// constantsIn returns the texts of the constants of a type that a file declares.
func constantsIn(t *testing.T, file, name string) (texts []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		typ, _ := spec.Type.(*ast.Ident)
		if sel, ok := spec.Type.(*ast.SelectorExpr); ok {
			typ = sel.Sel
		}
		if value, ok := spec.Values[0].(*ast.BasicLit); ok && typ != nil && typ.Name == name {
			text, err := strconv.Unquote(value.Value)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		return true
	})
	return texts
}
