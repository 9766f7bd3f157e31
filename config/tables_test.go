package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"brine/hbase"
)

// TestHBaseTakesItsOptions checks Load's promise for hbase, with the bounds of every setting.
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
		for _, p := range cfg.Pipelines {
			mutator := p.Mutator()
			mutator.EnsureDefaults(&opts)
			if err := mutator.Validate(&opts); err != nil {
				t.Errorf("%s: %s: %v", file, p.Name, err)
			}
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
	want := hbase.Options{Connect: got.Connect, MaxBufferedBytes: got.MaxBufferedBytes, MaxAnswerBytes: got.MaxAnswerBytes}
	want.EnsureDefaults()
	// No setting makes reads go to replicas, so none gives the delay.
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(hbase.Options{}, "User", "Dial", "Hooks",
		"ReplicaDelayGet", "ReplicaDelayScan")); diff != "" {
		t.Errorf("-owner +config:\n%s", diff)
	}
	mutator, wantMutator := cfg.Pipelines[0].Mutator(), hbase.MutatorOptions{Autoflush: true}
	mutator.EnsureDefaults(&got)
	wantMutator.EnsureDefaults(&want)
	if diff := cmp.Diff(wantMutator, mutator); diff != "" {
		t.Errorf("mutator: -owner +config:\n%s", diff)
	}
}

// The largest write_buffer allowed fits into what the client may hold, however memory is shared.
func TestLargestWriteBufferIsTaken(t *testing.T) {
	cfg, problems := Load("testdata/everything.good.yaml", environ())
	if cfg == nil {
		t.Fatal(problems)
	}
	for n := range 5 {
		for _, p := range cfg.Pipelines {
			p.Write.WriteBuffer = cfg.Memory / 4
			opts, mutator := cfg.HBase(), p.Mutator()
			mutator.EnsureDefaults(&opts)
			if err := mutator.Validate(&opts); err != nil {
				t.Errorf("with %d more pipelines: %v", n, err)
			}
		}
		more := *cfg.Pipelines[0]
		cfg.Pipelines = append(cfg.Pipelines, &more)
	}
}
