package client

import (
	"context"
	"net/http"
)

// SQL is a statement.
type SQL struct {
	Statement string `json:"statement" doc:"A SELECT statement, as described in docs/sql.md; at most 10,000 bytes."`
}

// SQLAnswer is what a statement returns.
type SQLAnswer struct {
	Columns []SQLColumn `json:"columns"`
	Rows    [][]any     `json:"rows" doc:"Rows with a value for each column. Times are RFC 3339; missing values are null."`

	Reached string   `json:"reached,omitempty" doc:"Limit at which reading stopped. Absent if the answer is complete."`
	Stats   SQLStats `json:"stats"`
}

// SQLNames are what statements may name, for completion in editors.
type SQLNames struct {
	Tables []SQLTable `json:"tables"`
	Words  []string   `json:"words" doc:"Keywords of the language."`
}

// SQLTable is a table with its columns.
type SQLTable struct {
	Table   string      `json:"table"`
	Columns []SQLColumn `json:"columns"`
}

// SQLColumn is a column of an answer.
type SQLColumn struct {
	Name string `json:"name"`
	Type string `json:"type" doc:"text, int, float, bool, time or nested."`
}

// SQLEnd is the last line of a streamed answer: its cost, and whether it is complete.
type SQLEnd struct {
	Reached string   `json:"reached,omitempty" doc:"Limit at which reading stopped. Absent if the answer is complete."`
	Stats   SQLStats `json:"stats"`
}

// SQLStats are the cost of an answer.
type SQLStats struct {
	HBase    float64 `json:"hbase_ms" doc:"Milliseconds spent waiting for rows."`
	Total    float64 `json:"total_ms" doc:"Milliseconds until the answer was complete."`
	Read     int     `json:"rows_read" doc:"Rows read, as counted by the servers."`
	Returned int     `json:"rows_returned" doc:"Rows in the answer."`
	Regions  int     `json:"regions" doc:"Number of regions read."`
}

// SQLLine is a line of a streamed answer: the columns, a row, or the end.
type SQLLine struct {
	Columns []SQLColumn `json:"columns,omitempty" doc:"Only in the first line."`
	Row     []any       `json:"row,omitempty"`
	End     *SQLEnd     `json:"end,omitempty" doc:"Only in the last line. Without it, the answer is incomplete."`
}

// SQL runs a statement. reason says why other people's rows are read; it is required with accounts.
func (c *Client) SQL(ctx context.Context, statement, reason string) (out SQLAnswer, err error) {
	return out, c.send(ctx, http.MethodPost, "/api/v1/sql", SQL{Statement: statement}, &out, "Brine-Reason", reason)
}

// SQLNames returns what statements may name.
func (c *Client) SQLNames(ctx context.Context) (out SQLNames, err error) {
	return out, c.get(ctx, "/api/v1/sql", nil, &out)
}
