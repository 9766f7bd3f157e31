package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"brine/query"
	"brine/service"
	"brine/skew/display"
)

// What the first run shows: a real flight as a waybill, and a generated trail.
const (
	sampleWaybill  = "UA-1545-20130101-EWR"
	generatedTrail = "YD310000000000"
)

func showSamples(ctx context.Context, out io.Writer, s *service.Service) error {
	cfg := s.Config()
	for _, w := range []struct {
		title, table string
		where        []string
		fields       []string // nil means all
		limit        int
	}{
		{"A waybill, newest first (a real flight)", "logistics:scans", []string{"waybill=" + sampleWaybill}, nil, 0},
		{"Another one (generated)", "logistics:scans", []string{"waybill=" + generatedTrail}, nil, 0},
		{"Orders by a word and a status: keys from the index, rows from HBase", "shop:orders",
			[]string{"text=绿茶", "status=shipped"}, []string{"user", "created", "order", "status", "total", "items"}, 5},
	} {
		_, name, _ := strings.Cut(w.table, ":")
		fmt.Fprintf(out, "\n%s: brine query %s %s\n", w.title, name, strings.Join(w.where, " "))
		table, err := readable(cfg, cfg.Table(w.table))
		if err != nil {
			return err
		}
		question, err := table.Question(query.Request{Args: w.where, Limit: w.limit})
		if err != nil {
			return err
		}
		answer, err := question.Ask(ctx, s.Client(), s.Engine())
		if err != nil {
			return err
		}
		if err := (&rowTable{fields: w.fields}).print(out, query.Masked(answer.Rows, cfg.Mask(), w.table)); err != nil {
			return err
		}
	}
	return nil
}

// showSkew shows how the rows lie over the regions.
func showSkew(out io.Writer, s *service.Service) {
	state := s.Tables().State()
	for _, name := range slices.Sorted(maps.Keys(state.Tables)) {
		fmt.Fprintln(out)
		display.Table(out, name, state.Tables[name])
	}
}
