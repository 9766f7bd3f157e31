package offsets

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// PlainName turns any text into a part of a group's name, with only characters that are plain in a shell. A long name ends in a digest.
func PlainName(text string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, text)
	const longest = 150 // leaves a group's name below the 249 that some tools take
	if len(plain) > longest {
		plain = fmt.Sprintf("%s-%x", plain[:longest-17], sha256.Sum256([]byte(text)))[:longest]
	}
	return plain
}
