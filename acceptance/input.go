package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"

	"brine/internal/sample"
)

// The contents of data/orders.jsonl.gz, and the size of the shop that our users describe.
const (
	baseOrders = 155_848
	baseUsers  = 2_469
	baseLines  = 1_469_307

	fullOrders = 13_920_352
	fullUsers  = 215_091
)

// order is an order after all its changes, derived from the input alone.
type order struct {
	id, user                                        string
	created, version                                int64
	status, items, brand, payment, carrier, because string
	lines                                           int
	total, discount                                 float64
	deleted                                         bool
}

// take applies a change; the input has the changes of each order sorted by time.
func (o *order) take(c *sample.Change) {
	for _, f := range []struct {
		to   *string
		text string
	}{{&o.status, c.Status}, {&o.items, c.Items}, {&o.brand, c.Brand}, {&o.payment, c.Payment}, {&o.carrier, c.Carrier},
		{&o.because, c.Reason}} {
		if f.text != "" {
			*f.to = f.text
		}
	}
	if c.Lines != nil {
		o.lines, o.total, o.discount = *c.Lines, *c.Total, *c.Discount
	}
	o.deleted = o.deleted || c.Deleted != nil && *c.Deleted
	o.version = max(o.version, c.At)
}

// input is the orders of the file, and the number to which they are multiplied. Copy 0 is the file itself. Later copies have ids with two
// more digits, and new users until there are enough of those.
type input struct {
	file    string
	orders  []order  // in order of their first change
	users   []string // in order of their first order
	changes int
	total   int // orders, including all copies
	people  int // users, including all copies

	number map[string]int // position in users
	of     [][]int        // orders of each user
}

// scaled returns an input of the size of -scale: a number of copies, or full.
func scaled(file, scale string) (*input, error) {
	in := &input{file: file, number: map[string]int{}}
	n, err := strconv.Atoi(scale)
	switch {
	case scale == "full":
		in.total, in.people = fullOrders, fullUsers
	case err != nil || n < 1 || n > 99:
		return nil, fmt.Errorf("-scale %s: write 1 to 99 copies, or full", scale)
	default:
		in.total, in.people = n*baseOrders, n*baseUsers
	}
	return in, in.read()
}

func (in *input) read() error {
	place := map[string]int{}
	for line, err := range in.lines() {
		if err != nil {
			return err
		}
		var c sample.Change
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		i, known := place[c.Order]
		if !known {
			i = len(in.orders)
			place[c.Order] = i
			in.orders = append(in.orders, order{id: c.Order, user: c.User, created: c.Created})
			in.add(c.User, i)
		}
		in.orders[i].take(&c)
		in.changes++
	}
	if len(in.orders) != baseOrders || len(in.users) != baseUsers {
		return fmt.Errorf("%s holds %d orders of %d users; expected %d of %d", in.file, len(in.orders), len(in.users), baseOrders, baseUsers)
	}
	return nil
}

func (in *input) add(user string, i int) {
	u, known := in.number[user]
	if !known {
		u = len(in.users)
		in.number[user] = u
		in.users, in.of = append(in.users, user), append(in.of, nil)
	}
	in.of[u] = append(in.of[u], i)
}

func (in *input) lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(in.file)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		sample.Read(f)(yield)
	}
}

// copies returns the number of copies of an order of the file, including itself.
func (in *input) copies(i int) int { return (in.total - i + baseOrders - 1) / baseOrders }

// id returns the id of a copy of an order.
func id(base string, n int) string {
	if n == 0 {
		return base
	}
	return fmt.Sprintf("%s%02d", base, n)
}

// userOf returns the number of the user of copy n, given user u of the file; userName returns a user's name.
func (in *input) userOf(u, n int) int { return (u + n*baseUsers) % in.people }

func (in *input) userName(u int) string {
	const apart = 2500 // the file's users are 1 to 2500
	base, err := strconv.Atoi(in.users[u%baseUsers])
	if err != nil {
		panic("BUG: the file's users are numbers: " + err.Error())
	}
	return strconv.Itoa(base + apart*(u/baseUsers))
}

// ordersOf returns all orders of a user, newest first, as views show them.
func (in *input) ordersOf(u int) []order {
	var out []order
	for n := range in.copies(0) {
		base := ((u-n*baseUsers)%in.people + in.people) % in.people
		if base >= baseUsers {
			continue
		}
		for _, i := range in.of[base] {
			if n < in.copies(i) {
				o := in.orders[i]
				o.id, o.user = id(o.id, n), in.userName(u)
				out = append(out, o)
			}
		}
	}
	slices.SortFunc(out, func(a, b order) int { return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(a.id, b.id)) })
	return out
}

// write writes all changes by time, each followed by its copies.
func (in *input) write(w io.Writer) error {
	place := map[string]int{}
	for line, err := range in.lines() {
		if err != nil {
			return err
		}
		head, tail, err := cut(line)
		if err != nil {
			return err
		}
		i, known := place[head.Order]
		if !known {
			i = len(place)
			place[head.Order] = i
		}
		if err := in.writeCopies(w, &head, tail, i); err != nil {
			return err
		}
	}
	return nil
}

// writeCopies writes a change of order i once per copy of the order.
func (in *input) writeCopies(w io.Writer, head *sample.Change, tail []byte, i int) error {
	for n := range in.copies(i) {
		user := in.userName(in.userOf(in.number[head.User], n))
		if _, err := fmt.Fprintf(w, `{"order":"%s","user":"%s",%s`+"\n", id(head.Order, n), user, tail); err != nil {
			return err
		}
	}
	return nil
}

// cut splits a line after its order and user, which come first.
func cut(line []byte) (head sample.Change, tail []byte, err error) {
	if err := json.Unmarshal(line, &head); err != nil {
		return head, nil, err
	}
	at := bytes.Index(line, []byte(`"created":`))
	if at < 0 {
		return head, nil, fmt.Errorf("%s does not begin with order and user", line)
	}
	return head, line[at:], nil
}

// round removes the difference between two ways to add up the same money.
func round(f float64) float64 { return math.Round(f * 100) }
