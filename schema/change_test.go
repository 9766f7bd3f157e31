package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/hbase"
	"brine/internal/fault"
)

func family(name string, values ...string) hbase.Family {
	f := hbase.Family{Name: name, Values: map[string]string{}}
	for i := 0; i < len(values); i += 2 {
		f.Values[values[i]] = values[i+1]
	}
	return f
}

// What brine does not know, or the configuration does not name, stays as it is.
func TestMergedKeepsTheRest(t *testing.T) {
	have := hbase.Table{Name: "t", Values: map[string]string{"OWNER": "ops", "MAX_FILESIZE": "1"}, Families: []hbase.Family{
		family("a", "TTL", "FOREVER", "COMPRESSION", "none", "CACHE_INDEX_ON_WRITE", "true"), family("old", "TTL", "5")}}
	want := hbase.Table{Name: "t", Values: map[string]string{"MAX_FILESIZE": "2"}, Families: []hbase.Family{
		family("a", "TTL", "2147483647", "COMPRESSION", "GZ"), family("new", "TTL", "7")}}
	got := merged(have, want)
	if diff := cmp.Diff(hbase.Table{Name: "t", Values: map[string]string{"OWNER": "ops", "MAX_FILESIZE": "2"}, Families: []hbase.Family{
		family("a", "TTL", "FOREVER", "COMPRESSION", "GZ", "CACHE_INDEX_ON_WRITE", "true"), family("old", "TTL", "5"), family("new", "TTL", "7")}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if have.Families[0].Values["COMPRESSION"] != "none" || len(have.Families) != 2 {
		t.Errorf("what was described is changed: %+v", have)
	}
	if again := changes(want, got); len(again) > 0 {
		t.Errorf("a second time: %v", again)
	}
}

func TestChangesThatLose(t *testing.T) {
	for _, tt := range []struct {
		name, is, becomes string
		have              []string
		allow             string
	}{
		{"TTL", "FOREVER", "86400", nil, "--allow-shorter-ttl"},
		{"TTL", "86400", "2147483647", nil, ""},
		{"TTL", "86400", "86399", nil, "--allow-shorter-ttl"},
		{"VERSIONS", "3", "1", nil, "--allow-fewer-versions"},
		{"VERSIONS", "1", "3", nil, ""},
		{"MIN_VERSIONS", "2", "0", []string{"TTL", "86400"}, "--allow-fewer-versions"},
		{"MIN_VERSIONS", "2", "0", []string{"TTL", "FOREVER"}, ""}, // nothing expires
		{"MIN_VERSIONS", "2", "0", nil, ""},
		{"BLOCKSIZE", "65536", "1024", nil, ""},
	} {
		have := family("e", append(tt.have, tt.name, tt.is)...)
		got := changes(hbase.Table{Families: []hbase.Family{family("e", tt.name, tt.becomes)}}, hbase.Table{Families: []hbase.Family{have}})
		if len(got) != 1 || got[0].Allow != tt.allow || (got[0].Loses == "") != (tt.allow == "") {
			t.Errorf("%s %s → %s: %+v, want the flag %q", tt.name, tt.is, tt.becomes, got, tt.allow)
		}
	}
}

// The answers of servers that lack a codec.
func TestACodecThatServersLackIsNamed(t *testing.T) {
	for codec, answer := range map[string]string{
		"LZO":  "DoNotRetryIOException: java.lang.RuntimeException: java.lang.ClassNotFoundException: com.hadoop.compression.lzo.LzoCodec Set hbase.table.sanity.checks to false",
		"LZ4":  "DoNotRetryIOException: java.lang.NoClassDefFoundError: net/jpountz/lz4/LZ4Factory Set hbase.table.sanity.checks to false",
		"ZSTD": "DoNotRetryIOException: java.lang.RuntimeException: native zStandard library not available: this version of libhadoop was built without zstd support",
	} {
		s := TableStep{Table: "logs_" + strings.ToLower(codec), table: hbase.Table{Families: []hbase.Family{family("a"), family("b", "COMPRESSION", "NONE"), family("e", "COMPRESSION", codec)}}}
		var refused *fault.Error
		if err := s.refused(fmt.Errorf("create table %s: %s", s.Table, answer)); !errors.As(err, &refused) || !strings.Contains(refused.Fix, "the codec "+strings.ToLower(codec)+" of family e") {
			t.Errorf("%s: %v", codec, err)
		}
		if err := s.refused(fmt.Errorf("create table %s: timed out", s.Table)); errors.As(err, &refused) && strings.Contains(err.Error(), "timed out") {
			t.Errorf("%s: not every error is the codec's: %+v", codec, refused)
		}
	}
}
