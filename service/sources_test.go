package service_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"brine/config"
	"brine/examples"
	"brine/indexer"
	"brine/service"
)

// TestOutagesOfAReindex checks that a reindex logs a failing index as run does.
func TestOutagesOfAReindex(t *testing.T) {
	cfg, problems := config.Parse("dev.yaml", examples.Dev, func(name string) (string, bool) { return "http://127.0.0.1:1", name == "BRINE_SEARCH_CONNECT" })
	if cfg == nil {
		t.Fatal(problems)
	}
	var log bytes.Buffer
	at := slices.IndexFunc(cfg.Pipelines, func(p *config.Pipeline) bool { return len(p.Documents) > 0 })
	p := cfg.Pipelines[at]
	s, err := service.Open(t.Context(), cfg, service.Options{For: service.ToRead, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Halves: []string{config.Half{Pipeline: p, Kind: service.Documents}.Name()}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hooks := s.ReindexSource(p, p.Documents[0].Index).Documents.Hooks
	for range 3 {
		hooks.Retry(indexer.RetryInfo{Err: errors.New("10.0.0.1:9200: connection refused")})
	}
	hooks.Items(indexer.ItemsInfo{Index: "orders", Outcome: indexer.Again, Events: 5})
	if n := strings.Count(log.String(), "10.0.0.1:9200: connection refused"); n != 1 {
		t.Errorf("%d warnings: %s", n, &log)
	}
}
