package hbase

import (
	"strings"
	"testing"
	"time"
)

func TestValidateNamesEveryFault(t *testing.T) {
	o := Options{Connect: "localhost:16000", Pause: -1, OperationTimeout: time.Second, MaxServerCalls: -2, MaxRequestBytes: 1 << 31}
	o.EnsureDefaults()
	const want = `hbase: Options.Connect is "localhost:16000": give the masters as rpc://host:port,host:port (HBase 2.4 or newer), or the ZooKeeper servers as zk://host:port,host:port/znode
hbase: Options.Pause is -1ns, must be at least 1ms
hbase: Options.OperationTimeout is 1s, must be at least 1m0s
hbase: Options.MaxRequestBytes is 2147483648, must be from 1024 to 1073741824
hbase: Options.MaxServerCalls is -2, must be from 1 to 1024`
	if err := o.Validate(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestDefaultsAreValid(t *testing.T) {
	o := Options{Connect: "rpc://m1:16000, m2"}
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if o.User == "" || o.Dial == nil {
		t.Error("no user or no dialer")
	}
}

func TestParseConnect(t *testing.T) {
	tests := []struct{ connect, want, err string }{
		{connect: "rpc://m1:16000", want: "m1:16000"},
		{connect: "rpc://m1:1,m2,[::1]:3", want: "m1:1 m2:16000 [::1]:3"},
		{connect: "hbase+rpc://m1:1,m2", want: "m1:1 m2:16000"},
		{connect: "hbase+zk://z1,z2:4/hbase", want: "z1:2181 z2:4 /hbase"},
		{connect: "hbase+embedded:x", err: "give the masters as rpc://"},
		{connect: "", err: "Connect is empty"},
		{connect: "rpc://", err: "is not host:port"},
		{connect: "rpc://m1:16000,", err: "is not host:port"},
		{connect: "http://m1", err: "give the masters as rpc://"},
		{connect: "zk://z1:2181/hbase", want: "z1:2181 /hbase"},
		{connect: "zk://z1,[::1]:3,z2:4", want: "z1:2181 [::1]:3 z2:4 /hbase"},
		{connect: "zk://z1/", want: "z1:2181 /hbase"},
		{connect: "zk://z1/prod/hbase/", want: "z1:2181 /prod/hbase"},
		{connect: "zk:///hbase", err: "is not host:port"},
		{connect: "zk://z1//a", err: "is not a znode path"},
		{connect: "zk://z1/a/../b", err: "is not a znode path"},
	}
	for _, tt := range tests {
		got, err := parseConnect(tt.connect)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want %q", tt.connect, err, tt.err)
			}
			continue
		}
		if err != nil || strings.TrimSpace(strings.Join(got.addrs, " ")+" "+got.znode) != tt.want || got.zooKeeper != (got.znode != "") {
			t.Errorf("%q: %v %v, want %s", tt.connect, got, err, tt.want)
		}
	}
}
