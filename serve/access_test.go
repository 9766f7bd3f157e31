package serve

import (
	"testing"

	"brine/account"
	"brine/event"
	"brine/query"
)

// TestAnOwnerIsNotAskedForByWords checks that an owner field searched by words does not select a customer's rows: the rows of "Ann Lee"
// have the word "Ann" too.
func TestAnOwnerIsNotAskedForByWords(t *testing.T) {
	s := &Server{opts: Options{Access: map[string]Access{"t": {Owner: "buyer"}}}}
	on := &subject{source: &query.Table{Name: "t"}, optional: []string{"buyer"}}
	if got := s.forced(on); got != "buyer" {
		t.Errorf("asked for by its value: %q", got)
	}
	on.words = []string{"buyer"}
	if got := s.forced(on); got != "" {
		t.Errorf("asked for by words: %q", got)
	}
}

// TestRowsBelongToTheOwnerThatTheyHold checks whose a row is: the account's if the owner field has its value, wherever the row holds that,
// and no other.
func TestRowsBelongToTheOwnerThatTheyHold(t *testing.T) {
	table := &query.Table{Name: "t"}
	c := &call{Server: &Server{opts: Options{Access: map[string]Access{"t": {Owner: "buyer"}}}},
		endpoint: &endpoint{on: tableSubject(table, false)},
		id:       &account.Identity{Role: account.Customer, Account: account.Account{Owner: "u1"}}, scope: scope{open: true, owned: true}}
	hashed, u1, u2 := query.Field{Name: "buyer"}, query.Field{Name: "buyer", Value: event.TextValue("u1")},
		query.Field{Name: "buyer", Value: event.TextValue("u2")}
	for _, tt := range []struct {
		fields []query.Field
		owns   bool
	}{
		{[]query.Field{u1}, true},
		{[]query.Field{u2}, false},
		{[]query.Field{hashed, u1}, true}, // by a key that only hashes it, and a column
		{[]query.Field{hashed, u2}, false},
		{[]query.Field{u1, u2}, false},
		{[]query.Field{u2, hashed}, false},
		{[]query.Field{hashed}, false},
		{nil, false},
	} {
		if got := c.owns(&query.Row{Fields: tt.fields}); got != tt.owns {
			t.Errorf("%v: %v", tt.fields, got)
		}
	}
}
