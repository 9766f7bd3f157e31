package prometheus

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"brine/metrics"
	"brine/skew"
)

// catalog is a Registerer that keeps the names of what is registered, because a registry itself shows only metrics that already have
// series.
type catalog map[string]bool

var fqName = regexp.MustCompile(`fqName: "(\w+)"`)

func (c catalog) Register(collector prometheus.Collector) error {
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		collector.Describe(descs)
	}()
	for d := range descs {
		c[fqName.FindStringSubmatch(d.String())[1]] = true
	}
	return nil
}

func (c catalog) MustRegister(cs ...prometheus.Collector) {
	for _, collector := range cs {
		_ = c.Register(collector) // never fails
	}
}

func (catalog) Unregister(prometheus.Collector) bool { return false }

// has reports whether the name of a series, which may be one of a histogram, is registered.
func (c catalog) has(series string) bool {
	if c[series] {
		return true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(series, suffix); ok && c[base] {
			return true
		}
	}
	return false
}

// registered returns what brine registers at its start, and brine verify at its own.
func registered() catalog {
	c := catalog{}
	tables := skew.NewTables(time.Now)
	metrics.HBase(c, tables)
	c.MustRegister(metrics.Lanes{})
	loops := metrics.NewIngest(c)
	metrics.NewSink(c)
	metrics.NewIndexer(c, loops)
	metrics.NewVerify(c)
	metrics.NewReload(c, time.Now())
	c.MustRegister(&metrics.Skew{Tables: tables}, metrics.Build("test"),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return c
}

var (
	quoted = regexp.MustCompile(`"[^"]*"`)
	name   = regexp.MustCompile(`[a-zA-Z_][\w:]*`)
	metric = regexp.MustCompile(`^(brine|go|process)_|:|^ALERTS$`)
)

// series returns the names of metrics and recorded series in an expression.
func series(expr string) (names []string) {
	for _, n := range name.FindAllString(quoted.ReplaceAllString(expr, ""), -1) {
		if metric.MatchString(n) {
			names = append(names, n)
		}
	}
	return names
}

func TestRulesAndDashboardsNameMetricsThatExist(t *testing.T) {
	exists := registered()
	exists["ALERTS"] = true // Prometheus makes it from the rules
	rules := readRules(t)
	for _, r := range rules {
		if r.Record != "" {
			exists[r.Record] = true
		}
	}
	check := func(where, expr string) {
		names := series(expr)
		if len(names) == 0 {
			t.Errorf("%s names no metric of brine's: %s", where, expr)
		}
		for _, n := range names {
			if !exists.has(n) {
				t.Errorf("%s: there is no metric %s", where, n)
			}
		}
	}
	for _, r := range rules {
		check(r.Record+r.Alert, r.Expr)
	}
	queries, variables := readDashboards(t)
	for _, q := range queries {
		check(q.dashboard+": "+q.panel, q.expr)
	}
	for _, v := range variables {
		check(v.dashboard+": variable "+v.label, v.metric)
	}
}

func TestNamesAreFoundInExpressions(t *testing.T) {
	got := strings.Join(series(`sum by (brine) (rate(brine_a_total{go_x="brine_b"}[5m])) / table:brine_c:max + go_d`), " ")
	if want := "brine_a_total go_x table:brine_c:max go_d"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if registered().has("brine_ingest_nothing_total") {
		t.Error("a metric that is not there is said to exist")
	}
}
