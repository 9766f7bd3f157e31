package hbase

import (
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
)

// The check fails while there is a master, and if a table is missing; without a master it passes, repeatedly.
func TestWorksWithoutMaster(t *testing.T) {
	s, err := embedded.Start(embedded.Options{Servers: 2, DetectAfter: time.Hour, Listen: testenv.Listen(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	servers := "rpc://" + s.Nodes()[0].Addr() + "," + s.Nodes()[1].Addr()
	fails := func(want string) {
		t.Helper()
		if err := worksWithoutMaster(t.Context(), hbase.Options{Connect: servers}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	fails("no such table")
	admin, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + s.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if err := admin.CreateTable(t.Context(), hbase.Table{Name: aside, Families: []hbase.Family{{Name: string(family)}}}, nil); err != nil {
		t.Fatal(err)
	}
	fails("the master that was killed answers at " + s.Addr())
	s.Master().Kill()
	for range 2 {
		if err := worksWithoutMaster(t.Context(), hbase.Options{Connect: servers}); err != nil {
			t.Error(err)
		}
	}
}
