package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"

	"brine/internal/sample"
)

// copied returns an input with as many orders and users as the file, in sequence, at a scale.
func copied(total, people int) *input {
	in := &input{total: total, people: people, number: map[string]int{}}
	for i := range baseOrders {
		user := strconv.Itoa(1 + i%baseUsers)
		in.orders = append(in.orders, order{id: strconv.Itoa(30_000_000_000 + i), user: user, created: int64(i)})
		in.add(user, i)
	}
	return in
}

// TestTheFullShopIsAsLargeAsItSays checks that it has so many orders, all with different ids, and that each of so many users has some; and
// that the expected orders of a user are those that the copies contain.
func TestTheFullShopIsAsLargeAsItSays(t *testing.T) {
	in := copied(fullOrders, fullUsers)
	of, total := make([]int, in.people), 0
	for i := range in.orders {
		for n := range in.copies(i) {
			total++
			of[in.userOf(i%baseUsers, n)]++
		}
	}
	if total != fullOrders {
		t.Errorf("%d orders, want %d", total, fullOrders)
	}
	names := map[string]bool{}
	for u, n := range of {
		names[in.userName(u)] = true
		if n == 0 {
			t.Fatalf("user %d has no order", u)
		}
		if u%997 == 0 {
			list := in.ordersOf(u)
			ids := map[string]bool{}
			for _, o := range list {
				ids[o.id] = true
			}
			if len(list) != n || len(ids) != n {
				t.Errorf("user %d is expected to have %d orders of %d ids, and gets %d", u, len(list), len(ids), n)
			}
		}
	}
	if len(names) != fullUsers {
		t.Errorf("%d names of users, want %d", len(names), fullUsers)
	}
}

// TestCopiesFollowEachChange checks that a copy is the same change of another order and user.
func TestCopiesFollowEachChange(t *testing.T) {
	in := copied(3*baseOrders, 3*baseUsers)
	line := []byte(`{"order":"30000000007","user":"8","created":7,"at":9,"status":"paid"}`)
	head, tail, err := cut(line)
	if err != nil {
		t.Fatal(err)
	}
	var got []sample.Change
	var out bytes.Buffer
	if err := in.writeCopies(&out, &head, tail, 7); err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(&out); d.More(); {
		var c sample.Change
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	if len(got) != 3 || got[0] != head || got[1].Order != "3000000000701" || got[1].User != "2508" || got[2].User != "5008" || got[2].At != 9 || got[2].Status != "paid" {
		t.Errorf("copies %+v", got)
	}
	if _, _, err := cut([]byte(`{"order":"1"}`)); err == nil {
		t.Error("a line without created is taken")
	}
}
