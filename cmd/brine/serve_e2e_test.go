package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/internal/when"
	"brine/serve/client"
)

// serving is a brine serve in its own process.
type serving struct {
	*client.Client
	t    *testing.T
	ops  string // base URL of the operators' routes
	stop func() (log string)
	*process
}

// serve runs brine serve on the job's configuration.
func (j *job) serve() *serving {
	j.t.Helper()
	cmd := j.command("serve", "-c", j.file, "--metrics", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "BRINE_SERVE_LISTEN=127.0.0.1:0", "BRINE_SERVE_OPS_LISTEN=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		j.t.Fatal(err)
	}
	p := &process{t: j.t, cmd: cmd, read: make(chan struct{})}
	lines := bufio.NewReader(io.TeeReader(stderr, &p.log))
	ops := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			j.t.Fatalf("brine serve ended before it served: %v\n%s", err, &p.log)
		}
		if _, addr, ok := strings.Cut(line, "metrics and health on http://"); ok {
			p.http = strings.TrimSpace(addr)
		}
		if url, ok := strings.CutPrefix(line, "brine: operators' port on "); ok {
			ops = strings.TrimSpace(url)
		}
		if base, _, ok := strings.Cut(strings.TrimPrefix(line, "brine: serving "), "/api/v1/docs"); ok {
			go func() { // ends with the process
				defer close(p.read)
				_, _ = io.Copy(io.Discard, lines)
			}()
			return &serving{&client.Client{Base: base}, j.t, ops, func() string {
				if n := p.metric("brine_serve_requests_total"); n == 0 {
					j.t.Error("no request is counted")
				}
				http.DefaultClient.CloseIdleConnections()
				p.stop()
				return p.log.String()
			}, p}
		}
	}
}

// TestServe asks brine serve for what the records alone mean, runs every curl line of docs/api.md, and stops it.
func TestServe(t *testing.T) {
	t.Parallel()
	j := newShop(t, embeddedStack(t))
	s := j.serve()
	j.checkTimelines(s)
	j.checkPagesOfOrders(s)
	s.runCurls(j)
	if log := s.stop(); strings.Contains(log, "level=") {
		t.Errorf("the log is\n%s", log)
	}
}

// checkTimelines compares timelines with the scans: whole, streamed and many at once.
func (j *shopJob) checkTimelines(s *serving) {
	var asked client.Questions
	var want []string
	for waybill, list := range j.scans {
		page, err := s.Ask(j.t.Context(), "waybill", url.Values{"waybill": {waybill}})
		if err != nil {
			j.t.Fatal(err)
		}
		var streamed []client.Row
		next, err := s.Stream(j.t.Context(), "waybill", url.Values{"waybill": {waybill}}, func(r client.Row) error {
			streamed = append(streamed, r)
			return nil
		})
		if err != nil || next != page.Next || len(streamed) != len(page.Rows) || len(page.Rows) != len(list) {
			j.t.Fatalf("%s: %d rows, %d streamed, %d scans; %v", waybill, len(page.Rows), len(streamed), len(list), err)
		}
		for i, x := range list {
			if at := page.Rows[i].Fields["at"]; at != when.Text(x.At) || streamed[i].Fields["at"] != at {
				j.t.Errorf("%s: row %d is of %v, want %s", waybill, i, at, when.Text(x.At))
			}
		}
		asked.Questions = append(asked.Questions, map[string]client.Values{"waybill": {waybill}})
		if want = append(want, when.Text(list[0].At)); len(want) == 50 {
			break
		}
	}
	all, err := s.AskAll(j.t.Context(), "waybill-latest", asked)
	if err != nil {
		j.t.Fatal(err)
	}
	for i, page := range all.Answers {
		if len(page.Rows) != 1 || page.Rows[0].Fields["at"] != want[i] {
			j.t.Errorf("the latest event of %v is %v, want %s", asked.Questions[i], page.Rows, want[i])
		}
	}
}

// checkPagesOfOrders goes through a user's orders by the index, page by page, and opens each.
func (j *shopJob) checkPagesOfOrders(s *serving) {
	for user, list := range j.orders {
		want := []string{}
		for _, o := range list {
			if o.Deleted == nil && (o.Status == "shipped" || o.Status == "received") {
				want = append(want, o.Order)
			}
		}
		got := []string{}
		for params := (url.Values{"user": {user}, "status": {"shipped", "received"}, "page_size": {"2"}}); ; {
			page, err := s.Ask(j.t.Context(), "user-orders", params)
			if err != nil {
				j.t.Fatal(err)
			}
			for _, r := range page.Rows {
				got = append(got, r.Fields["order"].(string))
				j.checkOpened(s, &r)
			}
			if page.Next == "" {
				break
			}
			params.Set("page_token", page.Next)
		}
		if !slices.Equal(got, want) {
			j.t.Errorf("user %s: %v, want %v", user, got, want)
		}
	}
}

// checkOpened reads a row of a page whole.
func (j *shopJob) checkOpened(s *serving, r *client.Row) {
	table := "centre:" + j.name + "_orders"
	whole, err := s.Row(j.t.Context(), table, r.Row)
	if err != nil || whole.Fields["items"] == nil || whole.Fields["order"] != r.Fields["order"] {
		j.t.Fatalf("%s: %v, %v", r.Row, whole, err)
	}
	if _, err := s.Newer(j.t.Context(), table, r.Row, whole.Version); !errors.Is(err, client.ErrNotModified) {
		j.t.Errorf("%s in its own version: %v", r.Row, err)
	}
}

// runCurls runs every curl line of the page; each is answered with rows.
func (s *serving) runCurls(j *shopJob) {
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		s.t.Fatal(err)
	}
	row, err := s.Find(s.t.Context(), "centre:"+j.name+"_order_ids", url.Values{"order": {j.anyOrder()}})
	if err != nil {
		s.t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^curl .*127\.0\.0\.1:8090.*$`).FindAllString(string(page), -1) // operators: service/operations
	if len(lines) < 8 {
		s.t.Fatalf("docs/api.md has only %d lines of curl", len(lines))
	}
	words := regexp.MustCompile(`'[^']*'|\S+`)
	for _, line := range lines {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.Base, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		list := words.FindAllString(line, -1)
		for i := range list {
			list[i] = strings.Trim(list[i], "'")
		}
		for i := 1; i < len(list); i++ {
			switch w := list[i]; w {
			case "-s", "-sN":
			case "-H":
				i++
				name, value, _ := strings.Cut(list[i], ": ")
				req.Header.Set(name, value)
			case "-d":
				i++
				req.Method, req.Body = http.MethodPost, io.NopCloser(strings.NewReader(strings.ReplaceAll(list[i], `"ROW"`, strconv.Quote(row.Row))))
			default:
				w = strings.NewReplacer("http://127.0.0.1:8090", s.Base, "centre:", "centre:"+j.name+"_", "rows/ROW", "rows/"+url.PathEscape(row.Row)).Replace(w)
				if req.URL, err = url.Parse(w); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		s.runs(line, req)
	}
}

// runs sends the request of a curl line.
func (s *serving) runs(line string, req *http.Request) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var body []byte
	if resp.Header.Get("Content-Type") == "text/event-stream" { // it never ends; it is enough that there is a page
		for in := bufio.NewReader(resp.Body); err == nil && !bytes.HasPrefix(body, []byte("data: ")); {
			body, err = in.ReadBytes('\n')
		}
	} else {
		body, err = io.ReadAll(resp.Body)
	}
	answers := slices.ContainsFunc([]string{`"fields"`, `"parameters"`, `"facets":[{`}, func(has string) bool { return strings.Contains(string(body), has) })
	if err != nil || resp.StatusCode != http.StatusOK || !answers {
		s.t.Errorf("%s\n%s %v\n%s", line, resp.Status, err, body)
	}
}

// anyOrder returns an order that is not deleted.
func (j *shopJob) anyOrder() string {
	for _, list := range j.orders {
		for _, o := range list {
			if o.Deleted == nil {
				return o.Order
			}
		}
	}
	j.t.Fatal("all orders are deleted")
	return ""
}
