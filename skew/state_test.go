package skew

import (
	"strings"
	"testing"
)

func TestAShortNameIsOfOneTable(t *testing.T) {
	s := State{Tables: map[string]TableState{"a:orders": {}, "b:orders": {}, "a:scans": {}, "b:scans": {}, "scans": {}, "a:visits": {}}}
	for name, want := range map[string]string{"scans": "scans", "visits": "a:visits", "a:orders": "a:orders"} {
		got, err := s.Of(name)
		if _, ok := got.Tables[want]; err != nil || !ok || len(got.Tables) != 1 {
			t.Errorf("%s: %v, %v", name, got.Tables, err)
		}
	}
	if _, err := s.Of("orders"); err == nil || !strings.Contains(err.Error(), "short for a:orders and b:orders") {
		t.Errorf("orders: %v", err)
	}
}
