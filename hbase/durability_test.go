package hbase

import (
	"strings"
	"testing"

	"brine/hbase/hbasepb"
)

// The durability on the wire is the mutator's, and absent if the mutator has none.
func TestDurabilityIsTheMutators(t *testing.T) {
	for d, want := range map[Durability]hbasepb.MutationProto_Durability{
		TableDurability: hbasepb.MutationProto_USE_DEFAULT,
		FsyncWAL:        hbasepb.MutationProto_FSYNC_WAL,
		UnsafeAsyncWAL:  hbasepb.MutationProto_ASYNC_WAL,
		UnsafeSkipWAL:   hbasepb.MutationProto_SKIP_WAL,
	} {
		t.Run(d.String(), func(t *testing.T) {
			p := newPeer(t)
			var got []hbasepb.MutationProto_Durability
			p.answer = func(c *peerCall) *reply {
				if c.method == "Multi" {
					for _, a := range c.multi().RegionAction[0].Action {
						got = append(got, a.Mutation.GetDurability())
						if set := a.Mutation.Durability != nil; set != (want != hbasepb.MutationProto_USE_DEFAULT) {
							t.Errorf("the field is set: %v", set)
						}
					}
				}
				return nil
			}
			m := mutator(t, p.open(p.unhurried()), MutatorOptions{Autoflush: true, Durability: d})
			if failed, err := m.Submit(t.Context(), puts("a", "b")).Wait(t.Context()); failed != nil || err != nil {
				t.Fatal(failed, err)
			}
			if len(got) != 2 || got[0] != want || got[1] != want {
				t.Errorf("sent %v, want %v", got, want)
			}
			if parsed, err := ParseDurability(d.String()); parsed != d || err != nil {
				t.Errorf("read back as %v, %v", parsed, err)
			}
		})
	}
	if _, err := ParseDurability("skip_wal"); err == nil || !strings.Contains(err.Error(), "unsafe_skip_wal") {
		t.Errorf("unsafe without saying so: %v", err)
	}
}
