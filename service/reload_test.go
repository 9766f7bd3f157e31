package service_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/config"
	"brine/examples"
	"brine/ingest"
	"brine/service"
	"brine/service/devstack"
	"brine/service/reload"
)

// TestReloadChangesWhatChangedAndNothingElse reloads with a changed filter, changed write settings, a new pipeline and a removed one. It
// checks that the unchanged pipeline keeps its loop, its membership and its partitions.
func TestReloadChangesWhatChangedAndNothingElse(t *testing.T) {
	for _, protocol := range []string{"classic", "consumer"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			changesNothingElse(t, strings.Replace(lines, "group: brine,", "group: brine, group_protocol: "+protocol+",", 1))
		})
	}
}

func changesNothingElse(t *testing.T, lines string) {
	r := startLines(t, lines)
	r.publish("steady", 0, 100)
	r.settled("steady.rows", 100) // so that it owns all its partitions
	steady, was := r.Half("steady.rows"), r.rebalances("steady.rows")
	status, _ := steady.Running()
	generation := status.Generation
	r.publish("moving", 0, 100)
	r.settled("moving.rows", 100)
	r.settled("moving.documents", 100)

	filtered := strings.Replace(lines, "topic: moving\n", "topic: moving\n    when: 'n % 2 == 0'\n", 1)
	result := r.reload(filtered, reload.Applied)
	if len(result.Onward) != 2*devstack.Partitions {
		t.Errorf("the filter counts from %+v on, want %d partitions of two halves", result.Onward, devstack.Partitions)
	}
	for _, at := range result.Onward {
		if at.Offset != 100/devstack.Partitions {
			t.Errorf("the filter counts from %+v on, want offset %d", at, 100/devstack.Partitions)
		}
	}
	r.marked(result)
	r.publish("moving", 100, 100)
	r.publish("steady", 100, 50)
	r.settled("moving.rows", 200)
	r.settled("moving.documents", 200)
	if n := r.rows("moving"); n != 150 {
		t.Errorf("%d rows, want those of 100 records and half of 100 more", n)
	}

	written := strings.Replace(filtered, "topic: moving\n", "topic: moving\n    write: { autoflush: false, linger: 2ms }\n", 1)
	documents := r.Half("moving.documents")
	if result = r.reload(written, reload.Applied); len(result.Onward) > 0 {
		t.Errorf("how a pipeline writes begins at %v", result.Onward)
	}
	if r.Half("moving.documents") != documents {
		t.Error("how rows are written has changed the documents")
	}
	r.publish("third", 0, 40)
	r.reload(written+thirdLine, reload.Applied)
	r.settled("third.rows", 40)
	third := r.Half("third.rows")
	r.reload(written, reload.Applied)
	if r.Half("third.rows") != nil {
		t.Error("a pipeline that was removed is still there")
	}
	if status, _ := third.Running(); status.Joined {
		t.Error("a pipeline that was removed is still a member of its group")
	}
	r.publish("third", 40, 40)
	r.reload(written+thirdLine, reload.Applied) // it continues where it was
	r.settled("third.rows", 40)
	if n := r.rows("third"); n != 80 {
		t.Errorf("%d rows of the pipeline that came again, want 80", n)
	}
	r.reload(written+thirdLine, reload.Unchanged)

	r.publish("steady", 150, 50)
	r.settled("steady.rows", 200)
	if now, _ := steady.Running(); r.Half("steady.rows") != steady || r.rebalances("steady.rows") != was || now.Generation != generation {
		t.Errorf("a pipeline that nothing concerns was stopped: %v rebalances, before %v", r.rebalances("steady.rows"), was)
	}
	for _, want := range []string{
		`msg="audit: configuration reloaded" by="the test" result=applied`,
		"moving.rows moving:0:25", "pipelines.moving.when: - → n % 2 == 0", "stops=[third.rows]",
	} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, r.log)
		}
	}
}

// TestRefusedReloadChangesNothing reloads with a broken file, a changed key, a process-wide setting, a missing topic and a missing table.
// It checks that what ran before continues, is healthy, and reports what was refused.
func TestRefusedReloadChangesNothing(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	halves := map[string]*service.Half{}
	for _, name := range []string{"steady.rows", "moving.rows", "moving.documents"} {
		halves[name] = r.Half(name)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"a broken file":       {"pipelines:", "pipelines", "lines.yaml:"},
		"a key":               {"moving: { row: entity, key: 'md5(id, 4)", "moving: { row: entity, key: 'md5(id, 2)", "tables.moving.key is part of"},
		"memory":              {"memory: 96MiB", "memory: 128MiB", "memory applies to the whole process"},
		"a missing topic":     {"topic: moving", "topic: nowhere", "nowhere"},
		"a missing table":     {"  steady:\n    topic", strings.NewReplacer("third", "fourth").Replace(thirdLine) + "  steady:\n    topic", "fourth"},
		"one wrong among two": {"topic: moving\n", "topic: moving\n    when: 'n >'\n    read: { window: 2 }\n", "when"},
		"an unknown setting":  {"topic: moving\n", "topic: moving\n    windows: 2\n", "windows"},
	} {
		text := strings.Replace(lines, c.old, c.new, 1)
		if name == "a missing table" {
			text = strings.Replace(text, "indexes:", "  fourth: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }\nindexes:", 1)
		}
		result := r.reload(text, reload.Refused)
		if !strings.Contains(result.Error, c.want) {
			t.Errorf("%s is refused by %q, want %q", name, result.Error, c.want)
		}
		for half, before := range halves {
			if r.Half(half) != before {
				t.Errorf("%s: %s is another", name, half)
			}
		}
	}
	resp, body := get(t, r.URL()+"/healthz")
	if resp != http.StatusOK || !strings.Contains(body, "was refused") {
		t.Errorf("healthz: %d %s", resp, body)
	}
	if _, body := get(t, r.URL()+"/metrics"); !strings.Contains(body, "brine_config_last_reload_successful 0") ||
		!strings.Contains(body, `brine_reload_total{result="refused"} 7`) {
		t.Error("the metrics do not say that the last reload was refused")
	}
	r.reload(lines, reload.Unchanged)
	if _, body := get(t, r.URL()+"/healthz"); strings.Contains(body, "was refused") {
		t.Errorf("healthz goes on about a reload that was refused: %s", body)
	}
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
}

// TestMemoryFollowsTheLoops: what is guaranteed to each loop is divided among the loops that run, also after reloads. Documents, which give
// way, hold no more than an equal share; all others may hold everything that is not guaranteed.
func TestMemoryFollowsTheLoops(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	const all, guaranteed = 48 << 20, 30 << 20 // of memory, which is 96 MiB: half, and of that five eighths
	each := func(when, yields string, halves ...string) {
		t.Helper()
		for _, half := range halves {
			least, most := guaranteed/len(halves), guaranteed/len(halves)+all-guaranteed
			if half == yields {
				most = all / len(halves)
			}
			r.wait(when+", "+half+" has its part of memory", func() bool {
				return r.metric("brine_ingest_budget_guaranteed_bytes", half) == float64(least) &&
					r.metric("brine_ingest_budget_bytes", half) == float64(most)
			})
		}
	}
	before := []string{"steady.rows", "moving.rows", "moving.documents"}
	each("at the start", "moving.documents", before...)
	r.reload(lines+thirdLine, reload.Applied)
	each("with a third pipeline", "moving.documents", append(before, "third.rows")...)
	changed := strings.Replace(lines+thirdLine, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1)
	r.reload(changed, reload.Applied)
	each("after a change", "moving.documents", append(before, "third.rows")...)
	r.reload(strings.Replace(changed, "topic: moving\n", "topic: moving\n    gives_way: rows\n", 1), reload.Applied)
	each("while rows give way", "moving.rows", append(before, "third.rows")...)
	r.reload(lines, reload.Applied)
	each("without the third", "moving.documents", before...)
}

// TestReloadForgetsNoDeletes checks that a changed retention of deletes takes effect at once and stops no half, and is still checked
// against the topic.
func TestReloadForgetsNoDeletes(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.configure("third", map[string]string{"message.timestamp.type": "LogAppendTime", "segment.ms": "3600000", "retention.ms": "3600000"})
	deletes := strings.NewReplacer("n: int }", "n: int, gone: bool }", "version: at\n", "version: at\n    allowed_lateness: 1h\n",
		"{ table: third,", "{ table: third, deleted: gone, hard_deletes: true,").Replace(thirdLine)
	kept := func(purge string) string {
		const third = "third: { row: entity, key: 'md5(id, 4) + id', families: { e: {"
		return strings.Replace(lines, third, third+" purge_deletes_after: "+purge+" ", 1) + deletes
	}
	r.reload(kept("4h"), reload.Applied)
	half := r.Half("third.rows")
	if result := r.reload(kept("3h"), reload.Refused); !strings.Contains(result.Error, "keeps its delete markers 3h") {
		t.Errorf("refused by %q", result.Error)
	}
	r.reload(kept("5h"), reload.Applied)
	if r.Half("third.rows") != half {
		t.Error("the half was stopped")
	}
}

// TestHalfThatIsRefusedEndsNoOther checks that a session timeout that the brokers refuse keeps its pipelines out of their groups but brine
// running, until another reload.
func TestHalfThatIsRefusedEndsNoOther(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.reload(strings.Replace(lines, "group: brine,", "group: brine, session_timeout: 3s,", 1), reload.Applied)
	for _, half := range []string{"steady.rows", "moving.rows"} {
		r.wait(half+" is refused", func() bool {
			status, _ := r.Half(half).Running()
			return !status.Joined && status.Detail != ""
		})
	}
	r.reload(lines, reload.Applied)
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
}

// TestMaskThatComesByAReloadReachesSkew checks that keys and hot fields counted before are not shown any more.
func TestMaskThatComesByAReloadReachesSkew(t *testing.T) {
	t.Parallel()
	hot := strings.Replace(lines, "topic: moving\n", "topic: moving\n    hot_fields: [id]\n", 1)
	r := startLines(t, hot)
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
	names := func() int {
		_, body := get(t, r.URL()+service.SkewPath)
		return strings.Count(body, "K0000001")
	}
	if n := names(); n < 2 {
		t.Fatalf("a hot key is named %d times, want once as a key and once as a field", n)
	}
	r.reload(strings.Replace(hot, "topic: moving\n", "topic: moving\n    mask: [id]\n", 1), reload.Applied)
	r.publish("moving", 20, 20)
	r.settled("moving.rows", 40)
	if _, body := get(t, r.URL()+service.SkewPath); strings.Contains(body, "K00000") {
		t.Errorf("keys that are masked are named:\n%s", body)
	}
}

// TestReloadOfSomeHalves checks that a reload changes the halves that run, and leaves out the others of their pipelines.
func TestReloadOfSomeHalves(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines, "moving.rows")
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
	result := r.reload(strings.Replace(lines, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1)+thirdLine, reload.Applied)
	if got := append(result.Names(reload.Changes), result.Names(reload.Starts)...); !slices.Equal(got, []string{"moving.rows"}) {
		t.Errorf("changes and starts %v", got)
	}
	r.publish("moving", 20, 20)
	r.settled("moving.rows", 40)
}

// TestReloadOutlivesWhoAsked checks that a reload is completed even if its client is gone, as after Ctrl-C in brine reload.
func TestReloadOutlivesWhoAsked(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.write(strings.Replace(lines, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	service.TakeReload(r.Service, w, httptest.NewRequest(http.MethodPost, service.ReloadPath, nil).WithContext(gone))
	if !strings.Contains(w.Body.String(), `"result": "applied"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
}

// TestReloadWhilePausedKeepsThePause checks that the loop that replaces a paused one is paused from the start.
func TestReloadWhilePausedKeepsThePause(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	if _, err := r.Control().Ask(t.Context(), service.Ask{What: service.Pause, Pipeline: "moving", By: "me"}); err != nil {
		t.Fatal(err)
	}
	paused := func() bool {
		status, _ := r.Half("moving.rows").Running()
		return status.Paused
	}
	r.wait("it is paused", paused)
	r.publish("moving", 0, 20)
	r.reload(strings.Replace(lines, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1), reload.Applied)
	r.joined("moving.rows")
	if !paused() {
		t.Error("the pause is over")
	}
	if n := r.Half("moving.rows").Counts().Settled; n != 0 {
		t.Errorf("%d records were settled", n)
	}
	if _, err := r.Control().Ask(t.Context(), service.Ask{What: service.Resume, Pipeline: "moving", By: "me"}); err != nil {
		t.Fatal(err)
	}
	r.settled("moving.rows", 20)
}

// TestReloadDuringARampGoesOnWithIt checks that the loop that replaces a resumed one does not hit the stores at once.
func TestReloadDuringARampGoesOnWithIt(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	running := func() ingest.Status {
		status, _ := r.Half("moving.rows").Running()
		return status
	}
	for _, what := range []string{service.Pause, service.Resume} {
		if _, err := r.Control().Ask(t.Context(), service.Ask{What: what, Pipeline: "moving", By: "me"}); err != nil {
			t.Fatal(err)
		}
		r.wait(what, func() bool { return running().Paused == (what == service.Pause) })
	}
	resumed := running().Resumed
	r.reload(strings.Replace(lines, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1), reload.Applied)
	r.joined("moving.rows")
	if got := running().Resumed; resumed.IsZero() || !got.Equal(resumed) {
		t.Errorf("it was resumed at %v, and the loop that follows ramps up from %v", resumed, got)
	}
}

// TestRenewedSecretsAreAudited checks that a reload writes an audit line, without the secret, for each file of a secret that holds something
// else, even if nothing else has changed or the reload is refused; that a preview shows it and leaves it to the reload; and that it is
// reported once.
func TestRenewedSecretsAreAudited(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	hold := func(token string) {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hold("open-1")
	text := "registry: { url: 'http://x:1', token: '${file:" + file + "}' }\n" + lines
	r := startLines(t, text)
	renewed := func(result *reload.Result) (settings []string) {
		for _, f := range result.Renewed {
			settings = append(settings, f.Setting)
		}
		return settings
	}
	for _, c := range []struct {
		token, text string
		preview     bool
		outcome     reload.Outcome
		want        []string
	}{
		{"open-1", text, false, reload.Unchanged, nil},
		{"open-2", text, true, reload.Previewed, []string{"registry.token"}},
		{"open-2", text, false, reload.Unchanged, []string{"registry.token"}},
		{"open-2", text, false, reload.Unchanged, nil},
		{"open-3", strings.Replace(text, "group: brine,", "group: other,", 1), false, reload.Refused, []string{"registry.token"}},
		{"open-3", text, false, reload.Unchanged, nil},
	} {
		hold(c.token)
		r.write(c.text)
		before := strings.Count(r.log.String(), "certificate or secret read again")
		result, _ := r.Reload(t.Context(), service.Reloading{By: "the test", Preview: c.preview})
		if result == nil || result.Outcome != c.outcome || !slices.Equal(renewed(result), c.want) {
			t.Errorf("%s: %+v, want %s with %q", c.token, result, c.outcome, c.want)
		}
		wrote := strings.Count(r.log.String(), "certificate or secret read again") - before
		if want := map[bool]int{false: len(c.want)}[c.preview]; wrote != want {
			t.Errorf("%s, preview %v: %d audit lines, want %d", c.token, c.preview, wrote, want)
		}
	}
	log := r.log.String()
	if !regexp.MustCompile(`audit: certificate or secret read again" by="the test" setting=registry.token before=[0-9a-f]{12} after=[0-9a-f]{12}`).MatchString(log) {
		t.Errorf("no audit line that says who, what, before and after in:\n%s", log)
	}
	if strings.Contains(log, "open-") {
		t.Error("the log has a secret")
	}
}

// TestReloadsComeOneAfterAnother checks that concurrent reloads, by signals and by the port, are each carried out completely.
func TestReloadsComeOneAfterAnother(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	signals := make(chan os.Signal, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() { r.ReloadWhen(ctx, signals, nil) })
	r.write(strings.Replace(lines, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1))
	signals <- syscall.SIGHUP
	signals <- syscall.SIGHUP
	for range 3 {
		waiting.Go(func() {
			if _, err := r.Reload(t.Context(), service.Reloading{By: "another"}); err != nil {
				t.Error(err)
			}
		})
	}
	r.wait("all are done", func() bool { return strings.Count(r.log.String(), "audit: configuration reloaded") == 5 })
	cancel()
	waiting.Wait()
	if n := strings.Count(r.log.String(), "result=applied"); n != 1 {
		t.Errorf("%d reloads were applied, want one: the others find nothing new\n%s", n, r.log)
	}
	if !strings.Contains(r.log.String(), `by="signal: hangup"`) {
		t.Errorf("no reload by the signal:\n%s", r.log)
	}
	r.publish("moving", 0, 20)
	r.settled("moving.rows", 20)
}

// TestPreviewChangesNothing checks that a preview reports what would change, and changes nothing.
func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	before := r.Half("moving.rows")
	r.write(strings.Replace(lines, "topic: moving\n", "topic: moving\n    when: 'n > 1'\n", 1) + thirdLine)
	status, body := post(t, r.URL()+service.ReloadPath+"?preview=1&by=me")
	if status != http.StatusOK || !strings.Contains(body, `"result": "preview"`) || !regexp.MustCompile(`"third.rows",\s+"does": "starts"`).MatchString(body) {
		t.Errorf("%d %s", status, body)
	}
	if r.Half("moving.rows") != before || r.Half("third.rows") != nil {
		t.Error("a preview has changed something")
	}
	r.write(strings.Replace(lines, "memory: 96MiB", "memory: 128MiB", 1))
	if _, body := post(t, r.URL()+service.ReloadPath+"?preview=1"); !strings.Contains(body, `"result": "refused"`) {
		t.Errorf("the preview of what would be refused: %s", body)
	}
	if _, body := get(t, r.URL()+"/metrics"); !strings.Contains(body, "brine_config_last_reload_successful 1") ||
		!strings.Contains(body, `brine_reload_total{result="refused"} 0`) || !strings.Contains(body, `brine_reload_total{result="preview"} 2`) {
		t.Error("the metrics have a preview for a reload that was refused")
	}
	if _, body := get(t, r.URL()+"/healthz"); strings.Contains(body, "was refused") {
		t.Errorf("the health has a preview for a reload that was refused: %s", body)
	}
	planned, err := r.Reload(t.Context(), service.Reloading{By: "the test", Preview: true, Meant: true})
	if err == nil || planned.Outcome != reload.Refused {
		t.Errorf("what is meant and refused: %+v, %v", planned, err)
	}
	if _, body := get(t, r.URL()+"/metrics"); !strings.Contains(body, `brine_reload_total{result="refused"} 1`) {
		t.Error("the metrics lack a reload that was refused when it was planned")
	}
	if status, body := post(t, r.URL()+service.ReloadPath, "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("a page of the web is answered %d: %s", status, body)
	}
}

// TestReloadDuringAnOutageIsBounded checks that a reload is refused if a store that it must check is down. It also checks that a pipeline
// that is removed while it waits for the store is waited for only a bounded time, and that what it had started is written when the store is
// back.
func TestReloadDuringAnOutageIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"rpc://x:1"`, `"rpc://x:1", operation_timeout: 2s, rpc_timeout: 1s`, "stop_timeout: 1m", "stop_timeout: 1s").Replace(lines)
	r := startLines(t, text+thirdLine)
	r.publish("third", 0, 20)
	r.settled("third.rows", 20)
	nodes := http.NewServeMux()
	r.on.servers.HandleNodes(nodes)
	node := func(does string) {
		w := httptest.NewRecorder()
		if nodes.ServeHTTP(w, httptest.NewRequest(http.MethodPost, devstack.NodesPath+"/0/"+does, nil)); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", does, w.Code, w.Body)
		}
	}
	node("stop")
	r.publish("third", 20, 20)
	r.publish("moving", 0, 20)
	changed := strings.Replace(text, "topic: moving\n", "topic: moving\n    read: { window: 2 }\n", 1)
	r.write(changed + thirdLine)
	within, cancel := context.WithTimeout(t.Context(), time.Second) // instead of the 30 s that checks may take
	result, err := r.Reload(within, service.Reloading{By: "the test"})
	cancel()
	if err == nil || result.Outcome != reload.Refused {
		t.Errorf("reloaded though the store is away: %+v", result)
	}
	r.reload(text, reload.Applied) // nothing to check: the third pipeline is removed
	if r.Half("third.rows") != nil {
		t.Error("a pipeline that was removed is still there")
	}
	node("start")
	r.wait("the store is there again, and the reload is done", func() bool {
		r.write(changed + thirdLine)
		result, _ := r.Reload(t.Context(), service.Reloading{By: "the test"})
		return result.Outcome == reload.Applied
	})
	r.settled("moving.rows", 20)
	r.wait("all is written", func() bool { return r.rows("third") == 40 })
}

// TestHalfThatGoesAndComesLosesNothing checks that removing documents and adding them again does not affect the rows, and that the
// documents continue where they were.
func TestHalfThatGoesAndComesLosesNothing(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	rows, was := r.Half("moving.rows"), r.rebalances("moving.rows")
	r.publish("moving", 0, 40)
	r.settled("moving.rows", 40)
	r.settled("moving.documents", 40)
	without := strings.Replace(lines, "    documents: [ { index: moving, set: { id: id, n: n } } ]\n", "", 1)
	r.reload(without, reload.Applied)
	if r.Half("moving.documents") != nil {
		t.Error("documents are still written")
	}
	r.publish("moving", 40, 40)
	r.settled("moving.rows", 80)
	r.reload(lines, reload.Applied)
	r.settled("moving.documents", 40)
	if r.Half("moving.rows") != rows || r.rebalances("moving.rows") != was {
		t.Error("the rows were stopped for the documents")
	}
	r.verifyFull("steady", "moving")
}

// TestNewPipelineBeginsWhereTheNewStartSays checks that a new pipeline starts where the new configuration says, and that those with commits
// stay where they are.
func TestNewPipelineBeginsWhereTheNewStartSays(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	r.publish("moving", 0, 40)
	r.publish("third", 0, 40)
	r.settled("moving.rows", 40)
	r.reload(strings.Replace(lines, "group: brine,", "group: brine, start: latest,", 1)+thirdLine, reload.Applied)
	r.wait("the third pipeline is at the end", func() bool {
		status, _ := r.Half("third.rows").Running()
		n := 0
		for _, p := range status.Partitions {
			if p.Watermark == 40/devstack.Partitions {
				n++
			}
		}
		return n == devstack.Partitions
	})
	r.publish("moving", 40, 40)
	r.publish("third", 40, 20)
	r.settled("third.rows", 20)
	r.settled("moving.rows", 80)
	if n := r.rows("third"); n != 20 {
		t.Errorf("%d rows, want those behind the start alone", n)
	}
}

// TestReloadWaitsForNoTimer checks that records held back by a writer's linger are written when their half is removed.
func TestReloadWaitsForNoTimer(t *testing.T) {
	t.Parallel()
	lingers := strings.Replace(lines, "topic: moving\n", "topic: moving\n    write: { autoflush: false, linger: 30s }\n", 1)
	r := startLines(t, lingers)
	r.publish("moving", 0, 20)
	r.wait("all are submitted", func() bool { return r.metric("brine_ingest_submitted_events_total", "moving.rows") == 20 })
	r.reload(lines, reload.Applied)
	if n := r.metric("brine_ingest_abandoned_flights_total", "moving.rows"); n != 0 {
		t.Errorf("%v flights were given up", n)
	}
	r.settled("moving.rows", 20)
	if n := r.metric("brine_ingest_redelivered_records_total", "moving.rows"); n != 0 {
		t.Errorf("%v records came again", n)
	}
}

// TestReloadNeedsAFileAndARun checks that a reload fails without a file to load from, before Run, and after it.
func TestReloadNeedsAFileAndARun(t *testing.T) {
	servers, cfg := stack(t)
	open := func(source func() (*config.Config, config.Problems, error)) *service.Service {
		s, err := service.Open(t.Context(), cfg, service.Options{For: service.ToRun, Halves: []string{"scans.rows"},
			Log: slog.New(slog.DiscardHandler), Source: source})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	if _, err := open(nil).Reload(t.Context(), service.Reloading{}); err == nil {
		t.Error("reloaded without a source")
	}
	s := open(func() (*config.Config, config.Problems, error) {
		return parsed(t, servers, string(examples.Dev)), nil, nil
	})
	if _, err := s.Reload(t.Context(), service.Reloading{}); err == nil {
		t.Error("reloaded before it ran")
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Run(ended); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reload(t.Context(), service.Reloading{}); err == nil {
		t.Error("reloaded after it had ended")
	}
}

// TestPinnedReloadSeesSchemaFiles checks that a reload that is pinned to its preview is refused once a schema file has changed, although the
// configuration is the same, and is applied after another look.
func TestPinnedReloadSeesSchemaFiles(t *testing.T) {
	t.Parallel()
	r := startLines(t, lines)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const schema = `{"type": "record", "name": "A", "fields": [{"name": "id", "type": "string"}, {"name": "at", "type": "long"}, {"name": "n", "type": "long"}]}`
	write("a.avsc", schema)
	write("brine.yaml", lines+strings.Replace(thirdLine, "topic: third\n", "topic: third\n    format: avro\n    schema: a.avsc\n", 1))
	r.mu.Lock()
	r.file = filepath.Join(dir, "brine.yaml")
	r.mu.Unlock()
	shown, err := r.Reload(t.Context(), service.Reloading{By: "the test", Preview: true})
	if err != nil {
		t.Fatal(err)
	}
	write("a.avsc", strings.Replace(schema, `"n", "type"`, `"n", "default": 0, "type"`, 1))
	refused, err := r.Reload(t.Context(), service.Reloading{By: "the test", After: shown.After})
	if err == nil || refused.Outcome != reload.Refused || !strings.Contains(err.Error(), "has changed since it was shown") || r.Half("third.rows") != nil {
		t.Errorf("with another schema than was shown: %v, %v", refused.Outcome, err)
	}
	applied, err := r.Reload(t.Context(), service.Reloading{By: "the test", After: refused.After})
	if err != nil || applied.Outcome != reload.Applied {
		t.Errorf("with the schema that was shown: %v, %v", applied.Outcome, err)
	}
}
