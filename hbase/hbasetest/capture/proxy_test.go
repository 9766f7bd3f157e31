package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"brine/hbase"
	"brine/hbase/embedded"
)

// Our client reaches the server only through the proxy, and each of its calls is recorded with its answer.
func TestProxyPassesOnAndRecords(t *testing.T) {
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	addr, dir := listener.Addr().String(), t.TempDir()
	p := &proxy{recorder: recorder{dir: dir}, swap: newSwap([2]string{server.Addr(), addr})}
	go p.serve(listener, server.Addr())

	client, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + addr, Hooks: hbase.Hooks{Dial: func(i hbase.DialInfo) {
		if i.Server != addr {
			t.Errorf("the client dialed %s, past the proxy", i.Server)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	table := hbase.Table{Name: "t", Families: []hbase.Family{{Name: "e"}}}
	if err := client.CreateTable(t.Context(), table, nil); err != nil {
		t.Fatal(err)
	}
	b := hbase.NewBatch("t")
	b.Mutate([]byte("row"))
	b.Put([]byte("e"), []byte("q"), 1, []byte("value"))
	if failed, err := client.Submit(t.Context(), b).Wait(t.Context()); err != nil || failed != nil {
		t.Fatal(failed, err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.failure(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"connection.open", "CreateTable.request", "CreateTable.response", "Multi.request", "Multi.response"} {
		if found, _ := filepath.Glob(filepath.Join(dir, "*."+want)); len(found) == 0 {
			t.Errorf("no %s among what was recorded: %s", want, names(dir))
		}
	}
}

func names(dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{fmt.Sprint(err)}
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
