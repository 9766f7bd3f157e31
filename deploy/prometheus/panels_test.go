package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// chosen substitutes what Grafana would: all values of each variable, and windows that fit a short run.
var chosen = strings.NewReplacer("$instance", ".+", "$pipeline", ".+", "$table", ".+", "$__rate_interval", "1m", "$__range", "5m")

// working has a value once every half of every pipeline settles records, and the dead letter is counted.
const working = `min(sum by (pipeline, half) (rate(brine_ingest_settled_records_total[1m]))) > 0
  and on () ALERTS{alertname="BrineDeadLetters", alertstate="firing"}`

// patience is how long all queries together may take until they have data.
const patience = 5 * time.Minute

// TestEveryPanelHasData runs brine dev, a second brine that writes a salted table, one that verifies, and a real Prometheus with our rules;
// and every query of every dashboard.
func TestEveryPanelHasData(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	prom := startPrometheus(t)
	brine := filepath.Join(t.TempDir(), "brine")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", brine, "brine/cmd/brine")
	build.Env = append(build.Environ(), "CGO_ENABLED=0") // as it is released, even if the race detector, which needs cgo, runs this test
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	addresses := run(t, `Kafka on (\S+?), HBase on (\S+?), http://(\S+?)/metrics`, brine, "dev", "--data", t.TempDir())
	prom.scrape(t, addresses[2])
	traffic(t, addresses[0])
	t.Setenv("BRINE_KAFKA_BROKERS", addresses[0])
	t.Setenv("BRINE_HBASE_CONNECT", addresses[1])
	prom.scrape(t, addresses[2], beside(t, brine), verify(t, brine))

	queries, variables := readDashboards(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := prom.await(ctx, working); err != nil {
		t.Fatalf("brine dev does not write what it is given: %v", err)
	}
	var lines strings.Builder
	table := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DASHBOARD\tPANEL\tSERIES\tSAMPLE\tQUERY")
	for _, q := range queries {
		expr := chosen.Replace(q.expr)
		found, err := prom.await(ctx, expr)
		if err != nil {
			t.Errorf("%s: %s: %v\n%s", q.dashboard, q.panel, err, expr)
			continue
		}
		checkLegend(t, q, found)
		if q.panel == "Dead letters by reason" && found[0].Metric["reason"] != "undecodable" {
			t.Errorf("%s does not show the dead letter: %v", q.panel, found)
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s %s\t%s\n", q.dashboard, q.panel, len(found), legend(q.legend, found[0]), found[0].Value[1], expr)
	}
	table.Flush()
	t.Logf("%d queries\n%s", len(queries), lines.String())
	for _, v := range variables {
		var values []string
		if err := prom.get(t.Context(), &values, "label/"+v.label+"/values", url.Values{"match[]": {v.metric}}); err != nil || len(values) == 0 {
			t.Errorf("%s: variable %s has the values %v: %v", v.dashboard, v.label, values, err)
		}
	}
	checkRules(t, prom)
}

const metricsOn = `metrics and health on http://(\S+)`

// beside runs a second brine, which writes the scans of brine dev also to a salted table, because brine dev has none. It returns the
// address of its metrics.
func beside(t *testing.T, brine string) string {
	t.Helper()
	const config = "../pictures/pictures.yaml"
	t.Setenv("BRINE_HTTP_LISTEN", "127.0.0.1:0")
	if out, err := exec.CommandContext(t.Context(), brine, "tables", "apply", "--yes", "-c", config).CombinedOutput(); err != nil {
		t.Fatalf("brine tables apply: %v\n%s", err, out)
	}
	return run(t, metricsOn, brine, "run", "-c", config, "--quiet")[0]
}

// verify runs brine verify --follow next to brine dev. It returns the address of its metrics.
func verify(t *testing.T, brine string) string {
	t.Helper()
	return run(t, metricsOn, brine, "verify", "-c", "../../examples/dev.yaml", "--pipeline", "scans",
		"--follow", "--every", "2s", "--listen", "127.0.0.1:0")[0]
}

// await repeats a query until there is data.
func (s *server) await(ctx context.Context, expr string) ([]sample, error) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := s.query(ctx, expr)
		found := numbers(all)
		if len(found) > 0 || errors.Is(err, errRefused) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("no data after %v (%d series, none a number)", patience, len(all)), err)
		case <-tick.C:
		}
	}
}

// numbers removes what a graph cannot show: a quantile without observations is NaN.
func numbers(all []sample) (found []sample) {
	for _, s := range all {
		if v := fmt.Sprint(s.Value[1]); v != "NaN" && !strings.HasSuffix(v, "Inf") {
			found = append(found, s)
		}
	}
	return found
}

var legendLabel = regexp.MustCompile(`{{(\w+)}}`)

// checkLegend finds labels that a legend names and the query does not return. A query that shows that there is nothing returns the label
// none, and no other.
func checkLegend(t *testing.T, q panelQuery, found []sample) {
	t.Helper()
	for _, s := range found {
		for _, v := range s.Metric {
			if v == "none" {
				return
			}
		}
	}
	for _, m := range legendLabel.FindAllStringSubmatch(q.legend, -1) {
		if found[0].Metric[m[1]] == "" {
			t.Errorf("%s: %s: the legend names %s, the query gives %v", q.dashboard, q.panel, m[1], found[0].Metric)
		}
	}
}

func legend(format string, s sample) string {
	return legendLabel.ReplaceAllStringFunc(format, func(label string) string { return s.Metric[strings.Trim(label, "{}")] })
}

// checkRules finds rules that Prometheus cannot evaluate, and alerts that fire although all is well, except for the one about the dead
// letter.
func checkRules(t *testing.T, prom *server) {
	t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError, State string }
		}
	}
	if err := prom.get(t.Context(), &data, "rules", nil); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			n++
			if r.Health != "ok" {
				t.Errorf("rule %s is %s: %s", r.Name, r.Health, r.LastError)
			}
			if r.State == "firing" && r.Name != "BrineDeadLetters" {
				t.Errorf("%s fires at a brine that is well", r.Name)
			}
		}
	}
	if n != len(readRules(t)) {
		t.Errorf("Prometheus runs %d rules of %d", n, len(readRules(t)))
	}
}
