package embedded_test

import (
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// TestAddedNode: a node added to a cluster gets regions, serves them, and takes over those of a node that dies.
func TestAddedNode(t *testing.T) {
	s := start(t, embedded.Options{Servers: 2, DetectAfter: 1})
	createOn(t, s, "t", "3", "5", "7")
	added, err := s.Add()
	if err != nil {
		t.Fatal(err)
	}
	if added.Index() != 2 || len(s.Nodes()) != 3 || added.Regions() != 0 {
		t.Errorf("node %d of %d with %d regions", added.Index(), len(s.Nodes()), added.Regions())
	}
	if s.Balance() == 0 || added.Regions() == 0 {
		t.Errorf("after balancing it has %d regions", added.Regions())
	}
	s.Nodes()[0].Stop()
	s.Nodes()[1].Stop()
	for _, row := range []string{"1", "4", "6", "8"} {
		r := holder(s, row)
		if r.Node != 2 {
			t.Fatalf("row %s is on node %d", row, r.Node)
		}
		at(t, s, r).must("Mutate", &hbasepb.MutateRequest{Region: region(r.Name), Mutation: putOf(row, 1)}, &hbasepb.MutateResponse{}, block(cell(row, "e", "q", 1, 4, row)))
	}
}
