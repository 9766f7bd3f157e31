package serve

import (
	"testing"

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
