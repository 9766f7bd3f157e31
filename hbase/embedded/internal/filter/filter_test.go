package filter_test

import (
	"errors"
	"testing"

	"brine/hbase/embedded/internal/filter"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

const javaPackage = "org.apache.hadoop.hbase.filter."

// The error for an unsupported filter differs from that for a message that describes no filter.
func TestErrorsOfFilters(t *testing.T) {
	named := func(class string, raw []byte) *hbasepb.Filter {
		return &hbasepb.Filter{Name: proto.String(javaPackage + class), SerializedFilter: raw}
	}
	deep := named("FirstKeyOnlyFilter", nil)
	for range 100 {
		raw, err := proto.Marshal(&hbasepb.SkipFilter{Filter: deep})
		if err != nil {
			t.Fatal(err)
		}
		deep = named("SkipFilter", raw)
	}
	for _, k := range []struct {
		name        string
		f           *hbasepb.Filter
		unsupported bool
	}{
		{"of HBase", named("FuzzyRowFilter", nil), true},
		{"of a user", &hbasepb.Filter{Name: proto.String("com.example.Mine")}, true},
		{"cut off", named("PageFilter", []byte{1}), false},
		{"too deep", deep, false},
	} {
		_, err := filter.New(k.f)
		var unsupported *filter.UnsupportedError
		var invalid *filter.InvalidError
		if errors.As(err, &unsupported) != k.unsupported || errors.As(err, &invalid) == k.unsupported {
			t.Errorf("%s: %T %[2]v, want unsupported %v", k.name, err, k.unsupported)
		}
	}
	if _, err := filter.New(named("FirstKeyOnlyFilter", nil)); err != nil {
		t.Error(err)
	}
}

// An unsupported HBase comparator is an UnsupportedError too, and a long of four bytes an InvalidError.
func TestErrorsOfComparators(t *testing.T) {
	raw, err := proto.Marshal(&hbasepb.BinaryComparator{Comparable: &hbasepb.ByteArrayComparable{Value: []byte("four")}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = filter.NewComparator(&hbasepb.Comparator{Name: proto.String(javaPackage + "RegexStringComparator")})
	var unsupported *filter.UnsupportedError
	if !errors.As(err, &unsupported) {
		t.Errorf("a regular expression: %v", err)
	}
	_, err = filter.NewComparator(&hbasepb.Comparator{Name: proto.String(javaPackage + "LongComparator"), SerializedComparator: raw})
	var invalid *filter.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("a long of four bytes: %v", err)
	}
}
