package service_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/config"
	"brine/examples"
	"brine/internal/fault"
	"brine/publish"
	"brine/service"
	"brine/service/admin"
	"brine/service/devstack"
)

// running is a running service on embedded servers.
type running struct {
	*service.Service
	t      *testing.T
	cancel context.CancelFunc
	ended  chan error
}

// stack starts embedded servers with the configuration of brine dev.
func stack(t *testing.T) (*devstack.Stack, *config.Config) {
	t.Helper()
	servers, err := devstack.Start(devstack.Options{Dir: t.TempDir(), HBaseNodes: 1, ScannerLease: time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	cfg := parsed(t, servers, string(examples.Dev))
	if err := servers.Prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return servers, cfg
}

func parsed(t *testing.T, servers *devstack.Stack, text string) *config.Config {
	t.Helper()
	cfg, problems := config.Parse("dev.yaml", []byte(text), servers.Getenv)
	if err := problems.Err(); err != nil {
		t.Fatal(problems)
	}
	return cfg
}

const runVersion = "1.4.0"

func run(t *testing.T, cfg *config.Config, halves ...string) *running {
	t.Helper()
	s, err := service.Open(t.Context(), cfg, service.Options{For: service.ToRun, Halves: halves, Log: slog.New(slog.DiscardHandler), Version: runVersion})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{s, t, cancel, make(chan error, 1)}
	go func() { r.ended <- s.Run(ctx) }()
	t.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	if r.cancel == nil {
		return
	}
	r.cancel()
	r.cancel = nil
	if err := <-r.ended; err != nil {
		r.t.Error(err)
	}
	r.Close()
}

// until waits until a status satisfies so.
func (r *running) until(what string, so func(service.Status) bool) {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !so(r.Status()[0]); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("not within two minutes: %s; %+v", what, r.Status())
		}
	}
}

func scans(t *testing.T, cfg *config.Config, from, n int) {
	t.Helper()
	sender := publish.NewSender(cfg.Kafka.Options(), cfg.Kafka.RequestTimeout)
	defer sender.Close()
	byPartition := map[int][]publish.Record{}
	for i := from; i < from+n; i++ {
		value := fmt.Sprintf(`{"waybill":"W%07d","action":"in","station":"S","at":%d,"courier":"C"}`, i, 1700000000000+int64(i))
		byPartition[i%devstack.Partitions] = append(byPartition[i%devstack.Partitions], publish.Record{Key: fmt.Appendf(nil, "W%d", i), Value: []byte(value)})
	}
	for p, records := range byPartition {
		if _, err := sender.Send(t.Context(), cfg.Pipelines[0].Topic, p, records, "", nil); err != nil {
			t.Fatal(err)
		}
	}
}

func post(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// TestWhatIsAskedAtOnceHolds checks that a pause and a limit sent at the same moment, to two processes, do not undo each other.
func TestWhatIsAskedAtOnceHolds(t *testing.T) {
	_, cfg := stack(t)
	c, other := service.NewControl(cfg, slog.New(slog.DiscardHandler)), service.NewControl(cfg, slog.New(slog.DiscardHandler))
	defer c.Close()
	defer other.Close()
	for range 10 {
		var both sync.WaitGroup
		for to, a := range map[*service.Control]service.Ask{c: {What: service.Pause, Pipeline: "scans"}, other: {What: service.Limit, Pipeline: "scans", Limit: 5000}} {
			both.Go(func() {
				if _, err := to.Ask(t.Context(), a); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		asked, err := c.Asked(t.Context())
		if now := asked["scans.rows"]; err != nil || !now.Paused || now.Limit != 5000 {
			t.Fatalf("%+v, %v", now, err)
		}
		for _, a := range []service.Ask{{What: service.Resume, Pipeline: "scans"}, {What: service.Limit, Pipeline: "scans"}} {
			if _, err := c.Ask(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPauseOutlivesTheProcessAndHoldsForAllMembers checks that a pause through the admin port of one process holds for a process of the
// same group that starts later.
func TestPauseOutlivesTheProcessAndHoldsForAllMembers(t *testing.T) {
	servers, cfg := stack(t)
	first := run(t, cfg, "scans.rows")
	scans(t, cfg, 0, 300)
	first.until("settled", func(s service.Status) bool { return s.Events == 300 })

	at := first.URL() + service.ControlPath
	if status, body := post(t, at+"scans/pause", "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("a page of the web is answered %d: %s", status, body)
	}
	if status, body := post(t, at+"nothing/pause"); status != http.StatusNotFound || !strings.Contains(body, "there are scans") {
		t.Errorf("an unknown pipeline is answered %d: %s", status, body)
	}
	if status, body := post(t, at+"scans/limit?limit=NaN"); status != http.StatusBadRequest {
		t.Errorf("a limit of NaN is answered %d: %s", status, body)
	}
	if status, body := post(t, at+"scans/pause?half=documents"); status != http.StatusBadRequest {
		t.Errorf("a half that is not there is answered %d: %s", status, body)
	}
	if first.Status()[0].Paused {
		t.Fatal("paused by what was refused")
	}
	if status, body := post(t, at+"scans/pause?by=me"); status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	first.until("paused", func(s service.Status) bool { return s.Paused && strings.HasPrefix(s.Waiting, "paused by me") })
	var shown []service.Shown
	if err := (admin.Client{Addr: first.Addr()}).Get(t.Context(), service.PipelinesPath+"?members", &shown); err != nil {
		t.Fatal(err)
	}
	if p := shown[0]; p.State != "paused" || p.Partitions != devstack.Partitions || len(p.Members) != 1 || p.Members[0].Partitions != devstack.Partitions || p.Unknown != "" {
		t.Errorf("shown as %+v", p)
	}
	first.stop()

	scans(t, cfg, 300, 200)
	second, third := run(t, parsed(t, servers, string(examples.Dev)), "scans.rows"), run(t, parsed(t, servers, string(examples.Dev)), "scans.rows")
	for _, r := range []*running{second, third} {
		r.until("a member, and paused", func(s service.Status) bool { return s.Paused && s.Lag >= 0 })
	}
	if n := second.Status()[0].Events + third.Status()[0].Events; n != 0 {
		t.Errorf("%d records were written while paused", n)
	}
	elsewhere := service.NewControl(cfg, slog.New(slog.DiscardHandler)) // as in another process without loops
	defer elsewhere.Close()
	if _, err := elsewhere.Ask(t.Context(), service.Ask{What: service.Limit, Pipeline: "scans", Limit: 0.5}); !isUsage(err) {
		t.Errorf("a limit of half a record: %v", err)
	}
	for _, a := range []service.Ask{{What: service.Limit, Pipeline: "scans", Limit: 5000}, {What: service.Resume, Pipeline: "scans"}} {
		if _, err := elsewhere.Ask(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []*running{second, third} {
		r.until("limited, and not paused", func(s service.Status) bool { return !s.Paused && s.RateLimit == 5000 })
	}
	second.until("all are settled", func(service.Status) bool { return second.Status()[0].Events+third.Status()[0].Events == 200 })
}

func isUsage(err error) bool {
	f, ok := err.(*fault.Error) //nolint:errorlint // it is returned unwrapped
	return ok && f.Kind == fault.Usage
}

// TestControlNeedsTheToken checks that where a token is configured, nobody pauses, limits or reloads a pipeline without it, not even from
// this machine.
func TestControlNeedsTheToken(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	r := startLines(t, strings.Replace(lines, "memory: 96MiB", "memory: 96MiB\nhttp: { token: "+token+" }", 1))
	pipeline := r.URL() + service.ControlPath + "moving/"
	routes := []string{pipeline + service.Pause, pipeline + service.Limit + "?limit=10", pipeline + service.Limit + "?limit=0", pipeline + service.Resume,
		r.URL() + service.ReloadPath + "?preview=1", r.URL() + service.ReloadPath}
	for _, route := range routes {
		for name, header := range map[string][]string{
			"no token": nil, "a wrong one": {"Authorization", "Bearer " + token + "0"}, "another scheme": {"Authorization", "Basic " + token},
		} {
			if status, body := post(t, route, header...); status != http.StatusUnauthorized || !strings.Contains(body, "http.token") || strings.Contains(body, token) {
				t.Errorf("%s with %s: %d %s", route, name, status, body)
			}
		}
		if status, body := post(t, route, "Authorization", "Bearer "+token); status != http.StatusOK {
			t.Errorf("%s with the token: %d %s", route, status, body)
		}
	}
	if n := strings.Count(r.log.String(), "pipeline command"); n != 2*4 { // of two halves
		t.Errorf("%d commands were obeyed, want those with the token alone:\n%s", n, r.log)
	}
}
