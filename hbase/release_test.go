package hbase_test

import (
	"testing"

	"brine/hbase"
	"brine/hbase/embedded"
)

// As HBase 3, the server reports reads and writes in fields that are a map in HBase 2.6, and has namespaces as rows of hbase:meta.
func TestReleases(t *testing.T) {
	for release, want := range map[string]struct {
		version string
		counts  bool
	}{"": {"2.6.4", false}, "3.0": {"3.0.0", true}} {
		dir := t.TempDir()
		s, c := start(t, embedded.Options{Release: release, Dir: dir})
		table(t, c, "t")
		if err := c.CreateNamespace(t.Context(), "logistics"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r10")}); err != nil {
			t.Fatal(err)
		}
		status, err := c.ClusterStatus(t.Context())
		if err != nil || status.Version != want.version {
			t.Fatal(status.Version, err)
		}
		if load := status.Servers[0]; (load.Reads > 0 && load.Writes > 0) != want.counts {
			t.Errorf("%q: %d reads, %d writes", release, load.Reads, load.Writes)
		}
		row, err := c.Get(t.Context(), "hbase:meta", hbase.Get{Row: []byte("logistics"), Columns: []hbase.Column{{Family: []byte("ns")}}})
		if (err == nil && len(row.Cells) == 1) != want.counts {
			t.Errorf("%q: row of the namespace %v, %v", release, row, err)
		}
		if regions, err := c.Regions(t.Context(), "t"); err != nil || len(regions) != 4 {
			t.Errorf("%q: %v, %v", release, regions, err)
		}
		// The directory may be opened as the other release.
		c.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		other := map[string]string{"": "3.0", "3.0": "2.6"}[release]
		_, c = start(t, embedded.Options{Release: other, Dir: dir})
		if namespaces, err := c.Namespaces(t.Context()); err != nil || len(namespaces) != 3 {
			t.Errorf("%q as %s: namespaces %v, %v", release, other, namespaces, err)
		}
		if row, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r10")}); err != nil || len(row.Cells) != 2 {
			t.Errorf("%q as %s: %v, %v", release, other, row, err)
		}
	}
	if _, err := embedded.Start(embedded.Options{Release: "4"}); err == nil {
		t.Error("there is no HBase 4")
	}
}
