package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Source is a Prometheus, and the time range to draw.
type Source struct {
	URL      string // for example http://127.0.0.1:9090
	From, To time.Time
	Step     time.Duration
	Scrape   time.Duration // scrape interval; Grafana derives $__rate_interval from it
}

// series is one line of a graph: one value per step, NaN if there is none.
type series struct {
	name   string
	labels map[string]string
	values []float64
}

// times returns the number of steps.
func (s *Source) times() int { return int(s.To.Sub(s.From)/s.Step) + 1 }

// expression substitutes what Grafana would: all values of each variable, and windows that fit the steps.
func (s *Source) expression(expr string) string {
	seconds := func(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }
	window := max(4*s.Scrape, s.Step+s.Scrape)
	return strings.NewReplacer("$__rate_interval", seconds(window), "$__range", seconds(s.To.Sub(s.From)),
		"$instance", ".+", "$pipeline", ".+", "$table", ".+").Replace(expr)
}

// ask runs a query over the time range.
func (s *Source) ask(ctx context.Context, t Target) ([]series, error) {
	q := url.Values{"query": {s.expression(t.Expr)}, "step": {fmt.Sprint(s.Step.Seconds())},
		"start": {fmt.Sprint(s.From.Unix())}, "end": {fmt.Sprint(s.To.Unix())}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/v1/query_range?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any // time, and value as text
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s %s %w", q.Get("query"), resp.Status, answer.Error, err)
	}
	var all []series
	for _, r := range answer.Data.Result {
		line := series{name: legend(t.LegendFormat, r.Metric), labels: r.Metric, values: s.aligned(r.Values)}
		if line.known() {
			all = append(all, line)
		}
	}
	slices.SortStableFunc(all, func(a, b series) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// aligned puts values at their steps.
func (s *Source) aligned(values [][2]any) []float64 {
	out := slices.Repeat([]float64{math.NaN()}, s.times())
	for _, v := range values {
		at, _ := v[0].(float64)
		text, _ := v[1].(string)
		n, err := strconv.ParseFloat(text, 64)
		i := int(math.Round((at - float64(s.From.Unix())) / s.Step.Seconds()))
		if err == nil && !math.IsInf(n, 0) && i >= 0 && i < len(out) {
			out[i] = n
		}
	}
	return out
}

var label = regexp.MustCompile(`{{(\w+)}}`)

// legend returns the name of a series: in the panel's format, or all labels.
func legend(format string, labels map[string]string) string {
	if format != "" {
		return strings.TrimSpace(label.ReplaceAllStringFunc(format, func(l string) string { return labels[strings.Trim(l, "{}")] }))
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name+"="+labels[name])
	}
	return strings.Join(all, " ")
}

func (s series) known() bool {
	return slices.ContainsFunc(s.values, func(v float64) bool { return !math.IsNaN(v) })
}

// last returns the last value that is not NaN.
func (s series) last() float64 {
	for _, v := range slices.Backward(s.values) {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

func (s series) max() float64 {
	most := math.Inf(-1)
	for _, v := range s.values {
		if v > most { // false for NaN
			most = v
		}
	}
	return most
}
