// Package client is a client of a brine's HTTP API. It defines the types of the answers: the server writes them, its OpenAPI document
// describes them, and programs read them. It imports nothing else of brine.
package client

import (
	"encoding/json"
	"fmt"
)

// Row is a row.
type Row struct {
	Row     string `json:"row" doc:"The row's key, as HBase's shell writes it."`
	Version int64  `json:"version" doc:"The newest version among the cells that were read."`
	// StateVersion is 0 in tables without commands.
	StateVersion int64 `json:"state_version,omitempty" doc:"The version that commands on the row are accepted upon (If-Match)."`

	State  string         `json:"state,omitempty" doc:"How the row and its document differ, where the index has found it and they do."`
	Fields map[string]any `json:"fields" doc:"Times as RFC 3339; null where there is no value."`

	Highlights map[string][]Span `json:"highlights,omitempty" doc:"Where the words that were asked for stand, by field."`
}

// Span is a part of a text.
type Span struct {
	From int `json:"from" doc:"In characters, from 0."`
	To   int `json:"to" doc:"Behind the last one."`
}

// Facets are the number of rows that match a question, and how many of them have each value of some fields.
type Facets struct {
	Rows   int64   `json:"rows" doc:"That answer, as the index knows them."`
	Facets []Facet `json:"facets"`
}

// Facet is the number of rows with each value of a field.
type Facet struct {
	Field  string       `json:"field"`
	Values []FacetValue `json:"values" doc:"The most frequent first."`
	More   bool         `json:"more" doc:"There are values that are not listed."`
}

// FacetValue is the number of rows with a value.
type FacetValue struct {
	Value any   `json:"value"`
	Rows  int64 `json:"rows"`
}

// Page is a part of an answer.
type Page struct {
	Rows []Row  `json:"rows"`
	Next string `json:"next_page_token" doc:"What page_token takes to go on with the same parameters; empty at the end."`
}

// Line is a line of a streamed answer: a row, or at the end either End or Error.
type Line struct {
	Row   *Row     `json:"row,omitempty"`
	End   *End     `json:"end,omitempty" doc:"The answer is whole."`
	Error *Problem `json:"error,omitempty" doc:"The answer broke off here."`
}

// End is the last line of a complete streamed answer.
type End struct {
	Next string `json:"next_page_token"`
}

// Keys is a request for many rows.
type Keys struct {
	Keys []string `json:"keys" doc:"Keys of rows, as answers show them."`
}

// Found is the answer to Keys, in the order of the keys.
type Found struct {
	Rows    []Row    `json:"rows"`
	Missing []string `json:"missing" doc:"Keys of rows that are not there."`
}

// Questions is a request with many questions of one view.
type Questions struct {
	Questions []map[string]Values `json:"questions" doc:"Of each its parameters, named as in the view's query, without those of pages."`
	PageSize  int                 `json:"page_size,omitempty" doc:"Rows of each answer; without it, the view's page."`
}

// Answers are the answers to Questions, in the same order.
type Answers struct {
	Answers []Page `json:"answers"`
}

// Values are the values of a parameter: in JSON, a text or a list of texts.
type Values []string

// UnmarshalJSON decodes a text or a list of texts.
func (v *Values) UnmarshalJSON(b []byte) error {
	var one string
	if err := json.Unmarshal(b, &one); err == nil && string(b) != "null" {
		*v = Values{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return fmt.Errorf("%s is neither a text nor a list of texts", b)
	}
	*v = many
	return nil
}

// Views are the views of the configuration.
type Views struct {
	Views []View `json:"views"`
}

// View is a query that the configuration declares.
type View struct {
	Name       string      `json:"view"`
	Path       string      `json:"path"`
	Table      string      `json:"table" doc:"Whose rows it shows."`
	Order      string      `json:"order,omitempty" doc:"newest or oldest; without it, that of the key."`
	PageSize   int         `json:"page_size" doc:"Rows of a page, unless the question says how many."`
	Parameters []Parameter `json:"parameters"`

	Facets []string `json:"facets" doc:"Fields by whose values its /facets counts."`

	Batch  bool `json:"batch" doc:"Many questions may be asked in one request."`
	Reason bool `json:"reason" doc:"Requests say in the header Brine-Reason why rows of others are read."`
}

// Tables are the tables of the configuration.
type Tables struct {
	Tables []Table `json:"tables"`
}

// Table is a table whose rows may be read by key.
type Table struct {
	Name   string     `json:"table"`
	Path   string     `json:"path"`
	Key    []KeyField `json:"key" doc:"In their order in the first key."`
	Reason bool       `json:"reason" doc:"Requests say in the header Brine-Reason why rows of others are read."`

	State    string       `json:"state,omitempty" doc:"The field that commands change; empty: there are none."`
	States   []string     `json:"states" doc:"Those that commands lead from and to."`
	Commands []Transition `json:"commands" doc:"Those that the asker's role may give."`
}

// KeyField is a field of row keys.
type KeyField struct {
	Name string `json:"name"`
	Type string `json:"type" doc:"text, int, float, bool or time"`
}

// Transition is what a command does.
type Transition struct {
	Name string   `json:"command"`
	From []string `json:"from" doc:"States of rows that it may be given upon."`
	To   string   `json:"to"`
	Take []string `json:"take" doc:"Fields that the caller may give."`
}

// Parameter is a parameter of a view.
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type" doc:"text, int, float, bool, time or words"`
	Required bool   `json:"required"`
	Range    bool   `json:"range" doc:"NAME.from (inclusive) and NAME.to (exclusive) may be given instead of a value."`
	List     bool   `json:"list" doc:"It may be given several times: rows with any of the values."`
}

// Problem says why there is no answer (RFC 9457).
type Problem struct {
	Type    string  `json:"type" doc:"What kind it is: a place in the documentation page."`
	Title   string  `json:"title"`
	Status  int     `json:"status"`
	Detail  string  `json:"detail"`
	Errors  []Wrong `json:"errors,omitempty" doc:"What is wrong with the request."`
	Request string  `json:"request_id" doc:"Also in the header X-Request-Id, and in brine's log."`

	Current *Current `json:"current,omitempty" doc:"Of a command that the row does not allow: how the row is."`
}

// Current is the state of a row on which a command was refused.
type Current struct {
	State        string `json:"state"`
	StateVersion int64  `json:"state_version"`
	Deleted      bool   `json:"deleted"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail) }

// Wrong is a faulty argument.
type Wrong struct {
	Location string `json:"location" doc:"query.NAME, path.NAME or body.PATH"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
	Line     int    `json:"line,omitempty" doc:"In a SQL statement, from 1."`
	Column   int    `json:"column,omitempty" doc:"In its line, from 1, in characters."`
}

// Command is a command that was accepted.
type Command struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Row     string `json:"row" doc:"The row's key, as HBase's shell writes it."`
	To      string `json:"to" doc:"The state that the row has when it is applied."`
	Version int64  `json:"version" doc:"Of the change: the state_version of the row when it is applied."`
	State   string `json:"state" doc:"accepted, published, applied, overtaken or failed"`
	Detail  string `json:"detail,omitempty" doc:"Why it was overtaken, or failed."`
	Token   string `json:"token,omitempty" doc:"For the header Brine-After of reads that are to see it; absent until it is published."`
}

// Fields are the arguments of a command.
type Fields struct {
	Fields map[string]any `json:"fields,omitempty" doc:"Those that the command takes, by name."`
}
