// Command capture records the messages between an HBase client and a real standalone server, frame by frame, for the test data of
// hbase/internal/wire. Nothing imports it; it is run by hand, as the README of that folder describes:
//
//	go run ./hbase/hbasetest/capture -master 127.0.0.1:16000 -region 127.0.0.1:16020 -out DIR -- COMMAND… rpc://CONNECT …
//
// It is a proxy for the ports of the master and the region server. It runs the command with rpc://CONNECT replaced by the proxy's address,
// and writes every frame, as it was sent, to a file of its own.
//
// The invariant: what is recorded is what one side sent, before the proxy replaces the server's port with its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	master := flag.String("master", "", "host:port of the real master")
	region := flag.String("region", "", "host:port of its region server")
	out := flag.String("out", "", "folder for the frames")
	flag.Parse()
	if *master == "" || *region == "" || *out == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(64)
	}
	if err := capture(*master, *region, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "capture:", err)
		os.Exit(1)
	}
}

func capture(master, region, out string, command []string) error {
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	toMaster, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = toMaster.Close() }()
	toRegion, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = toRegion.Close() }()
	p := &proxy{recorder: recorder{dir: out}, swap: newSwap([2]string{master, toMaster.Addr().String()},
		[2]string{region, toRegion.Addr().String()})}
	go p.serve(toMaster, master)
	go p.serve(toRegion, region)

	for i, word := range command {
		command[i] = strings.ReplaceAll(word, "rpc://CONNECT", "rpc://"+toMaster.Addr().String())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return errors.Join(cmd.Run(), p.failure())
}
