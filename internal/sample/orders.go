package sample

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
)

// Order is what is known of an order when it is created.
type Order struct {
	ID, User string
	Created  int64  // ms since 1970
	Items    string // one line of text for people and for search
	Brand    string // of the most expensive line
	Lines    int
	Total    float64 // what was paid
	Discount float64
}

// Change is one change of an order as it is published. Every change has order, user, created and at, its version; of the other fields it
// has only those that change.
type Change struct {
	Order   string `json:"order"`
	User    string `json:"user"`
	Created int64  `json:"created"` // ms since 1970, the same in all changes of an order
	At      int64  `json:"at"`      // ms since 1970

	Status   string   `json:"status,omitempty"`
	Items    string   `json:"items,omitempty"`
	Brand    string   `json:"brand,omitempty"`
	Lines    *int     `json:"lines,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	Discount *float64 `json:"discount,omitempty"`
	Payment  string   `json:"payment,omitempty"`
	Carrier  string   `json:"carrier,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Note     string   `json:"note,omitempty"`
	Deleted  *bool    `json:"deleted,omitempty"`
}

// The statuses of an order.
const (
	Created   = "created"
	Paid      = "paid"
	Shipped   = "shipped"
	Received  = "received"
	Cancelled = "cancelled"
	Deleted   = "deleted"
)

// Changes derives the changes of the order, ordered by time, from a PCG generator seeded with the FNV-1a hash of its ID, because no source
// of orders that we know publishes changes. Of a hundred orders 80 end as received, 5 as shipped, 6 as paid, 2 as created, 5 as cancelled
// (3 before they are paid) and 2 as deleted after they were received.
func (o Order) Changes() []Change {
	h := fnv.New64a()
	h.Write([]byte(o.ID))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	at := o.Created
	step := func(status string, after, within int64) Change {
		at += after + r.Int64N(within)
		return Change{Order: o.ID, User: o.User, Created: o.Created, At: at, Status: status}
	}
	changes := []Change{step(Created, 0, 1)}
	first := &changes[0]
	first.Items, first.Brand, first.Lines, first.Total, first.Discount = o.Items, o.Brand, &o.Lines, &o.Total, &o.Discount
	for _, status := range path(r.IntN(100)) {
		var c Change
		switch status {
		case Paid:
			c = step(Paid, 10*second, 2*hour)
			c.Payment = pick(r, "card", "wallet", "transfer")
		case Shipped:
			c = step(Shipped, 2*hour, 2*day)
			c.Carrier = pick(r, "north post", "blue van", "quick bike")
		case Received:
			c = step(Received, 12*hour, 6*day)
		case Cancelled:
			c = step(Cancelled, minute, day)
			c.Reason = pick(r, "changed my mind", "found it cheaper", "too late")
		case Deleted:
			c = step(Deleted, 30*day, 60*day)
			c.Deleted = new(bool)
			*c.Deleted = true
		}
		changes = append(changes, c)
	}
	return changes
}

// path returns the statuses after created of the orders in this hundredth.
func path(hundredth int) []string {
	all := []string{Paid, Shipped, Received, Deleted}
	switch {
	case hundredth < 80:
		return all[:3]
	case hundredth < 85:
		return all[:2]
	case hundredth < 91:
		return all[:1]
	case hundredth < 93:
		return nil
	case hundredth < 96:
		return []string{Cancelled}
	case hundredth < 98:
		return []string{Paid, Cancelled}
	default:
		return all
	}
}

func pick(r random, words ...string) string { return words[r.IntN(len(words))] }

var products = [...]struct {
	name, brand string
	price       float64
}{
	{"东北大米 5kg", "北大荒", 39.9}, {"有机绿茶 250g", "西湖", 128}, {"蓝牙耳机", "声海", 199}, {"儿童雨衣 红色", "小熊", 45.5},
	{"不锈钢保温杯 500ml", "希诺", 89}, {"纯棉毛巾 三条装", "洁丽雅", 35.8}, {"四川辣酱 280g", "老干妈", 12.5}, {"机械键盘 87键", "敲敲", 329},
	{"running shoes 42", "Feather", 459}, {"paper notebook A5", "Inkling", 18}, {"green tea biscuits", "Kiko", 22.4},
	{"phone case 6.1 inch", "Shelly", 29.9},
}

// Orders returns the changes of n generated orders, about eight for each user, in the form of Change. They are derived with Order.Changes,
// some late, some twice; one order in ten gets a note in the same millisecond as its last change.
func Orders(n int) iter.Seq[[]byte] {
	var topic []published
	for i := range n {
		r := seeded(2, uint64(i))
		changes := order(i, r).Changes()
		if last := changes[len(changes)-1]; r.IntN(10) == 0 {
			changes = append(changes, Change{Order: last.Order, User: last.User, Created: last.Created, At: last.At, Note: "请放在门口"})
		}
		for _, c := range changes {
			topic = publish(topic, r, c.At, c)
		}
	}
	return inOrder(topic)
}

func order(i int, r random) Order {
	o := Order{
		ID:      fmt.Sprintf("G%09d", 100000000+i),
		User:    fmt.Sprintf("u%05d", r.IntN(i/8+1)),
		Created: june2025 + int64(i)*30*second + r.Int64N(minute),
		Lines:   1 + r.IntN(4),
	}
	var items []string
	dearest := 0.0
	for range o.Lines {
		p, quantity := products[r.IntN(len(products))], 1+r.IntN(3)
		price := p.price * float64(quantity)
		items = append(items, fmt.Sprintf("%s x%d %.2f", p.name, quantity, price))
		if price > dearest {
			dearest, o.Brand = price, p.brand
		}
		o.Total += price
	}
	o.Items = strings.Join(items, "; ")
	o.Discount = math.Round(o.Total*float64(r.IntN(20))) / 100
	o.Total = math.Round((o.Total-o.Discount)*100) / 100
	return o
}
