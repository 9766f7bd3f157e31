package indexer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// maxID is the maximum length of a document's id in bytes (Elasticsearch's).
const maxID = 512

// hashMark begins the id of a row whose own text is too long. No row's text begins with it, because there an x follows every backslash.
const hashMark = `\sha256:`

// AppendRowText appends the row key as HBase's shell shows it: printable ASCII as it is, every other byte and the backslash as \xHH. It can
// be pasted into the shell's get "table", "…" and parsed with ParseRowText.
func AppendRowText(dst, row []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, b := range row {
		if b >= ' ' && b <= '~' && b != '\\' {
			dst = append(dst, b)
		} else {
			dst = append(dst, '\\', 'x', digits[b>>4], digits[b&15])
		}
	}
	return dst
}

// ParseRowText parses a row key from its text.
func ParseRowText(text []byte) ([]byte, error) {
	row := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			row = append(row, text[i])
			continue
		}
		var b [1]byte
		if i+4 > len(text) || text[i+1] != 'x' {
			return nil, fmt.Errorf("row key %q: no \\xHH at byte %d", text, i)
		}
		if _, err := hex.Decode(b[:], text[i+2:i+4]); err != nil {
			return nil, fmt.Errorf("row key %q: no \\xHH at byte %d", text, i)
		}
		row = append(row, b[0])
		i += 3
	}
	return row, nil
}

// appendID appends the id of the row's document: the row's text, or its hash if the text is longer than maxID. hashed reports which; a
// document with a hashed id has the row's text in FieldKey.
func appendID(dst, row []byte) (id []byte, hashed bool) {
	start := len(dst)
	if len(row) <= maxID {
		dst = AppendRowText(dst, row)
		if len(dst)-start <= maxID {
			return dst, false
		}
	}
	sum := sha256.Sum256(row)
	dst = append(dst[:start], hashMark...)
	return hex.AppendEncode(dst, sum[:]), true
}

// hashedID reports whether id is a hash of the row key, so that the key has to be read from the document.
func hashedID(id []byte) bool { return bytes.HasPrefix(id, []byte(hashMark)) }
