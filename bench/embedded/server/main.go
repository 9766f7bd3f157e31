// Command server is an embedded HBase in its own process, for bench/embedded; nothing imports it. It prints its address and serves until
// its standard input ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"brine/hbase/embedded"
)

func main() {
	opts := embedded.Options{}
	flag.StringVar(&opts.Dir, "dir", "", "data folder")
	flag.BoolVar(&opts.Fsync, "fsync", false, "acknowledge what the disk has, not what the operating system has")
	flag.Parse()
	s, err := embedded.Start(opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
	fmt.Println("rpc://" + s.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}
