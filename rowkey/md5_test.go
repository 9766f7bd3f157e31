package rowkey

import (
	"crypto/md5"
	"testing"

	"pgregory.net/rapid"
)

// TestMD5IsCryptos checks that texts of every length that fits into a block have crypto/md5's sum.
func TestMD5IsCryptos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), oneBlock, oneBlock).Draw(t, "text")
		for n := range oneBlock + 1 {
			var got digest
			if md5Block(&got, text[:n]); got != md5.Sum(text[:n]) {
				t.Fatalf("%d bytes: %x, want %x", n, got, md5.Sum(text[:n]))
			}
		}
	})
}
