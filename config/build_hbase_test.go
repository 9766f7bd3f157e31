package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"brine/hbase"
)

// TestHBaseTakesItsOptions holds Load's promise for hbase, with the bounds of every setting.
func TestHBaseTakesItsOptions(t *testing.T) {
	for _, file := range append(files(t, "testdata/*.good.yaml"), files(t, "../examples/*.yaml")...) {
		cfg, problems := Load(file, environ())
		if cfg == nil {
			t.Fatal(problems)
		}
		opts := cfg.HBase()
		if _, embedded := cfg.Cluster.Embedded(); embedded {
			opts.Connect = "rpc://127.0.0.1:16000" // as cmd/brine does
		}
		opts.EnsureDefaults()
		if err := opts.Validate(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestHBaseDefaultsAreTheOwners is TestDefaultsAreTheOwners for hbase.
func TestHBaseDefaultsAreTheOwners(t *testing.T) {
	cfg, problems := Parse("brine.yaml", []byte(minimal), environ())
	if cfg == nil {
		t.Fatal(problems)
	}
	got := cfg.HBase()
	want := hbase.Options{Connect: got.Connect, MaxBufferedBytes: got.MaxBufferedBytes}
	want.EnsureDefaults()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(hbase.Options{}, "User", "Dial", "Hooks")); diff != "" {
		t.Errorf("-owner +config:\n%s", diff)
	}
}
