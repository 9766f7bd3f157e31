package config

import (
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// Each mutation that a server gets has the durability of write.durability, or none without the setting.
func TestDurabilityReachesTheServer(t *testing.T) {
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for setting, want := range map[string]hbasepb.MutationProto_Durability{
		"":                             hbasepb.MutationProto_USE_DEFAULT,
		"durability: table":            hbasepb.MutationProto_USE_DEFAULT,
		"durability: fsync_wal":        hbasepb.MutationProto_FSYNC_WAL,
		"durability: unsafe_async_wal": hbasepb.MutationProto_ASYNC_WAL,
		"durability: unsafe_skip_wal":  hbasepb.MutationProto_SKIP_WAL,
	} {
		t.Run(setting, func(t *testing.T) {
			cfg, problems := Parse("brine.yaml", []byte(minimal+"    write: { "+setting+" }\n"), environ())
			if cfg == nil {
				t.Fatal(problems)
			}
			if loud := strings.Contains(problems.String(), "LOSES"); loud != strings.Contains(setting, "unsafe") {
				t.Errorf("says %v", problems)
			}
			if got := sent(t, s, cfg); got != want {
				t.Errorf("the server got %v, want %v", got, want)
			}
		})
	}
}

// sent writes one row as the first pipeline does, and returns the durability that the server was asked for.
func sent(t *testing.T, s *embedded.Server, cfg *Config) (got hbasepb.MutationProto_Durability) {
	opts := cfg.HBase()
	opts.Connect = "rpc://" + s.Addr()
	c, err := hbase.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	table := rand.Text()
	if err := c.CreateTable(t.Context(), hbase.Table{Name: table, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		t.Fatal(err)
	}
	m, err := c.Mutator(cfg.Pipelines[0].Mutator())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	defer s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		mu.Lock()
		defer mu.Unlock()
		got = r.Param.(*hbasepb.MultiRequest).RegionAction[0].Action[0].Mutation.GetDurability()
		return &embedded.Outcome{}
	})()
	b := hbase.NewBatch(table)
	b.Mutate([]byte("row"))
	b.Put([]byte("e"), []byte("q"), 1, nil)
	if failed, err := m.Submit(t.Context(), b).Wait(t.Context()); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	mu.Lock()
	defer mu.Unlock()
	return got
}
