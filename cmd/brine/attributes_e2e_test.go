package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/hbase"
	"brine/internal/testenv"
)

// attributeNames maps the configuration's names of HBase's family attributes to a value that is not the default, and to what a server
// reports for it.
var attributeNames = map[string][2]string{
	"ttl: 10d":                      {"TTL", "864000"},
	"versions: 3":                   {"VERSIONS", "3"},
	"min_versions: 2":               {"MIN_VERSIONS", "2"},
	"compression: gz":               {"COMPRESSION", "GZ"},
	"bloom: rowcol":                 {"BLOOMFILTER", "ROWCOL"},
	"block_size: 16KiB":             {"BLOCKSIZE", "16384"},
	"block_cache: false":            {"BLOCKCACHE", "false"},
	"encoding: fast_diff":           {"DATA_BLOCK_ENCODING", "FAST_DIFF"},
	"in_memory: true":               {"IN_MEMORY", "true"},
	"storage_policy: one_ssd":       {"STORAGE_POLICY", "ONE_SSD"},
	"replication: global":           {"REPLICATION_SCOPE", "1"},
	"mob: 200KiB":                   {"IS_MOB", "true"},
	"purge_deletes_after: 20d":      {"hbase.hstore.time.to.purge.deletes", "1728000000"},
	"# the threshold goes with mob": {"MOB_THRESHOLD", "204800"},
}

// TestEveryAttributeIsApplied creates a table with every attribute and alters a table to have them, on both servers. The servers then
// report them, a second run has nothing to do, and attributes no longer in the configuration stay.
func TestEveryAttributeIsApplied(t *testing.T) {
	notShort(t)
	t.Parallel()
	for server, start := range map[string]func(*testing.T) string{"embedded": embeddedHBase, "real": func(t *testing.T) string { return testenv.HBase(t) }} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			a := newApplied(t, start(t))
			var settings []string
			for _, s := range slices.Sorted(maps.Keys(attributeNames)) {
				if !strings.HasPrefix(s, "#") {
					settings = append(settings, s)
				}
			}
			all := "{ " + strings.Join(settings, ", ") + " }"
			const sizes = "\n    max_filesize: 20GiB\n    memstore_flushsize: 256MiB\n    durability: sync_wal"
			a.apply("created with 4 regions", "{ ttl: 5d }, d: {}", "") // a shorter one would need its flag
			a.apply("altered", all+", d: {}", sizes)
			a.check()
			a.apply("nothing to do", all+", d: {}", sizes)
			a.apply("nothing to do", all, "") // nothing is dropped, and what is not named stays
			a.check()
			dropTable(t, a.connect, a.table)
			a.apply("created", all+", d: {}", sizes)
			a.check()
		})
	}
}

// TestCodecsAreAppliedOrNamed alters a table to each codec. If a server lacks a codec, the error names it and nothing is altered.
func TestCodecsAreAppliedOrNamed(t *testing.T) {
	notShort(t)
	t.Parallel()
	for server, start := range map[string]func(*testing.T) string{"embedded": embeddedHBase, "real": func(t *testing.T) string { return testenv.HBase(t) }} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			a := newApplied(t, start(t))
			a.apply("created", "{}", "")
			is := "NONE"
			for _, codec := range []string{"gz", "snappy", "lz4", "zstd", "lzo"} {
				a.write("{ compression: "+codec+" }", "")
				out, err := a.brine("tables", "apply", "-c", a.file, "--yes")
				switch {
				case err == nil:
					is = strings.ToUpper(codec)
				case !strings.Contains(out, "the codec "+codec+" of family e"):
					t.Errorf("%s: %v\n%s", codec, err, out)
				}
				t.Logf("%s: applied %v", codec, err == nil)
				if got := a.describe().Families[0].Values["COMPRESSION"]; !strings.EqualFold(got, is) {
					t.Errorf("after %s the family has %s, want %s", codec, got, is)
				}
			}
		})
	}
}

// applied is a configuration of one table, and the server to apply it to.
type applied struct {
	t       *testing.T
	client  *hbase.Client
	connect string
	file    string
	table   string
}

func newApplied(t *testing.T, connect string) *applied {
	t.Helper()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: connect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	a := &applied{t: t, client: client, connect: connect, file: filepath.Join(t.TempDir(), "brine.yaml"), table: testenv.Name(t)}
	t.Cleanup(func() { dropTable(t, connect, a.table) })
	return a
}

// write writes the configuration of a table with a family e.
func (a *applied) write(e, more string) {
	a.t.Helper()
	text := fmt.Sprintf(`kafka: { brokers: [127.0.0.1:1] }
hbase: { connect: %q }
tables:
  %s:
    row: entity
    key: md5(id, 4) + id
    regions: 4
    families: { e: %s }%s
pipelines:
  p: { topic: t, fields: { id: text }, rows: [ { table: %[2]s, set: { "e:i": id } } ] }
`, a.connect, a.table, e, more)
	if err := os.WriteFile(a.file, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (a *applied) brine(args ...string) (string, error) {
	out, err := exec.CommandContext(a.t.Context(), "brine", args...).CombinedOutput()
	return string(out), err
}

// apply applies the configuration and checks that the output contains a text.
func (a *applied) apply(want, e, more string) {
	a.t.Helper()
	a.write(e, more)
	out, err := a.brine("tables", "apply", "-c", a.file, "--yes")
	if err != nil || !strings.Contains(out, want) {
		a.t.Fatalf("%v: no %q in\n%s", err, want, out)
	}
}

func (a *applied) describe() hbase.Table {
	a.t.Helper()
	d, err := a.client.Describe(a.t.Context(), a.table)
	if err != nil {
		a.t.Fatal(err)
	}
	return d
}

// check checks that the server reports a table with all attributes.
func (a *applied) check() {
	a.t.Helper()
	d := a.describe()
	if len(d.Families) != 2 {
		a.t.Fatalf("%d families", len(d.Families))
	}
	e := d.Families[slices.IndexFunc(d.Families, func(f hbase.Family) bool { return f.Name == "e" })]
	for setting, want := range attributeNames {
		if got := e.Values[want[0]]; !strings.EqualFold(got, want[1]) {
			a.t.Errorf("%s: %s is %q, want %q", setting, want[0], got, want[1])
		}
	}
	for name, want := range map[string]string{"MAX_FILESIZE": "21474836480", "MEMSTORE_FLUSHSIZE": "268435456", "DURABILITY": "SYNC_WAL"} {
		if got := d.Values[name]; got != want {
			a.t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
