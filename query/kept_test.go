package query_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"brine/hbase"
	"brine/query"
)

// described is a client that describes a table.
type described struct {
	query.Client
	values map[string]string
	err    error
}

func (d described) Describe(context.Context, string) (hbase.Table, error) {
	return hbase.Table{Name: "t", Families: []hbase.Family{{Name: "e", Values: d.values}}}, d.err
}

// TestKept checks what a table's description says it keeps of earlier cells, and that it may be kept from us.
func TestKept(t *testing.T) {
	denied := &hbase.Error{Op: "describe", Class: "org.apache.hadoop.hbase.security.AccessDeniedException", Err: errors.New("no")}
	away := &hbase.Error{Op: "describe", Err: errors.New("no master")}
	for _, c := range []struct {
		client query.Client
		want   string
	}{
		{described{values: map[string]string{"VERSIONS": "3", "TTL": "FOREVER"}}, "map[e:{3 0s}] <nil>"},
		{described{values: map[string]string{"VERSIONS": "3", "TTL": "2147483647"}}, "map[e:{3 0s}] <nil>"},
		{described{values: map[string]string{"VERSIONS": "2147483647", "TTL": "86400"}}, "map[e:{2147483647 24h0m0s}] <nil>"},
		{described{}, "map[e:{1 0s}] <nil>"},
		{described{values: map[string]string{"TTL": "1 DAY"}}, `map[] table t, family e: TTL is "1 DAY", not a number`},
		{described{err: denied}, "map[] <nil>"},
		{described{err: away}, "map[] describe: no master"},
		{struct{ query.Client }{}, "map[] <nil>"},
	} {
		kept, err := query.Selector{Client: c.client}.Kept(t.Context(), "t")
		if got := fmt.Sprint(kept, " ", err); got != c.want {
			t.Errorf("%+v: %s, want %s", c.client, got, c.want)
		}
	}
}
