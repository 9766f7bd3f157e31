package sample

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// The actions of a generated trail.
const (
	PickedUp       = "PICKED_UP"
	Loaded         = "LOADED"
	ArrivedAt      = "ARRIVED_AT"
	OutForDelivery = "OUT_FOR_DELIVERY"
	Signed         = "SIGNED"
)

var stations = [...]string{
	"上海浦东转运中心", "上海虹桥营业部", "北京顺义转运中心", "北京朝阳望京营业部", "广州白云转运中心", "广州天河营业部",
	"深圳宝安转运中心", "深圳南山科技园营业部", "杭州萧山转运中心", "杭州西湖营业部", "成都双流转运中心", "成都武侯营业部",
	"武汉东西湖转运中心", "武汉洪山营业部", "西安咸阳转运中心", "西安雁塔营业部", "南京江宁转运中心", "苏州工业园区营业部",
	"重庆渝北转运中心", "郑州航空港转运中心", "沈阳浑南转运中心", "哈尔滨道里营业部", "厦门翔安转运中心", "乌鲁木齐新市营业部",
}

// random is a separate source for every waybill and order, so that each is the same whatever the number requested.
type random = *rand.Rand

func seeded(kind, number uint64) random { return rand.New(rand.NewPCG(kind, number)) }

// Trail returns the scan events of n generated waybills. Each is picked up, loaded and arrives one to four times, goes out for delivery
// (one in five twice) and is signed for: 5 to 12 scans in all. One trail in ten has two scans in the same millisecond, most have two in the
// same second; some events arrive late and some twice. The form is that of Scans.
func Trail(n int) iter.Seq[[]byte] {
	var topic []published
	for i := range n {
		r := seeded(1, uint64(i))
		for _, scan := range trail(i, r) {
			topic = publish(topic, r, scan.At, scan)
		}
	}
	return inOrder(topic)
}

// trail returns the scans of waybill number i, ordered by time.
func trail(i int, r random) []Scan {
	at := int64(june2025) + int64(i)*20*second + r.Int64N(minute)
	waybill := fmt.Sprintf("YD%012d", 310000000000+int64(i)*37)
	var scans []Scan
	add := func(action, station string, after int64) {
		at += after
		scans = append(scans, Scan{Waybill: waybill, Action: action, At: at, Station: station, Courier: fmt.Sprintf("C%04d", 1000+r.IntN(400))})
	}
	sameInstant := r.IntN(10) == 0
	here := r.IntN(len(stations))
	add(PickedUp, stations[here], 0)
	for range 1 + r.IntN(4) {
		if sameInstant {
			add(Loaded, stations[here], 0)
			sameInstant = false
		} else {
			add(Loaded, stations[here], 100+r.Int64N(1500))
		}
		here = (here + 1 + r.IntN(len(stations)-1)) % len(stations)
		add(ArrivedAt, stations[here], 2*hour+r.Int64N(16*hour))
	}
	add(OutForDelivery, stations[here], hour+r.Int64N(10*hour))
	if r.IntN(5) == 0 {
		add(OutForDelivery, stations[here], day)
	}
	add(Signed, stations[here], 20*minute+r.Int64N(5*hour))
	return scans
}
