package hbasetest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"brine/hbase"
)

// Digest reads a whole table and returns "rows=N cells=N sha256=HEX". The SHA-256 covers every version of every cell in scan order, each as
// row, family, qualifier (32-bit length and bytes), timestamp (64 bits), type (8 bits), value (length and bytes), all big-endian.
// java/RowDigest.java prints the same: two tables with equal digests are equal, cell for cell.
func Digest(ctx context.Context, client *hbase.Client, table string) (string, error) {
	sha := sha256.New()
	rows, cells := 0, 0
	var buf []byte
	add := func(b []byte) {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(b)))
		buf = append(buf, b...)
	}
	for result, err := range client.Scan(ctx, table, hbase.Scan{MaxVersions: math.MaxInt32}) {
		if err != nil {
			return "", err
		}
		rows++
		for _, c := range result.Cells {
			cells++
			buf = buf[:0]
			add(c.Row)
			add(c.Family)
			add(c.Qualifier)
			buf = binary.BigEndian.AppendUint64(buf, uint64(c.Timestamp))
			buf = append(buf, byte(c.Type))
			add(c.Value)
			sha.Write(buf)
		}
	}
	return fmt.Sprintf("rows=%d cells=%d sha256=%x", rows, cells, sha.Sum(nil)), nil
}
