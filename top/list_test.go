package top

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/pressure"
)

func TestListOfRunningPipelines(t *testing.T) {
	rate, arrives, kept, never := 12345.6, 13000.0, 7200.0, -1.0
	members := []Member{{"brine-1", "brine", "/10.0.0.7", 12, "1.4.0"}, {"brine-2", "brine", "/10.0.0.8", 10, ""}}
	rows := Pipeline{Name: "scans.rows", State: "running", Group: "brine.scans.rows", Partitions: 12, Rate: &rate, Arrives: &arrives, Lag: 120_000,
		Drain: &never, Limit: "server", Members: members}
	rows.Time[pressure.Server], rows.Time[pressure.Submit], rows.Time[pressure.Decode] = .61, .3, .04
	other := rows
	other.Partitions, other.State, other.RateLimit = 10, "limited", 5000
	documents := Pipeline{Name: "scans.documents", State: "paused", Group: "brine.scans.documents", Partitions: 22, Lag: -1, Kept: &kept,
		Waiting: "paused by ann at 2026-11-25 08:00:00", Unknown: "connection refused"}
	answers := func(p ...Pipeline) func(context.Context) ([]Pipeline, error) {
		return func(context.Context) ([]Pipeline, error) { return p, nil }
	}
	all, problems := List(t.Context(), []Brine{
		{Addr: "a:8765", Pipelines: answers(rows, documents)},
		{Addr: "b:8765", Pipelines: answers(other)},
		{Addr: "c:8765", Pipelines: func(context.Context) ([]Pipeline, error) { return nil, errors.New("connection refused") }},
	})
	if diff := cmp.Diff([]string{"c:8765 does not answer: connection refused"}, problems); diff != "" {
		t.Error(diff)
	}
	var out strings.Builder
	PrintList(&out, all, false)
	const want = `PIPELINE         STATE              PARTITIONS  SETTLED/S  ARRIVE/S  LAG      DRAINED  LIMIT   TIME                   RETENTION          BRINE
scans.documents  paused             22          ?          ?         ?        ?        -       -                      deletes in 2h0m0s  a:8765
scans.rows       running            12          12,346     13,000    120,000  never    server  server 61% submit 30%  -                  a:8765
scans.rows       limited (5,000/s)  10          12,346     13,000    120,000  never    server  server 61% submit 30%  -                  b:8765
scans.documents on a:8765: paused by ann at 2026-11-25 08:00:00

GROUP                  MEMBER                       HOST       PARTITIONS  VERSION
brine.scans.documents  unknown: connection refused
brine.scans.rows       brine-1                      /10.0.0.7  12          1.4.0
brine.scans.rows       brine-2                      /10.0.0.8  10          ?
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	out.Reset()
	PrintList(&out, all[:1], true)
	for _, part := range []string{`"brine":"a:8765"`, `"state":"paused"`, `"retention_seconds":7200`, `"members_unknown":"connection refused"`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%s is not in %s", part, out.String())
		}
	}
}

func TestWhatRetentionLeaves(t *testing.T) {
	for seconds, want := range map[float64]string{0: "deletes now", 90: "deletes in 1m30s", 7 * 24 * 3600: "deletes in 7d"} {
		if got := left(&seconds); got != want {
			t.Errorf("%v s: %q, expected %q", seconds, got, want)
		}
	}
	if got := left(nil); got != "-" {
		t.Errorf("unknown: %q", got)
	}
}
