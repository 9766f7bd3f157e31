package dashboard

import (
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

const board = `{"uid": "b", "title": "brine / Test", "panels": [
 {"type": "row", "title": "Row", "gridPos": {"x": 0, "y": 0, "w": 24, "h": 1}},
 {"type": "stat", "title": "Number", "gridPos": {"x": 0, "y": 1, "w": 4, "h": 4}, "targets": [{"expr": "number"}],
  "fieldConfig": {"defaults": {"unit": "percentunit", "thresholds": {"steps": [{"color": "red", "value": null}, {"color": "green", "value": 0.99}]}}}},
 {"type": "timeseries", "title": "Graph", "gridPos": {"x": 4, "y": 1, "w": 8, "h": 8}, "targets": [{"expr": "graph[$__rate_interval]", "legendFormat": "{{half}} lag"}],
  "fieldConfig": {"defaults": {"unit": "short", "custom": {"thresholdsStyle": {"mode": "dashed"}}, "thresholds": {"steps": [{"color": "green", "value": null}, {"color": "red", "value": 900}]}}}},
 {"type": "heatmap", "title": "Heat", "gridPos": {"x": 12, "y": 1, "w": 12, "h": 8}, "targets": [{"expr": "heat", "legendFormat": "{{le}}", "format": "heatmap"}],
  "fieldConfig": {"defaults": {"unit": "s"}}, "options": {"yAxis": {"unit": "s"}}},
 {"type": "timeseries", "title": "Nothing", "gridPos": {"x": 0, "y": 9, "w": 8, "h": 8}, "targets": [{"expr": "nothing"}],
  "fieldConfig": {"defaults": {"unit": "short", "noValue": "No table has it."}}}]}`

// answers are the answers of a Prometheus, by query: for each, a series of three steps.
var answers = map[string]string{
	"number":     `{"metric": {}, "values": [[0, "0.5"], [60, "NaN"], [120, "0.98"]]}`,
	"graph[65s]": `{"metric": {"half": "rows"}, "values": [[0, "0"], [60, "1500"], [120, "1000"]]}, {"metric": {"half": "documents"}, "values": [[120, "7"]]}`,
	"heat":       `{"metric": {"le": "0.1"}, "values": [[0, "1"], [120, "2"]]}, {"metric": {"le": "+Inf"}, "values": [[0, "5"], [120, "2"]]}`,
	"nothing":    ``,
}

func draw(t *testing.T, text string) (string, error) {
	t.Helper()
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, ok := answers[r.URL.Query().Get("query")]
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"status": "error", "error": "what is that?"}`)
			return
		}
		fmt.Fprintf(w, `{"status": "success", "data": {"result": [%s]}}`, found)
	}))
	defer prometheus.Close()
	b, err := Read([]byte(text))
	if err != nil {
		return "", err
	}
	picture, err := Draw(t.Context(), b, &Source{URL: prometheus.URL, From: time.Unix(0, 0), To: time.Unix(120, 0), Step: time.Minute, Scrape: 5 * time.Second})
	return string(picture), err
}

func TestPictureShowsWhatPrometheusAnswered(t *testing.T) {
	picture, err := draw(t, board)
	if err != nil {
		t.Fatal(err)
	}
	type path struct {
		D      string `xml:"d,attr"`
		Stroke string `xml:"stroke,attr"`
	}
	var doc struct {
		Texts []string `xml:"text"`
		Paths []path   `xml:"path"`
		Cells []path   `xml:"g>path"`
	}
	if err := xml.Unmarshal([]byte(picture), &doc); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"brine / Test", "00:00 to 00:02 UTC, a point every 1m0s", "Row", "98 %", "documents lag", "rows lag", "1.5 K", "1 K", "100 ms", "more", "4 (the most)", "No table has it."} {
		if !slices.Contains(doc.Texts, want) {
			t.Errorf("%q is not in the picture: %q", want, doc.Texts)
		}
	}
	red, dashed, brightest := false, strings.Contains(picture, "stroke-dasharray"), 0
	for _, p := range append(doc.Paths, doc.Cells...) {
		red = red || p.Stroke == named("red")
		if p.Stroke == inferno[len(inferno)-1] {
			brightest += strings.Count(p.D, "M")
		}
	}
	if !red || !dashed || brightest != 1 {
		t.Errorf("the number is red: %v, the limit is drawn: %v, %d cells are the brightest, want 1", red, dashed, brightest)
	}
}

func TestWhatCannotBeDrawnIsAnError(t *testing.T) {
	for change, want := range map[string]string{
		`"expr": "number"`:      "what is that?",
		`"type": "stat"`:        "cannot draw a panel of type gauge",
		`"unit": "percentunit"`: `cannot write the unit "furlong"`,
	} {
		to := map[string]string{`"expr": "number"`: `"expr": "other"`, `"type": "stat"`: `"type": "gauge"`, `"unit": "percentunit"`: `"unit": "furlong"`}[change]
		if _, err := draw(t, strings.Replace(board, change, to, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", to, err, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		value      float64
		unit, want string
	}{
		{0, "short", "0"}, {12.345, "short", "12.3"}, {1234567, "short", "1.23 M"}, {math.NaN(), "short", "–"}, {0.0004, "short", "0.0004"},
		{1536, "bytes", "1.5 KiB"}, {999, "Bps", "999 B/s"}, {25_000, "Bps", "25 kB/s"}, {.123, "percentunit", "12.3 %"}, {.99998, "percentunit", "99.99 %"}, {1, "percentunit", "100 %"},
		{.0000025, "s", "2.5 µs"}, {.05, "s", "50 ms"}, {90, "s", "90 s"}, {600, "s", "10 min"}, {7300, "s", "2.03 h"}, {0, "s", "0 s"},
	} {
		if got, err := format(c.value, c.unit); err != nil || got != c.want {
			t.Errorf("%g %s is written %q, want %q; %v", c.value, c.unit, got, c.want, err)
		}
	}
}

func TestTicksAreRoundAndReachTheMost(t *testing.T) {
	for _, most := range []float64{0, 0.003, 0.9, 1, 7, 42, 1023, 5 << 20, 1e9, math.Inf(-1)} {
		for unit := range map[string]bool{"short": true, "bytes": true, "s": true} {
			marks := ticks(most, unit)
			if n := len(marks); n < 3 || n > 6 || marks[0] != 0 || marks[n-1] < most {
				t.Errorf("%g %s has the ticks %v", most, unit, marks)
			}
		}
	}
}
