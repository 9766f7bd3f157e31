package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"brine/query"
	rows "brine/query/display"
	"brine/service"
	"brine/service/devstack"
	"brine/skew/display"
)

// The rows that the first run shows: a real flight as a waybill, and a generated trail.
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
		if err := (&rows.Rows{Fields: w.fields}).Print(out, query.Masked(answer.Rows, cfg.Mask(), w.table)); err != nil {
			return err
		}
	}
	return nil
}

// showAccounts creates the shop's accounts. It prints the passwords of those it created, which are shown only this once.
func showAccounts(ctx context.Context, out io.Writer, s *service.Service, ops string) error {
	store, err := s.Accounts(ctx)
	if err != nil {
		return err
	}
	made, err := devstack.Accounts(ctx, store)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "operators' console on %s, where accounts are managed (API: %[1]s/api/v1/docs)", ops)
	if len(made) == 0 {
		fmt.Fprintln(out, "; the passwords were shown when the accounts were created: brine account passwd sets new ones")
		return nil
	}
	fmt.Fprintln(out, "; these passwords are shown only once:")
	for _, a := range made {
		fmt.Fprintf(out, "  %-10s %s  %s\n", a.Name, a.Password, map[bool]string{true: "reads the orders of " + a.Owner}[a.Owner != ""])
	}
	return nil
}

// showSkew prints how the rows are spread over the regions.
func showSkew(out io.Writer, s *service.Service) {
	state := s.Tables().State()
	for _, name := range slices.Sorted(maps.Keys(state.Tables)) {
		fmt.Fprintln(out)
		display.Table(out, name, state.Tables[name])
	}
}
