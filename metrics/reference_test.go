package metrics

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

var update = flag.Bool("update", false, "write docs/metrics.md again")

const page = "../docs/metrics.md"

// listed is a Registerer that also keeps what is registered, because a registry shows only what has series.
type listed struct {
	*prometheus.Registry
	names map[string]bool
}

var (
	fqName = regexp.MustCompile(`fqName: "(\w+)"`)
)

func (l listed) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		descs := make(chan *prometheus.Desc)
		go func() {
			defer close(descs)
			c.Describe(descs)
		}()
		for d := range descs {
			l.names[fqName.FindStringSubmatch(d.String())[1]] = true
		}
	}
	l.Registry.MustRegister(cs...)
}

// gather returns all metrics, by name, after every hook was called once. Nothing feeds a metric without a series.
func gather(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	reg := listed{prometheus.NewPedanticRegistry(), map[string]bool{}}
	callAll(reg)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		delete(reg.names, f.GetName())
	}
	for name := range reg.names {
		t.Errorf("%s is registered, and no hook feeds it", name)
	}
	return families
}

// areas are the sections of the page: a metric is in the first one that has a prefix of its name.
var areas = []struct{ title, prefixes string }{
	{"Records on their way", "brine_freshness brine_step brine_ingest"},
	{"The HBase client", "brine_hbase"},
	{"Rows", "brine_sink"},
	{"The schema registry", "brine_registry"},
	{"Skew", "brine_region brine_server brine_salt brine_table brine_loaded"},
	{"The search index", "brine_index"},
	{"Verification", "brine_verify"},
	{"The HTTP API", "brine_serve"},
	{"The process", "brine_"},
}

// queries are those that are more specific than the pattern for the type.
var queries = map[string]string{
	"brine_freshness_seconds":                       `sum by (pipeline, half) (rate(brine_freshness_seconds_bucket{stage="durable",le=~"10(\\.0)?"}[5m])) / sum by (pipeline, half) (rate(brine_freshness_seconds_count{stage="durable"}[5m]))`,
	"brine_region_written_rows_total":               `topk(10, sum by (table, region) (rate(brine_region_written_rows_total{region!="other"}[5m])))`,
	"brine_region_info":                             `sum by (table, region) (rate(brine_region_written_rows_total[5m])) * on (table, region) group_left (server, start) max by (table, region, server, start) (brine_region_info)`,
	"brine_ingest_budget_used_bytes":                `brine_ingest_budget_used_bytes / brine_ingest_budget_bytes`,
	"brine_ingest_partitions":                       `sum by (pipeline, half, state) (brine_ingest_partitions)`,
	"brine_ingest_lag_offsets":                      `sum by (pipeline, half) (brine_ingest_lag_offsets)`,
	"brine_ingest_watermark_offset":                 `rate(brine_ingest_watermark_offset[5m])`,
	"brine_ingest_end_offset":                       `sum by (pipeline) (rate(brine_ingest_end_offset{half="rows"}[5m]))`,
	"brine_verify_proved_through_timestamp_seconds": `time() - min by (job) (brine_verify_proved_through_timestamp_seconds)`,
	"brine_verify_last_timestamp_seconds":           `time() - brine_verify_last_timestamp_seconds`,
}

// TestOffsetsAreNotCalledRecords: transaction markers have offsets too.
func TestOffsetsAreNotCalledRecords(t *testing.T) {
	for _, f := range gather(t) {
		if strings.HasPrefix(f.GetHelp(), "Offsets ") && unitOf(f.GetName()) != "offsets" {
			t.Errorf("%s counts offsets: %s", f.GetName(), f.GetHelp())
		}
	}
}

func queryOf(f *dto.MetricFamily, labels []string) string {
	name := f.GetName()
	if q, ok := queries[name]; ok {
		return q
	}
	by := ""
	if len(labels) > 0 {
		by = " by (" + strings.Join(labels, ", ") + ")"
	}
	switch f.GetType() {
	case dto.MetricType_COUNTER:
		return "sum" + by + " (rate(" + name + "[5m]))"
	case dto.MetricType_HISTOGRAM:
		return "histogram_quantile(0.99, sum by (" + strings.Join(append([]string{"le"}, labels...), ", ") + ") (rate(" + name + "_bucket[5m])))"
	}
	return "max" + by + " (" + name + ")"
}

// units are the units with which names do not end, before _total.
var units = map[string]string{
	"brine_build_info": "", "brine_region_info": "", "brine_ingest_watermark_offset": "offsets", "brine_ingest_end_offset": "offsets",
	"brine_ingest_dead_letters_total": "records", "brine_hbase_blocked_submits": "batches", "brine_hbase_calls_in_flight": "calls", "brine_hbase_lanes": "regions",
	"brine_hbase_lanes_resting": "regions", "brine_hbase_lanes_waiting": "regions", "brine_verify_failed_total": "verifications", "brine_log_lines_left_out_total": "lines",
	"brine_serve_requests_in_flight": "requests",
}

func unitOf(name string) string {
	if unit, ok := units[name]; ok {
		return unit
	}
	name = strings.TrimSuffix(name, "_total")
	return name[strings.LastIndexByte(name, '_')+1:]
}

func labelsOf(f *dto.MetricFamily) (labels []string) {
	for _, l := range f.Metric[0].Label {
		labels = append(labels, l.GetName())
	}
	order := []string{"pipeline", "half", "partition", "table", "region"}
	slices.SortStableFunc(labels, func(a, b string) int { return place(order, a) - place(order, b) })
	return labels
}

func place(order []string, label string) int {
	if i := slices.Index(order, label); i >= 0 {
		return i
	}
	return len(order)
}

// reference returns the page.
func reference(t *testing.T) string {
	intro, err := os.ReadFile("reference.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!-- Generated from what is registered, and metrics/reference.md, by go generate ./metrics. -->\n")
	b.Write(intro)
	families := gather(t)
	for _, a := range areas {
		fmt.Fprintf(&b, "\n## %s\n\n| metric | type, unit | labels | meaning | for example |\n|---|---|---|---|---|\n", a.title)
		families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool {
			name := f.GetName()
			if !slices.ContainsFunc(strings.Fields(a.prefixes), func(p string) bool { return strings.HasPrefix(name, p) }) {
				return false
			}
			labels := labelsOf(f)
			typ := strings.ToLower(f.GetType().String())
			if f.Metric[0].GetHistogram().GetSchema() != 0 || f.Metric[0].GetHistogram().GetZeroThreshold() != 0 {
				typ += ", classic and native"
			}
			if unit := unitOf(name); unit != "" {
				typ += ", " + unit
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | `%s` |\n", name, typ, strings.Join(labels, ", "), f.GetHelp(), queryOf(f, labels))
			return true
		})
	}
	return b.String()
}

func TestReferenceIsCurrent(t *testing.T) {
	got := reference(t)
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/metrics.md (-want +got), go generate ./metrics writes it:\n%s", diff)
	}
}
