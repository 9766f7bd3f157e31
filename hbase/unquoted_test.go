package hbase

import (
	"errors"
	"testing"
)

// TestUnquoted checks that what a server says is left out, and that brine's own words and the cause stay.
func TestUnquoted(t *testing.T) {
	said := errors.New("row='secret' on region orders,secret,1.abc.")
	for _, c := range []struct{ server, class, want string }{
		{"rs1:16020", "org.apache.hadoop.hbase.NotServingRegionException", "rs1:16020 answered NotServingRegionException"},
		{"", "java.io.IOException", "a server answered IOException"},
		{"rs1:16020", "", said.Error()},
		{"rs1:16020", "connection", said.Error()},
	} {
		if err := Unquoted(c.server, c.class, said); err.Error() != c.want || !errors.Is(err, said) {
			t.Errorf("%s: %v, want %s", c.class, err, c.want)
		}
	}
}
