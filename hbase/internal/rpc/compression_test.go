package rpc

import (
	"strings"
	"testing"

	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"
)

// A server without the codec or its library is reported for good and by name; its other exceptions keep their usual meaning.
func TestProbeError(t *testing.T) {
	const fix = "s:1 answered UnsupportedCompressionCodecException: it cannot compress cell blocks with gzip (x.GzipCodec): " +
		"set hbase.compression to none or to a codec that all region servers have, or install the codec's library on them"
	for _, tt := range []struct {
		class, text string
		want        string
		kind        remote.Kind
	}{
		{unsupportedCodec, "x.GzipCodec", fix, remote.Denied},
		{"java.lang.RuntimeException", "/1.2.3.4:5 is unable to read call parameter from client 6.7.8.9; x.GzipCodec\n\tat somewhere", fix, remote.Denied},
		{remote.Package + "ipc.ServerNotRunningYetException", "not yet", "s:1 answered ServerNotRunningYetException: not yet", remote.Transient},
	} {
		err := &remote.ConnError{Server: "s:1", Class: "connection", Dead: true, Err: probeError(&remote.Exception{Server: "s:1", Class: tt.class, Text: tt.text}, wire.Gzip)}
		if got := strings.TrimPrefix(err.Error(), "s:1: "); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.class, got, tt.want)
		}
		if d := remote.Diagnose(err); d.Kind != tt.kind || (d.Remedy == remote.GiveUp) != (tt.kind == remote.Denied) {
			t.Errorf("%s: %v, %s", tt.class, d.Kind, d.Remedy)
		}
	}
}
