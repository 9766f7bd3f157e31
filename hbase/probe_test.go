package hbase

import (
	"strings"
	"testing"
)

// The first message on a connection with compression is the probe, and a refusal of it is final.
func TestProbeIsRefused(t *testing.T) {
	p := newPeer(t)
	p.answer = func(c *peerCall) *reply {
		if c.method == "Multi" {
			return exception("ipc.UnsupportedCompressionCodecException", "x.GzipCodec")
		}
		return nil
	}
	o := p.unhurried()
	o.Compression = "gzip"
	if _, err := p.open(o).Get(t.Context(), "t", Get{Row: []byte("r")}); err == nil || !strings.Contains(err.Error(), "set hbase.compression to none") {
		t.Error(err)
	}
}
