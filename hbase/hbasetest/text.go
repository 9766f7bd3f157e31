package hbasetest

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"brine/hbase"
)

// now is the time that scripts call now: the start of this program, in ms.
var now = time.Now().UnixMilli()

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-|"

// parseBytes returns the bytes that a word stands for.
func parseBytes(word string) []byte {
	if i := strings.LastIndexByte(word, '*'); i >= 0 {
		return []byte(strings.Repeat(string(parseBytes(word[:i])), int(parseInt(word[i+1:]))))
	}
	out := []byte{}
	for i := 0; i < len(word); i++ {
		if word[i] != '\\' {
			out = append(out, word[i])
			continue
		}
		n, err := strconv.ParseUint(word[i+2:i+4], 16, 8)
		if err != nil {
			panic(fmt.Sprintf("word %q: %v", word, err))
		}
		out = append(out, byte(n))
		i += 3
	}
	return out
}

// formatBytes returns bytes as a word of an answer.
func formatBytes(b []byte) string {
	if len(b) > 64 {
		return fmt.Sprintf("%d bytes %x", len(b), sha256.Sum256(b))[:len(strconv.Itoa(len(b)))+len(" bytes ")+16]
	}
	var out strings.Builder
	for _, c := range b {
		if strings.IndexByte(plain, c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, `\x%02X`, c)
		}
	}
	return out.String()
}

func parseInt(word string) int64 {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		panic(err.Error())
	}
	return n
}

func parseTime(word string) int64 {
	offset, relative := strings.CutPrefix(word, "now")
	switch {
	case !relative:
		return parseInt(word)
	case offset == "":
		return now
	}
	return now + parseInt(offset)
}

func formatTime(t int64) string {
	d := t - now
	switch {
	case d < -1e9 || d > 1e9:
		return strconv.FormatInt(t, 10)
	case d == 0:
		return "now"
	}
	return fmt.Sprintf("now%+d", d)
}

// kinds are the words for delete markers.
var kinds = map[string]hbase.CellType{
	"version": hbase.Delete, "column": hbase.DeleteColumn, "family": hbase.DeleteFamily, "family-version": hbase.DeleteFamilyVersion,
}

// parseCell parses family:qualifier@time=value or family:qualifier@time/kind.
func parseCell(word string) (hbase.Cell, error) {
	c := hbase.Cell{Type: hbase.Put}
	head, value, put := strings.Cut(word, "=")
	if put {
		c.Value = parseBytes(value)
	} else {
		var kind string
		head, kind, _ = strings.Cut(word, "/")
		c.Type = kinds[kind]
	}
	column, at, ok := strings.Cut(head, "@")
	if !ok || c.Type == 0 {
		return c, fmt.Errorf("no cell: %s", word)
	}
	c.Family, c.Qualifier = parseColumn(column)
	c.Timestamp = parseTime(at)
	return c, nil
}

// parseColumn parses family:qualifier.
func parseColumn(word string) (family, qualifier []byte) {
	f, q, _ := strings.Cut(word, ":")
	return parseBytes(f), parseBytes(q)
}

func formatCell(c hbase.Cell) string {
	head := formatBytes(c.Row) + " " + formatBytes(c.Family) + ":" + formatBytes(c.Qualifier) + "@" + formatTime(c.Timestamp)
	if c.Type == hbase.Put {
		return head + "=" + formatBytes(c.Value)
	}
	for word, t := range kinds {
		if t == c.Type {
			return head + "/" + word
		}
	}
	return fmt.Sprintf("%s/%d", head, c.Type)
}
