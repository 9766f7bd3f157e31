package rowkey_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"brine/internal/testenv"
	"brine/rowkey"
)

// differential is a question to HBase's own Java classes, and the expected answer of the key language.
type differential struct {
	asked string // see java/Differential.java
	want  string
	about string
}

// TestJavaAgrees compares encodings and orders with HBase's own classes: Bytes, OrderedBytes, MD5Hash and MurmurHash3, and the stop row
// with its closest row after a prefix.
func TestJavaAgrees(t *testing.T) {
	java := testenv.Java(t).Compile(t, "java/Differential.java")
	var cases []differential
	random := rand.New(rand.NewPCG(6, 7))
	for range 500 {
		cases = append(cases, numberCases(t, random)...)
		cases = append(cases, textCases(t, random)...)
	}
	cases = append(cases, orderCases(t, random)...)
	var input strings.Builder
	for _, c := range cases {
		input.WriteString(c.asked + "\n")
	}
	command := java.Command(t, "Differential")
	command.Stdin = strings.NewReader(input.String())
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != len(cases) {
		t.Fatalf("%d answers to %d questions", len(answers), len(cases))
	}
	for i, c := range cases {
		if answers[i] != c.want {
			t.Errorf("%s: %s gives %s, Java %s", c.asked, c.about, c.want, answers[i])
		}
	}
	t.Logf("%d answers of Java agree", len(cases))
}

// of returns what a key of one field makes of a value, in hex; only the first n bytes if n is given.
func of(t *testing.T, expr string, v rowkey.Value) string {
	t.Helper()
	k, err := rowkey.Parse(expr, designFields)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(appendRow(t, k, v))
}

func numberCases(t *testing.T, random *rand.Rand) []differential {
	n := int64(random.Uint64()) >> random.IntN(64)
	count := n &^ math.MinInt64
	ms := random.Int64N(math.MaxInt32 * 1000)
	f := math.Float64frombits(random.Uint64())
	if random.IntN(4) == 0 {
		f = float64(n) / 8
	}
	if math.IsNaN(f) {
		f = math.Inf(1)
	}
	var cases []differential
	ask := func(how string, arg int64, expr string, v rowkey.Value) {
		cases = append(cases, differential{fmt.Sprintf("%s %d", how, arg), of(t, expr, v), expr})
	}
	for bits, x := range map[int]int64{8: int64(int8(n)), 16: int64(int16(n)), 32: int64(int32(n)), 64: n} {
		ask(fmt.Sprintf("ordered-int%d-asc", bits), x, fmt.Sprintf("asc(id, %d)", bits), number(x))
		ask(fmt.Sprintf("ordered-int%d-desc", bits), x, fmt.Sprintf("desc(id, %d)", bits), number(x))
	}
	ask("max-long", n, "desc(id)", number(n))
	ask("max-int", int64(int32(n)), "desc(id, 32)", number(int64(int32(n))))
	ask("max-short", int64(int16(n)), "desc(id, 16)", number(int64(int16(n))))
	ask("max-byte", int64(int8(n)), "desc(id, 8)", number(int64(int8(n))))
	ask("reversed", count, "reverse(id)", number(count))
	ask("digits", count%1e12, "fixed(id, 12)", number(count%1e12))
	ask("long", ms, "asc(at, ms)", at(ms))
	ask("long", ms*1000, "asc(at, us)", at(ms))
	ask("int", ms/1000, "asc(at, s, 32)", at(ms))
	ask("int", ms/3_600_000, "asc(at, hour, 32)", at(ms))
	ask("max-long", ms, "desc(at, ms)", at(ms))
	ask("max-long-text", ms, "desc(at, ms, text)", at(ms))
	ask("max-int", ms/1000, "desc(at, s, 32)", at(ms))
	ask("max-int-text", ms/1000, "desc(at, s, 32, text)", at(ms))
	bits := int64(math.Float64bits(f))
	ask("ordered-float64-asc", bits, "asc(w)", real(f))
	ask("ordered-float64-desc", bits, "desc(w)", real(f))
	if !math.IsInf(float64(float32(f)), 0) {
		ask("ordered-float32-asc", bits, "asc(w, 32)", real(f))
		ask("ordered-float32-desc", bits, "desc(w, 32)", real(f))
	}
	return cases
}

func textCases(t *testing.T, random *rand.Rand) []differential {
	letters := []rune("aZ09_-|~\x00é汉😀")
	var s strings.Builder
	for range 1 + random.IntN(80) {
		s.WriteRune(letters[random.IntN(len(letters))])
	}
	text := text(s.String())
	prefix := make([]byte, 1+random.IntN(4))
	for i := range prefix {
		prefix[i] = byte(0x100 - random.IntN(3) - 1)
	}
	return []differential{
		{"text " + hex.EncodeToString(text.Text), of(t, "order", text), "order"},
		{"md5 " + hex.EncodeToString(text.Text), of(t, "md5(order, 32)", text), "md5(order, 32)"},
		{"murmur3 " + hex.EncodeToString(text.Text), of(t, "murmur3(order, 4 bytes)", text), "murmur3(order, 4 bytes)"},
		{"next " + hex.EncodeToString(prefix), stopOf(t, prefix), "the stop row"},
	}
}

// stopOf returns the stop row of the rows that begin with prefix, or "" if they are the table's last.
func stopOf(t *testing.T, prefix []byte) string {
	t.Helper()
	k, err := rowkey.Parse(fmt.Sprintf("%+q + order", prefix), designFields)
	if err != nil {
		t.Fatal(err)
	}
	ranges, err := k.Ranges(nil)
	if err != nil || len(ranges) != 1 || !bytes.Equal(ranges[0].Start, prefix) {
		t.Fatal(ranges, err)
	}
	return hex.EncodeToString(ranges[0].Stop)
}

// orderCases returns pairs of rows of each vector's and design's key, which HBase must order as the package does.
func orderCases(t *testing.T, random *rand.Rand) []differential {
	var rows [][]byte
	for _, d := range publishedDesigns(t) {
		rows = append(rows, d.bytes(t))
	}
	for _, v := range vectors {
		rows = append(rows, []byte(v.row))
	}
	for range 200 { // near each other, and on both sides of 0x80
		row := bytes.Clone(rows[random.IntN(len(rows))])
		row[random.IntN(len(row))] ^= 1 << random.IntN(8)
		rows = append(rows, row[:1+random.IntN(len(row))])
	}
	var cases []differential
	for range 5000 {
		a, b := rows[random.IntN(len(rows))], rows[random.IntN(len(rows))]
		cases = append(cases, differential{fmt.Sprintf("compare %x %x", a, b), fmt.Sprint(bytes.Compare(a, b)), "the order of bytes"})
	}
	return cases
}
