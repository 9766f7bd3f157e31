package reload

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"
)

func FuzzReader(f *testing.F) {
	f.Add("1f2e", int64(0))
	f.Add("1f2e", int64(1_700_000_000_000))
	f.Add("x@y@7", int64(7))
	f.Add("", int64(7))
	f.Fuzz(func(t *testing.T, text string, ms int64) {
		ParseReader(text) // it may be another program's
		sum := sha256.Sum256([]byte(text))
		r := Reader{Meaning: hex.EncodeToString(sum[:12])}
		if since := time.UnixMilli(ms); !since.IsZero() && since.UnixMilli() == ms {
			r.Since = since
		}
		if got := ParseReader(r.String()); got.Meaning != r.Meaning || !got.Since.Equal(r.Since) || got.Last() != r.Meaning {
			t.Errorf("%+v comes back as %+v", r, got)
		}
		if r.Since.IsZero() {
			return
		}
		r.Before = "former"
		if got := ParseReader(r.String()); got.Meaning != r.Meaning || !got.Since.Equal(r.Since) || got.Last() != "former" {
			t.Errorf("%+v comes back as %+v", r, got)
		}
	})
}
