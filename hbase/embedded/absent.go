package embedded

import (
	"strings"
	"sync"
	"time"
)

// movedFor is how long a region server remembers where a region went, as HBase's.
const movedFor = 2 * time.Minute

// absent is what a node knows of regions that are not open here: where one went, or that it is about to open.
type absent struct {
	mu      sync.Mutex
	regions map[string]absence // by encoded name
}

type absence struct {
	to    *node // nil: it opens here
	seq   int64 // when to is set: the region's sequence number as it closed
	until time.Time
}

func (a *absent) put(encoded string, why absence) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.regions == nil {
		a.regions = make(map[string]absence)
	}
	a.regions[encoded] = why
}

func (a *absent) forget(encoded string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.regions, encoded)
}

// absence is the exception for a region that is not online here, named by its name or encoded name.
func (n *node) absence(name string) *Exception {
	encoded := strings.TrimSuffix(name, ".")
	encoded = encoded[strings.LastIndexByte(encoded, '.')+1:]
	if isMeta(name) {
		encoded = metaEncoded
	}
	n.absent.mu.Lock()
	defer n.absent.mu.Unlock()
	why, known := n.absent.regions[encoded]
	switch {
	case known && why.to == nil:
		return &Exception{Class: classOpening, Message: "Region " + name + " is opening on " + n.String()}
	case known && n.clock().Before(why.until):
		return RegionMoved(why.to.host, int32(why.to.port), why.to.startCode, why.seq)
	case known:
		delete(n.absent.regions, encoded)
	}
	return notServing(name + " is not online on " + n.String())
}

// isMeta reports whether a name or encoded name is that of the region of hbase:meta.
func isMeta(region string) bool {
	return region == metaEncoded || strings.HasPrefix(region, metaName.String()+",")
}
