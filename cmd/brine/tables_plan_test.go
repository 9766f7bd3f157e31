package main

import (
	"bufio"
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// unevenRows is how the rows of a real table of orders, keyed by user, were spread over its four regions.
var unevenRows = [4]int{299_292, 245_744, 515_290, 240_297}

// bigShops is the number of users of the third region with enough rows to make it that much larger.
const bigShops, bigShopRows = 5, 50_000

// unevenOrders is the command `uneven FILE`: orders that are spread over four regions as in unevenRows, most users with a few dozen, and
// five shops with fifty thousand each.
func unevenOrders(ts *testscript.TestScript, _ bool, args []string) {
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer file.Close()
	w := bufio.NewWriter(file)
	left, shops, order := unevenRows, 0, 0
	r := rand.New(rand.NewPCG(1, 1))
	for i := 0; slices.Max(left[:]) > 0; i++ {
		user := fmt.Sprintf("u%06d", i)
		region := md5.Sum([]byte(user))[0] / 64
		rows := 20 + r.IntN(40)
		if region == 2 && shops < bigShops {
			shops++
			rows = bigShopRows
		}
		for range min(rows, left[region]) {
			order++
			fmt.Fprintf(w, `{"user":"%s","order":"G%08d","at":%d}`+"\n", user, order, 1748736000000+int64(r.IntN(90*86400_000)))
		}
		left[region] -= min(rows, left[region])
	}
	ts.Check(w.Flush())
}

// BenchmarkPlan reads a million sampled events from a file. One operation should take at most 3 s.
func BenchmarkPlan(b *testing.B) {
	dir := b.TempDir()
	sample := dir + "/sample.jsonl"
	file, err := os.Create(sample)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1_000_000 {
		fmt.Fprintf(w, `{"waybill":"YD%012d","action":"ARRIVED_AT","at":%d,"station":"上海浦东转运中心","courier":"C%04d"}`+"\n",
			310000000000+r.IntN(125_000)*37, 1748736000000+i*50, r.IntN(400))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	e := &env{ctx: b.Context(), stdout: b.Output(), stderr: b.Output(), getenv: func(string) (string, bool) { return "", false }}
	b.ReportAllocs()
	for b.Loop() {
		if code := run(e, []string{"tables", "plan", "-c", "../../examples/scans.yaml", "--offline", "--sample", sample, "--json"}); code != exitOK {
			b.Fatalf("exit %d", code)
		}
	}
}
