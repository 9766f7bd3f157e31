package rowkey

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTimeOrder checks what a key's rows of one user are ordered by, where the key holds the time in a coarser unit, too.
func TestTimeOrder(t *testing.T) {
	fields := []Field{{Name: "user", Type: Text}, {Name: "id", Type: Text}, {Name: "n", Type: Int}, {Name: "at", Type: Time},
		{Name: "second", Type: Time, Whole: time.Second}, {Name: "day", Type: Time, Whole: 24 * time.Hour}}
	for _, tt := range []struct {
		key, at, bound, want string // want: newest or oldest, the unit, and what orders the rows within it; empty: no order
	}{
		{`user + "|" + desc(at, ms) + id`, "at", "user", "newest"},
		{`salt(4, id) + user + "|" + asc(at, us) + id`, "at", "user", "oldest"},
		{`user + "|" + desc(at, ms, text) + id`, "at", "user", "newest"},
		{`user + "|" + desc(at, hour) + id`, "at", "user", "newest hour id"},
		{`user + "|" + asc(at, s, 32) + fixed(id, 8)`, "at", "user", `oldest second fixed(id, 8)`},
		{`user + "|" + desc(at, day, text) + "|" + asc(n)`, "at", "user", "newest day asc(n)"},
		{`user + "|" + desc(at, hour) + md5(id, 4)`, "at", "user", "newest hour md5(id, 4)"},
		{`user + "|" + id + "|" + desc(at, hour)`, "at", "user", ""},
		{`user + "|" + md5(at, 4) + desc(at, ms)`, "at", "user", ""}, // by the hash
		{`user + "|" + id + "|" + desc(at, hour)`, "at", "user id", "newest hour"},
		{`user + "|" + desc(at, hour)`, "at", "user", "newest hour"},
		{`user + "|" + desc(at, hour) + "x"`, "at", "user", "newest hour"},
		{`user + "|" + desc(at, hour) + md5(user, 4)`, "at", "user", "newest hour"},
		{`user + "|" + desc(at, hour) + md5(at, 4)`, "at", "user", "newest hour"},
		{`salt(4, user) + user + "|" + desc(at, hour)`, "at", "user", "newest hour"},
		{`salt(4, at) + user + "|" + desc(at, hour)`, "at", "user", "newest hour"},
		{`salt(4, id) + user + "|" + desc(at, hour)`, "at", "user", "newest hour salt(4, id)"}, // rows of different buckets
		{`salt(4, id) + user + "|" + desc(at, hour)`, "at", "user id", "newest hour"},
		{`user + "|" + desc(at, day) + desc(at, ms) + id`, "at", "user", "newest"},
		{`user + "|" + desc(at, day) + desc(at, hour) + id`, "at", "user", "newest hour id"},
		{`user + "|" + desc(at, day) + asc(at, ms) + id`, "at", "user", "newest day asc(at, ms)"},
		{`user + "|" + desc(at, day) + id + "|" + desc(at, ms)`, "at", "user", "newest day id"},
		{`user + "|" + desc(at, day) + md5(at, 4) + desc(at, ms)`, "at", "user", "newest day md5(at, 4)"},
		{`user + "|" + desc(at, day) + id + "|" + desc(at, ms)`, "at", "user id", "newest"},
		{`user + "|" + desc(at, hour) + id`, "at", "user at", "newest hour id"},
		{`user + "|" + desc(at, day) + asc(at, ms) + id`, "at", "user at", "newest"},
		{`user + "|" + desc(second, s, 32) + id`, "second", "user", "newest"},
		{`user + "|" + desc(second, min) + id`, "second", "user", "newest minute id"},
		{`user + "|" + asc(day, day, 32) + id`, "day", "user", "oldest"},
		{`user + "|" + asc(day, hour) + id`, "day", "user", "oldest"},
		{`user + "|" + desc(second, s) + desc(at, ms)`, "at", "user", ""},
	} {
		k, err := Parse(tt.key, fields)
		if err != nil {
			t.Fatal(err)
		}
		bound := strings.Fields(tt.bound)
		o, ok := k.TimeOrder(tt.at, func(name string) bool { return slices.Contains(bound, name) })
		got := map[bool]string{false: "oldest", true: "newest"}[o.Desc]
		if got = strings.TrimSpace(got + " " + o.Unit + " " + o.Then); !ok {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%s with %s: %q, want %q", tt.key, tt.bound, got, tt.want)
		}
	}
}
