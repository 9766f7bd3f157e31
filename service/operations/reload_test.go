package operations

import (
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"brine/account"
	"brine/config"
	"brine/examples"
	"brine/internal/sample"
	"brine/serve/client"
	"brine/service"
	"brine/service/reload"
)

const window = "    write: { autoflush: true }\n"

func devWith(old, new string) string { return strings.Replace(string(examples.Dev), old, new, 1) }

// TestReloadOverHTTP checks that a reload is planned, refused while what ran before continues, and applied, and that of two concurrent
// reloads one finds nothing left to do.
func TestReloadOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	if _, err := b.Reload(t.Context(), client.ReloadAsk{DryRun: true}); status(err) != http.StatusConflict || !strings.Contains(err.Error(), "are not running") {
		t.Errorf("before anything runs: %v", err)
	}
	b.run()
	b.publish("courier.scans", "waybill", first(20, sample.Scans()))
	b.untilEnd()
	halves := map[string]*service.Half{}
	for _, name := range []string{"scans.rows", "orders.rows", "orders.documents"} {
		halves[name] = b.service.Half(name)
	}
	unchanged := func(what string, but ...string) {
		t.Helper()
		for name, h := range halves {
			if (b.service.Half(name) == h) == slices.Contains(but, name) {
				t.Errorf("%s: %s stays: %v", what, name, b.service.Half(name) == h)
			}
		}
	}
	b.refusesReloads(unchanged)

	b.write(devWith(window, window+"    read: { window: 2 }\n"), nil)
	planned, err := b.Reload(t.Context(), client.ReloadAsk{DryRun: true})
	if err != nil || planned.Result != "preview" || len(planned.Settings) != 1 || planned.Settings[0].Setting != "pipelines.scans.read.window" ||
		planned.Settings[0].Becomes != "2" || planned.Pipelines[0].Does != "changes" || planned.Pipelines[1].Does != "stays" || planned.By != "operator" {
		t.Fatalf("%+v, %v", planned, err)
	}
	unchanged("a dry run")
	if _, err := b.Reload(t.Context(), client.ReloadAsk{After: "0123456789ab"}); status(err) != http.StatusConflict || !strings.Contains(err.Error(), "has changed since it was shown") {
		t.Errorf("of another file than was shown: %v", err)
	}
	unchanged("of another file than was shown")
	b.twoReloads(planned.After)
	unchanged("applied", "scans.rows")
	b.publish("courier.scans", "waybill", first(40, sample.Scans()))
	b.untilEnd()
	if shown, err := b.Configuration(t.Context()); err != nil || !strings.Contains(shown.YAML, "window: 2") {
		t.Errorf("%s, %v", shown.YAML, err)
	}
	accounts, err := b.service.Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := accounts.Entries(t.Context(), 0, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"before":"` + planned.Before + `","after":"` + planned.After + `","changes":["scans.rows"],`
	if !slices.ContainsFunc(entries, func(e account.Entry) bool {
		return e.Action == "reload" && e.Account == "operator" && strings.HasPrefix(e.Object, want)
	}) {
		t.Errorf("the audit lacks %s: %+v", want, entries)
	}
}

// refusesReloads requests reloads that cannot be applied. Each plan must have the reason, and each reload must be refused.
func (b *bench) refusesReloads(unchanged func(what string, but ...string)) {
	t := b.t
	t.Helper()
	for what, c := range map[string]struct {
		file   string
		broken error
		says   string
		planes bool
	}{
		"a key":                      {devWith("key: md5(waybill, 4)", "key: md5(waybill, 6)"), nil, "tables.logistics:scans.key is part of", true},
		"what is served":             {devWith("    public: exact-key", "    public: exact-key\n    roles: [support]"), nil, "affects what this process serves", true},
		"a mask":                     {devWith(window, window+"    mask: [courier]\n"), nil, "would mask fields other than", true},
		"a broken file":              {devWith("pipelines:", "pipelines"), nil, "dev.yaml:", false},
		"a file that cannot be read": {"", &fs.PathError{Op: "open", Path: "brine.yaml", Err: errors.New("permission denied")}, "permission denied", false},
		"a secret":                   {devWith("search:\n", "registry: { url: 'http://127.0.0.1:1', user: u, password: planted-secret }\nsearch:\n"), nil, "registry", true},
	} {
		b.write(c.file, c.broken)
		planned, err := b.Reload(t.Context(), client.ReloadAsk{DryRun: true})
		if err != nil || planned.Result != "refused" || !strings.Contains(planned.Error, c.says) || planned.Fix == "" && c.planes || len(planned.Pipelines) > 0 != c.planes {
			t.Errorf("%s is planned as %+v, %v", what, planned, err)
		}
		_, err = b.Reload(t.Context(), client.ReloadAsk{})
		if status(err) != http.StatusConflict || !strings.Contains(err.Error(), strings.Split(planned.Error, "\n")[0]) {
			t.Errorf("%s: %v, planned as %q", what, err, planned.Error)
		}
		for _, s := range planned.Settings {
			if strings.Contains(s.Was+s.Becomes, "planted-secret") {
				t.Errorf("%s shows a secret: %+v", what, s)
			}
		}
		unchanged(what)
	}
}

// twoReloads requests the shown reload twice at once: one is applied, and the other finds nothing left to do.
func (b *bench) twoReloads(after string) {
	var done sync.WaitGroup
	var results [2]client.Reload
	var errs [2]error
	for i := range results {
		done.Go(func() { results[i], errs[i] = b.Reload(b.t.Context(), client.ReloadAsk{After: after}) })
	}
	done.Wait()
	got := []string{results[0].Result, results[1].Result}
	slices.Sort(got)
	if err := errors.Join(errs[0], errs[1]); err != nil || !slices.Equal(got, []string{"applied", "unchanged"}) {
		b.t.Errorf("%v, %v", got, err)
	}
}

// TestReloadWhereNothingRuns checks that a process that only serves says where pipelines are reloaded.
func TestReloadWhereNothingRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRead, nil)
	for _, dry := range []bool{true, false} {
		if _, err := b.Reload(t.Context(), client.ReloadAsk{DryRun: dry}); status(err) != http.StatusConflict || !strings.Contains(err.Error(), "brine run --serve") {
			t.Errorf("%v", err)
		}
	}
}

// TestRenewedSecretsAreAnswered checks that the answer names the certificates and secrets whose files have changed.
func TestRenewedSecretsAreAnswered(t *testing.T) {
	of := config.Renewal{Setting: "kafka.tls.cert", Before: "0123456789ab", After: "ba9876543210"}
	got := shownReload(&reload.Result{Renewed: []config.Renewal{of}}).Renewed
	if want := []client.ReloadRenewal{{Setting: of.Setting, Before: of.Before, After: of.After}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
