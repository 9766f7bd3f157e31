// Package client is a client of a brine's HTTP API. It defines the types of the answers: the server writes them, its OpenAPI document
// describes them, and programs read them. It imports nothing else of brine.
package client

import (
	"encoding/json"
	"fmt"
)

// Row is a row.
type Row struct {
	Row     string `json:"row" doc:"Row key, in the HBase shell's notation."`
	Version int64  `json:"version" doc:"Newest version of the cells that were read."`
	// StateVersion is 0 in tables without commands.
	StateVersion int64 `json:"state_version,omitempty" doc:"Version that a command on the row must name in If-Match. Absent in tables without commands."`

	State  string         `json:"state,omitempty" doc:"How the row differs from its document: not in HBase, index behind HBase, HBase behind index, or index and row differ. Absent if they agree, or if the row was not found through the index."`
	Fields map[string]any `json:"fields" doc:"Fields by name. Times are RFC 3339; fields without a value are null."`

	Highlights map[string][]Span `json:"highlights,omitempty" doc:"Where the searched words occur, by field."`
}

// Span is a part of a text.
type Span struct {
	From int `json:"from" doc:"First character, counting from 0."`
	To   int `json:"to" doc:"End, exclusive: the character after the last one."`
}

// Facets are the number of rows that match a question, and how many of them have each value of some fields.
type Facets struct {
	Rows   int64   `json:"rows" doc:"Number of matching rows, according to the index."`
	Facets []Facet `json:"facets"`
}

// Facet is the number of rows with each value of a field.
type Facet struct {
	Field  string       `json:"field"`
	Values []FacetValue `json:"values" doc:"At most 100 values, most frequent first."`
	More   bool         `json:"more" doc:"Whether there are more values than are listed."`
}

// FacetValue is the number of rows with a value.
type FacetValue struct {
	Value any   `json:"value"`
	Rows  int64 `json:"rows"`
}

// Page is a part of an answer.
type Page struct {
	Rows []Row  `json:"rows"`
	Next string `json:"next_page_token" doc:"Pass as page_token, with the same parameters, to get the next page. Empty if this is the last page."`
}

// Line is a line of a streamed answer: a row, or at the end either End or Error.
type Line struct {
	Row   *Row     `json:"row,omitempty"`
	End   *End     `json:"end,omitempty" doc:"Last line of a complete answer."`
	Error *Problem `json:"error,omitempty" doc:"Last line of an answer that broke off."`
}

// End is the last line of a complete streamed answer.
type End struct {
	Next string `json:"next_page_token"`
}

// Keys is a request for many rows.
type Keys struct {
	Keys []string `json:"keys" doc:"Row keys as returned in answers; 1 to 1,000."`
}

// Found is the answer to Keys, in the order of the keys.
type Found struct {
	Rows    []Row    `json:"rows"`
	Missing []string `json:"missing" doc:"Keys without a row that the caller may see."`
}

// Questions is a request with many questions of one view.
type Questions struct {
	Questions []map[string]Values `json:"questions" doc:"Parameters of each question, named as in the view's query, without page_size and page_token; 1 to 1,000 questions."`
	PageSize  int                 `json:"page_size,omitempty" doc:"Maximum number of rows per answer (default: the view's page_size). All answers together may have at most 10,000 rows."`
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
	Table      string      `json:"table" doc:"Table whose rows the view shows."`
	Order      string      `json:"order,omitempty" doc:"newest or oldest: which rows come first, by the time in their key. Absent if rows are in key order."`
	PageSize   int         `json:"page_size" doc:"Default number of rows per page."`
	Parameters []Parameter `json:"parameters"`

	Facets []string `json:"facets" doc:"Fields whose values the /facets route counts."`

	Batch  bool `json:"batch" doc:"Whether the :batch route can be used, which answers several questions in one request."`
	Reason bool `json:"reason" doc:"Whether requests must give a reason for reading rows of others, in the header Brine-Reason."`
}

// Tables are the tables of the configuration.
type Tables struct {
	Tables []Table `json:"tables"`
}

// Table is a table whose rows may be read by key.
type Table struct {
	Name   string     `json:"table"`
	Path   string     `json:"path"`
	Key    []KeyField `json:"key" doc:"Fields of the row key, in the order of the table's first key."`
	Reason bool       `json:"reason" doc:"Whether requests must give a reason for reading rows of others, in the header Brine-Reason."`

	State    string       `json:"state,omitempty" doc:"Field that commands change. Absent if there are no commands, or if the field is masked for the caller."`
	States   []string     `json:"states" doc:"States that commands lead from or to."`
	Commands []Transition `json:"commands" doc:"Commands that the caller may give."`
}

// KeyField is a field of row keys.
type KeyField struct {
	Name string `json:"name"`
	Type string `json:"type" doc:"text, int, float, bool or time."`
}

// Transition is what a command does.
type Transition struct {
	Name string   `json:"command"`
	From []string `json:"from" doc:"States in which a row accepts the command."`
	To   string   `json:"to" doc:"State of the row after the command."`
	Take []string `json:"take" doc:"Fields that the caller may set."`
}

// Parameter is a parameter of a view.
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type" doc:"text, int, float, bool, time or words."`
	Required bool   `json:"required"`
	Range    bool   `json:"range" doc:"Whether NAME.from (inclusive) and NAME.to (exclusive) can be given instead of a value."`
	List     bool   `json:"list" doc:"Whether the parameter can be repeated, to match any of the values."`
}

// Problem says why there is no answer (RFC 9457).
type Problem struct {
	Type    string  `json:"type" doc:"Kind of problem: a link into the documentation page."`
	Title   string  `json:"title"`
	Status  int     `json:"status"`
	Detail  string  `json:"detail"`
	Errors  []Wrong `json:"errors,omitempty" doc:"What is wrong with the request."`
	Request string  `json:"request_id" doc:"ID of the request, also in the header X-Request-Id and in brine's log."`

	Current *Current `json:"current,omitempty" doc:"The row's current state, if that is why a command was refused."`
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
	Location string `json:"location" doc:"query.NAME, path.NAME, header.NAME or body.PATH."`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
	Line     int    `json:"line,omitempty" doc:"Line of a SQL statement, from 1."`
	Column   int    `json:"column,omitempty" doc:"Column in that line, in characters, from 1."`
}

// Command is a command that was accepted.
type Command struct {
	ID      string `json:"id"`
	Command string `json:"command"`
	Row     string `json:"row" doc:"Row key, in the HBase shell's notation."`
	To      string `json:"to" doc:"State of the row once the command is applied."`
	Version int64  `json:"version" doc:"state_version of the row once the command is applied."`
	State   string `json:"state" doc:"accepted (stored), published (in the topic), applied, overtaken (a newer change set the row's state or deleted it), failed (no effect) or unanswered (the reader of the commands' topic has not changed the row in time)."`
	Detail  string `json:"detail,omitempty" doc:"Why the command was overtaken, failed or is unanswered."`
	Token   string `json:"token,omitempty" doc:"Pass in the header Brine-After of reads that must see the command's effect. Absent until the command is published."`
}

// Fields are the arguments of a command.
type Fields struct {
	Fields map[string]any `json:"fields,omitempty" doc:"Values of the fields that the command takes, by name."`
}
