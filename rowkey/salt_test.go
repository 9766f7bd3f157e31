package rowkey

import "testing"

func TestSaltFindsTheBucket(t *testing.T) {
	fields := []Field{{Name: "user", Type: Text}, {Name: "at", Type: Time}}
	for _, tt := range []struct {
		expr    string
		row     string
		buckets int
		bucket  int
		width   int
	}{
		{`salt(4, user) + user`, "\x03abc", 4, 3, 1},
		{`salt(4, user) + user`, "\x04abc", 4, -1, 1}, // there is no such bucket
		{`salt(4, user) + user`, "", 4, -1, 1},
		{`salt(1000, user) + user`, "\x01\x02abc", 1000, 258, 2},
		{`salt(1000, user) + user`, "\x01", 1000, -1, 2},
		{`"v1" + salt(16, user) + user`, "v1\x0fabc", 16, 15, 3},
		{`md5(user, 4) + user`, "0123abc", 0, -1, 0},
		{`user + "|" + desc(at, ms)`, "abc", 0, -1, 0},
	} {
		k, err := Parse(tt.expr, fields)
		if err != nil {
			t.Fatal(err)
		}
		s := k.Salt()
		if s.Buckets() != tt.buckets || s.Bucket([]byte(tt.row)) != tt.bucket || k.SaltWidth() != tt.width {
			t.Errorf("%s: %d buckets, row %q in %d, width %d", tt.expr, s.Buckets(), tt.row, s.Bucket([]byte(tt.row)), k.SaltWidth())
		}
	}
}
