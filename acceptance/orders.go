package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"brine/query"
)

// sampled is the number of users that are queried, in addition to those with the most and the fewest orders.
const sampled = 150

// people returns the numbers of users, the same every time.
func (s *shop) people() []int {
	bySize := make([]int, len(s.in.users))
	for u := range bySize {
		bySize[u] = u
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(len(s.in.of[a]), len(s.in.of[b])) })
	out := slices.Concat(bySize[:20], bySize[len(bySize)-20:])
	r := rand.New(rand.NewPCG(8, 3))
	for range sampled {
		out = append(out, r.IntN(s.in.people))
	}
	return out
}

// checkUsers queries users' orders in every way that the views offer, orders by id, and their details.
func (s *shop) checkUsers(ctx context.Context) error {
	users, err := s.view("user-orders")
	if err != nil {
		return err
	}
	one, err := s.view("order")
	if err != nil {
		return err
	}
	asked, byID, opened := begin("user-orders"), begin("order"), begin("details")
	for _, u := range s.people() {
		orders := s.in.ordersOf(u)
		if err := s.checkUser(ctx, asked, users, s.in.userName(u), orders); err != nil {
			return err
		}
		if err := s.checkIDs(ctx, byID, one, orders); err != nil {
			return err
		}
		if err := s.checkDetails(ctx, opened, users, s.in.userName(u), kept(orders, alive)); err != nil {
			return err
		}
	}
	s.out.addAsked(asked)
	s.out.addAsked(byID)
	s.out.addAsked(opened)
	return nil
}

func alive(o order) bool { return !o.deleted }

// brief compares the fields that a list shows.
func brief(r row, o order) string {
	got := fmt.Sprint(r.text("order"), r.int("created"), r.text("status"), r.text("brand"), r.int("lines"), r.money("total"))
	want := fmt.Sprint(o.id, o.created, o.status, o.brand, o.lines, round(o.total))
	if got != want {
		return "is " + got + ", in the input " + want
	}
	return ""
}

// whole compares all fields.
func whole(r row, o order) string {
	got := fmt.Sprint(r.text("user"), r.text("items"), r.money("discount"), r.text("payment"), r.text("carrier"), r.text("reason"))
	want := fmt.Sprint(o.user, o.items, round(o.discount), o.payment, o.carrier, o.because)
	if got != want {
		return "is " + got + ", in the input " + want
	}
	return brief(r, o)
}

func (s *shop) checkUser(ctx context.Context, t *tally, r *query.Reader, user string, orders []order) error {
	shown := kept(orders, alive)
	for _, q := range questions(user, shown) {
		got, err := s.all(ctx, t, r, q.args...)
		if err != nil {
			return err
		}
		want := kept(shown, q.is)
		same(s, t.view, q.args, got, want, brief)
		if err := s.checkCount(ctx, t, r, q.args, want); err != nil {
			return err
		}
	}
	return nil
}

// question is arguments for user-orders, and the orders that they select.
type question struct {
	args []string
	is   func(order) bool
}

func questions(user string, orders []order) []question {
	args := func(more ...string) []string { return append([]string{"user=" + user}, more...) }
	list := []question{{args(), func(order) bool { return true }},
		{args("status=shipped,paid"), func(o order) bool { return o.status == "shipped" || o.status == "paid" }}}
	if len(orders) == 0 {
		return list
	}
	from, to := orders[len(orders)*2/3].created, orders[len(orders)/3].created
	within := fmt.Sprintf("created=%d..%s", from, time.UnixMilli(to).UTC().Format("2006-01-02T15:04:05.000Z"))
	isWithin := func(o order) bool { return from <= o.created && o.created < to }
	brand := orders[0].brand
	list = append(list, question{args(within), isWithin})
	if brand != "" {
		list = append(list, question{args("brand=" + brand), func(o order) bool { return o.brand == brand }})
	}
	if word := wordOf(orders); word != "" {
		has := func(o order) bool { return strings.Contains(o.items, word) }
		list = append(list, question{args("items=" + strings.ToLower(word)), has},
			question{args("items="+word, within, "status=received"), func(o order) bool { return has(o) && isWithin(o) && o.status == "received" }})
	}
	return list
}

// wordOf returns a word of the orders' items that is nowhere in them a part of another word, so that a search and a look at the text agree,
// however an engine cuts text into words.
func wordOf(orders []order) string {
	for _, word := range strings.Fields(orders[len(orders)/2].items) {
		plain := len(word) >= 4 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
		if plain && !slices.ContainsFunc(orders, func(o order) bool {
			return strings.Count(strings.ToUpper(o.items), word) != strings.Count(" "+strings.ReplaceAll(o.items, " ", "  ")+" ", " "+word+" ")
		}) {
			return word
		}
	}
	return ""
}

// checkCount checks the counts of a view.
func (s *shop) checkCount(ctx context.Context, t *tally, r *query.Reader, args []string, want []order) error {
	t.questions++
	stop := t.clock()
	got, err := r.Count(ctx, query.Request{Args: args})
	stop()
	if err != nil {
		return fmt.Errorf("%s %v: %w", t.view, args, err)
	}
	if got.Rows != int64(len(want)) {
		s.differs(t.view, args, "counts %d, the input has %d", got.Rows, len(want))
	}
	byStatus := map[string]int64{}
	for _, o := range want {
		byStatus[o.status]++
	}
	for _, c := range got.Values[0].Counts {
		if text, _ := c.Value.(string); byStatus[text] != c.N {
			s.differs(t.view, args, "counts %d as %v, the input has %d", c.N, c.Value, byStatus[text])
		}
	}
	if len(got.Values[0].Counts) != len(byStatus) {
		s.differs(t.view, args, "counts %v, the input has %v", got.Values[0].Counts, byStatus)
	}
	return nil
}

// checkIDs queries some orders by id alone; a deleted one is hidden.
func (s *shop) checkIDs(ctx context.Context, t *tally, r *query.Reader, orders []order) error {
	for i := 0; i < len(orders); i += 1 + len(orders)/10 {
		want := orders[i : i+1]
		if want[0].deleted {
			want = nil
		}
		args := []string{"order=" + orders[i].id}
		got, err := s.all(ctx, t, r, args...)
		if err != nil {
			return err
		}
		same(s, t.view, args, got, want, whole)
	}
	return nil
}

// checkDetails opens the orders of a page, to check what the list did not read.
func (s *shop) checkDetails(ctx context.Context, t *tally, r *query.Reader, user string, orders []order) error {
	t.questions++
	args := []string{"user=" + user}
	stop := t.clock()
	page, err := r.Page(ctx, query.Request{Args: args})
	if err != nil {
		return err
	}
	rows := make([]query.Row, len(page.Rows))
	for i, f := range page.Rows {
		rows[i] = f.Row
		if _, read := fields(&f.Row)["items"]; read {
			s.differs(t.view, args, "the list has read the details")
		}
	}
	read, err := r.Whole(ctx, rows...)
	stop()
	if err != nil {
		return err
	}
	t.rows += len(read)
	found := make([]query.Found, len(read))
	for i := range read {
		found[i].Row = read[i]
	}
	same(s, t.view, args, found, orders[:min(len(orders), len(found))], whole)
	return nil
}
