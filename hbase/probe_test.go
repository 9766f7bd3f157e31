package hbase

import (
	"strings"
	"testing"

	"brine/hbase/internal/wire"
)

// A server without the codec, or without its library, is told for good and by name; what it says otherwise means what it always does.
func TestProbeError(t *testing.T) {
	const fix = "s:1 answered UnsupportedCompressionCodecException: it cannot compress cell blocks with gzip (x.GzipCodec): " +
		"set hbase.compression to none or to one that all region servers have, or give them the codec's library"
	for _, tt := range []struct {
		class, text string
		want        string
		kind        Kind
	}{
		{unsupportedCodec, "x.GzipCodec", fix, Denied},
		{"java.lang.RuntimeException", "/1.2.3.4:5 is unable to read call parameter from client 6.7.8.9; x.GzipCodec\n\tat somewhere", fix, Denied},
		{packagePrefix + "ipc.ServerNotRunningYetException", "not yet", "s:1 answered ServerNotRunningYetException: not yet", Transient},
	} {
		err := &connError{server: "s:1", class: "connection", dead: true, err: probeError(&remoteError{server: "s:1", class: tt.class, text: tt.text}, wire.Gzip)}
		if got := strings.TrimPrefix(err.Error(), "s:1: "); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.class, got, tt.want)
		}
		if d := diagnose(err); d.kind != tt.kind || (d.remedy == giveUp) != (tt.kind == Denied) {
			t.Errorf("%s: %v, %s", tt.class, d.kind, d.remedy)
		}
	}
}

// The first that a region server hears on a connection with compression is the probe, and a refusal of it is the end.
func TestProbeIsRefused(t *testing.T) {
	p := newPeer(t)
	p.answer = func(c *peerCall) *reply {
		if c.method == "Multi" {
			return exception(strings.TrimPrefix(unsupportedCodec, packagePrefix), "x.GzipCodec")
		}
		return nil
	}
	o := p.options()
	o.Compression = "gzip"
	if _, err := p.open(o).Get(t.Context(), "t", Get{Row: []byte("r")}); err == nil || !strings.Contains(err.Error(), "set hbase.compression to none") {
		t.Error(err)
	}
}
