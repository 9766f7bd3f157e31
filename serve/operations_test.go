package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/fault"
	"brine/mask"
	"brine/serve"
	"brine/serve/client"
)

// operations have one pipeline, p. For others they fail as the name says.
type operations struct{}

func failing(name string) error {
	switch name {
	case "missing":
		return fault.New(fault.Missing, errors.New("there is no such thing"), "make it")
	case "misused":
		return fault.Misused(errors.New("that is not how it is asked"))
	case "refused":
		return fault.New(fault.Failed, errors.New("the group is in use"), "stop it")
	case "away":
		return fault.New(fault.Unreachable, errors.New("kafka.brokers: no answer"), "is it running?")
	case "odd":
		return errors.New("whatever it is")
	}
	return nil
}

func (operations) Pipelines(context.Context) (client.Pipelines, error) {
	return client.Pipelines{Pipelines: []client.Pipeline{{Name: "p"}}}, nil
}

func (operations) Pipeline(_ context.Context, name string) (client.Pipeline, error) {
	return client.Pipeline{Name: name}, failing(name)
}

func (operations) Tables(context.Context) (client.StoredTables, error) {
	return client.StoredTables{}, nil
}

func (operations) Regions(_ context.Context, table string, _ *mask.Rules) (client.Regions, error) {
	return client.Regions{Table: table}, failing(table)
}

func (operations) Skew(_ context.Context, table string, _ *mask.Rules) (client.Skew, error) {
	return client.Skew{}, failing(table)
}

func (operations) HeatMap(_ context.Context, table string, of client.HeatMapOf, _ *mask.Rules) (client.HeatMap, error) {
	return client.HeatMap{Table: table, Most: float64(of.Minutes*1e6 + of.Columns)}, failing(table)
}

func (operations) TableSizes(_ context.Context, table string, of client.HeatMapOf) (client.TableSizes, error) {
	return client.TableSizes{Table: table, Sizes: []client.TableSize{{At: of.Until, MB: int64(of.Minutes)}}}, failing(table)
}

func (operations) Configuration(context.Context) (client.Configuration, error) {
	return client.Configuration{}, nil
}

func (operations) Key(_ context.Context, of client.KeyOf, _ *mask.Rules) (client.KeyDesign, error) {
	return client.KeyDesign{Key: fmt.Sprintf("%+v", of)}, failing(of.Table)
}

func (operations) Offsets(_ context.Context, of client.HalvesOf) (client.Offsets, error) {
	return client.Offsets{}, failing(of.Pipeline)
}

func (operations) SetOffsets(_ context.Context, to client.SetOffsets) (client.OffsetMoves, error) {
	return client.OffsetMoves{Done: !to.DryRun}, failing(to.Pipeline)
}

func (operations) DeadLetters(_ context.Context, of client.DeadLettersOf, after string, most int, _ *mask.Rules) (client.DeadLetters, error) {
	return client.DeadLetters{Next: fmt.Sprint(of, after, most)}, failing(of.Pipeline)
}

func (operations) DeadLetter(_ context.Context, record, _ string, _ *mask.Rules) (client.DeadLetters, error) {
	return client.DeadLetters{}, failing(record)
}

func (operations) DeadLetterSums(_ context.Context, of client.DeadLettersOf, _ *mask.Rules) (client.DeadLetterSums, error) {
	return client.DeadLetterSums{}, failing(of.Pipeline)
}

func (operations) Ask(_ context.Context, what, pipeline string, of client.PipelineAsk, by string) (client.PipelineAsked, error) {
	limit := -1.0
	if of.Limit != nil {
		limit = *of.Limit
	}
	return client.PipelineAsked{Halves: []client.HalfAsked{{Name: fmt.Sprint(what, " ", of.Half, limit), By: by}}}, failing(pipeline)
}

func (operations) PlanReload(_ context.Context, of client.ReloadAsk, by string) (client.Reload, error) {
	return client.Reload{By: by, After: of.After}, failing(of.After)
}

func (operations) Reload(_ context.Context, after, by string) (client.Reload, error) {
	return client.Reload{By: by, After: after}, failing(after)
}

func (operations) StartJob(_ context.Context, s serve.JobStart) (client.Job, bool, error) {
	job := client.Job{ID: "j1", Kind: s.Kind, State: client.JobQueued, Account: s.By.Account, Asked: s.Shown}
	switch s.Key {
	case "full":
		return job, false, serve.ErrJobsFull
	case "reused":
		return job, false, serve.ErrJobKeyReused
	}
	return job, s.Key == "again", failing(s.Key)
}

func (operations) Jobs(_ context.Context, behind string, _ int) (client.Jobs, error) {
	return client.Jobs{Next: behind}, nil
}

func (operations) Job(_ context.Context, id string, _ bool) (client.Job, error) {
	return client.Job{ID: id, Asked: []byte("{}")}, failing(id)
}

func (operations) CancelJob(_ context.Context, id string) (client.Job, error) {
	return client.Job{ID: id, Asked: []byte("{}")}, failing(id)
}

// TestOperationErrors checks that errors of Operations are answered according to their kind.
func TestOperationErrors(t *testing.T) {
	g := newGuarded(t, nil)
	for name, want := range map[string]struct {
		status int
		says   string
	}{
		"p": {200, `"name":"p"`}, "missing": {404, "no such thing; make it"}, "misused": {400, "not how it is asked"}, "refused": {409, "in use; stop it"},
		"away": {503, "is it running?"}, "odd": {503, "brine's log says why"},
	} {
		w := g.asOps("operator", http.MethodGet, "/api/v1/ops/pipelines/"+name, "")
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.says) || w.Code == 503 != (w.Header().Get("Retry-After") != "") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestOpsOpenAPI compares the document of the operators' listener with its file; -update writes it.
func TestOpsOpenAPI(t *testing.T) {
	const file = "testdata/ops.openapi.json"
	got, err := newGuarded(t, nil).ops.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("%s (-want +got), go test ./serve -update writes it:\n%s", file, diff)
	}
}

// TestOpsWithoutAccounts checks that without accounts operators can see all and change nothing, on loopback only.
func TestOpsWithoutAccounts(t *testing.T) {
	var opts serve.Options
	newShop(t, func(o *serve.Options) { opts = *o })
	if _, err := serve.NewOps(listener(t), opts); err == nil {
		t.Error("a listener without accounts and operations was made")
	}
	opts.Operations = operations{}
	s, err := serve.NewOps(listener(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	shown := false
	for _, route := range s.Paths() {
		if shown = shown || route == "GET /api/v1/ops/pipelines"; !strings.HasPrefix(route, "GET ") && route != "POST /api/v1/sql" || strings.Contains(route, "accounts") {
			t.Errorf("without accounts there is %s", route)
		}
	}
	if !shown {
		t.Error(fmt.Sprint(s.Paths()))
	}
	opts.Listen = "0.0.0.0:0"
	if _, err := serve.NewOps(listener(t), opts); err == nil {
		t.Error("it listens beyond loopback")
	}
}
