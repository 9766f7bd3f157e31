package plan

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// GB and the other sizes of disks and regions, as HBase counts them.
const (
	MB = 1 << 20
	GB = 1 << 30
	TB = 1 << 40
)

// Load is what a table must handle, and the servers for it.
type Load struct {
	Rows     float64       // written per second
	RowBytes float64       // before compression; 0: the measured size
	Keep     time.Duration // how long rows are kept
	Needs    []Need
	Server   Server
}

// Server is the capacity of one region server.
type Server struct {
	Heap int64   `json:"heap_bytes"`
	Disk int64   `json:"disk_bytes"`
	Rows float64 `json:"rows_per_second"` // that it can write: measure this number, do not guess it
}

// The constants of the sheet. "Book" is the HBase reference guide, https://hbase.apache.org/book.html.
const (
	replication = 3    // HDFS: dfs.replication
	fill        = 0.7  // of a disk: major compactions rewrite a store before they remove it, and HDFS needs free space
	smallRegion = 10   // GB, and
	largeRegion = 50   // GB. Book, "Table Schema Rules Of Thumb": regions of 10 to 50 GB,
	fewRegions  = 50   // and 50 to
	manyRegions = 100  // 100 regions for a table of one or two families; more if only the newest of a time series are written
	perServer   = 200  // Book, "Determining region count and size": 20 to 200 regions per server
	memstores   = 0.4  // of the heap: hbase.regionserver.global.memstore.size
	lowerLimit  = 0.95 // of that, from which flushes are forced: hbase.regionserver.global.memstore.size.lower.limit
	flushSize   = 128 * MB
	rollSize    = 128 * MB  // a WAL is rolled at half (…logroll.multiplier) of twice an HDFS block of 128 MB
	leastLogs   = 32        // hbase.regionserver.maxlogs is the greater of this and the logs for twice the memstores: AbstractFSWAL
	flushAfter  = time.Hour // hbase.regionserver.optionalcacheflushinterval
	// cellHeap is the size of a cell in a memstore without its bytes: its entry in a concurrent skip list and the KeyValue object
	// (ClassSize.CONCURRENT_SKIPLISTMAP_ENTRY 48, KeyValue.FIXED_OVERHEAD about 40, alignment). Flushes depend on heap: HRegion.isFlushSize.
	cellHeap = 96
	// partitionRows is the number of rows per second planned for one partition, far below what one can handle, so that a consumer that lags
	// can catch up at several times the rate.
	partitionRows = 10_000
	scanRate      = 100 * MB // bytes per second and server that a full scan reads while writes continue
)

// Sheet is the capacity that a load needs. Bytes are bytes.
type Sheet struct {
	RowsKept     float64 `json:"rows_kept"`
	RowBytes     float64 `json:"row_bytes"`
	RowMeasured  bool    `json:"row_bytes_measured"`
	Ratio        float64 `json:"compression_ratio"`
	RawBytes     float64 `json:"raw_bytes"`
	StoredBytes  float64 `json:"stored_bytes"` // after compression, one replica
	DiskBytes    float64 `json:"disk_bytes"`   // with replication and room for compactions
	RegionsLarge int     `json:"regions_of_50gb"`
	RegionsSmall int     `json:"regions_of_10gb"`
	Regions      int     `json:"regions"` // advised number, of
	RegionBytes  float64 `json:"region_bytes"`

	Servers    int       `json:"servers"`
	ServersBy  []Reason  `json:"servers_by"` // what each limit alone requires
	Server     Server    `json:"server"`
	Buckets    int       `json:"buckets"`    // or initial regions
	Partitions int       `json:"partitions"` // of the topic
	Memstore   Memstore  `json:"memstore"`
	WAL        WAL       `json:"wal"`
	Advice     []Advice  `json:"advice,omitempty"`
	WrongFor   []Finding `json:"wrong_store,omitempty"`
}

// Reason is a number of servers and the limit that requires it.
type Reason struct {
	Limit   string `json:"limit"`
	Servers int    `json:"servers"`
}

// Memstore is how the regions' memstores fill.
type Memstore struct {
	HeapRate         float64 `json:"heap_bytes_per_second"` // over all servers
	FlushesPerSecond float64 `json:"flushes_per_second"`    // likewise
	FlushBytes       float64 `json:"flush_heap_bytes"`      // of one flush
	FillSeconds      float64 `json:"fill_seconds"`          // of one region, to its flush
	By               string  `json:"flushed_by"`            // size, pressure, time
	RegionLimit      int     `json:"regions_per_server_limit"`
}

// WAL is how the logs grow.
type WAL struct {
	Rate     float64 `json:"bytes_per_second_per_server"` // once; HDFS writes it three times
	RollsIn  float64 `json:"roll_seconds"`
	MaxLogs  int     `json:"max_logs"`
	FullIn   float64 `json:"max_logs_after_seconds"` // a region that was not flushed by then is flushed
	NetBytes float64 `json:"network_bytes_per_second_per_server"`
}

// Sheet computes the capacity that the load needs with the measured rows and codecs.
func (f *Forecast) Sheet(l Load) *Sheet {
	s := &Sheet{RowBytes: l.RowBytes, RowMeasured: l.RowBytes == 0, Ratio: f.ratio(), Server: l.Server}
	if s.RowMeasured {
		s.RowBytes = f.Row.Bytes
	}
	s.RowsKept = l.Rows * l.Keep.Seconds()
	s.RawBytes = s.RowsKept * s.RowBytes
	s.StoredBytes = s.RawBytes / s.Ratio
	s.DiskBytes = s.StoredBytes * replication / fill
	s.RegionsLarge, s.RegionsSmall = ceil(s.StoredBytes/(largeRegion*GB)), ceil(s.StoredBytes/(smallRegion*GB))
	// The advised number of regions if they can be of a good size, otherwise the fewest.
	s.Regions = max(s.RegionsLarge, min(s.RegionsSmall, manyRegions))
	s.Servers, s.ServersBy = servers(s, l)
	s.Buckets = min(256, nextPower(2*s.Servers))
	s.Regions = max(s.Regions, min(s.Buckets, s.RegionsSmall))
	s.RegionBytes = s.StoredBytes / float64(s.Regions)
	s.Partitions = 8 * ceil(l.Rows/partitionRows/8)
	cells := max(1, f.Row.Cells)
	s.Memstore = memstore(l, s, cells, len(f.Packing))
	s.WAL = wal(l, s)
	s.advise()
	s.WrongFor = wrongStore(l, s)
	return s
}

// ratio returns the compression ratio of all families together.
func (f *Forecast) ratio() float64 {
	before, after := 0, 0
	for _, p := range f.Packing {
		before, after = before+p.Before, after+p.After
	}
	if after == 0 {
		return 1
	}
	return float64(before) / float64(after)
}

// servers returns the number of region servers that the load needs, and the reasons: at least three, for HDFS's replicas.
func servers(s *Sheet, l Load) (int, []Reason) {
	reasons := []Reason{
		{"disk", ceil(s.DiskBytes / float64(l.Server.Disk))},
		{"writes", ceil(l.Rows / l.Server.Rows)},
		{"regions", ceil(float64(s.Regions) / perServer)},
		{"replication", replication},
	}
	most := 0
	for _, r := range reasons {
		most = max(most, r.Servers)
	}
	return most, reasons
}

// memstore computes how the memstores of evenly written regions fill and are flushed: when one reaches flushSize, when all of a server
// together exceed their part of the heap, or after an hour, whichever comes first. The limit on regions is the book's: heap × memstores ÷
// (flush size × families).
func memstore(l Load, s *Sheet, cells float64, families int) Memstore {
	m := Memstore{HeapRate: l.Rows * (s.RowBytes + cells*cellHeap), FlushBytes: flushSize, By: "size"}
	room := float64(l.Server.Heap) * memstores * lowerLimit
	m.RegionLimit = max(1, int(float64(l.Server.Heap)*memstores/(flushSize*float64(max(1, families)))))
	regions := float64(s.Regions)
	if each := room * float64(s.Servers) / regions; each < m.FlushBytes {
		m.FlushBytes, m.By = each, "pressure"
	}
	m.FillSeconds = m.FlushBytes * regions / max(1, m.HeapRate)
	if m.FillSeconds > flushAfter.Seconds() {
		m.FillSeconds, m.By = flushAfter.Seconds(), "time"
		m.FlushBytes = m.HeapRate * m.FillSeconds / regions
	}
	m.FlushesPerSecond = regions / m.FillSeconds
	return m
}

func wal(l Load, s *Sheet) WAL {
	w := WAL{Rate: l.Rows * s.RowBytes / float64(s.Servers)}
	w.NetBytes = w.Rate * (replication - 1)
	w.RollsIn = rollSize / max(1, w.Rate)
	w.MaxLogs = max(leastLogs, int(float64(l.Server.Heap)*memstores*2/rollSize))
	w.FullIn = w.RollsIn * float64(w.MaxLogs)
	return w
}

// advise adds advice if the load exceeds what is good for a table.
func (s *Sheet) advise() {
	say := func(rule, fix, format string, args ...any) {
		s.Advice = append(s.Advice, Advice{Rule: rule, Msg: fmt.Sprintf(format, args...), Fix: fix})
	}
	if s.Regions > manyRegions {
		say("many-regions", "compress better, keep rows for a shorter time, or divide the table by year; more regions are fine only if most are "+
			"no longer written to, which a key that begins with a hash or salt rules out",
			"%d regions of %.0f GiB; %d to %d are advised for a table", s.Regions, s.RegionBytes/GB, fewRegions, manyRegions)
	}
	if n := ceil(float64(s.Regions) / float64(s.Servers)); n > s.Memstore.RegionLimit {
		say("memstore-limit", "more servers or heap, larger or fewer regions, fewer families",
			"each server has %d regions that are all written to, but its heap has room for the full memstores of only %d", n, s.Memstore.RegionLimit)
	}
	if s.Memstore.By == "pressure" {
		say("small-flushes", "more heap or fewer regions",
			"memstores are flushed at %.0f of %d MiB, because together they fill their part of the heap", s.Memstore.FlushBytes/MB, flushSize/MB)
	}
	if s.WAL.FullIn < s.Memstore.FillSeconds {
		say("wal-limit", "raise hbase.regionserver.maxlogs", "%d logs are full after %.0f s, before a memstore is (%.0f s): it is flushed early",
			s.WAL.MaxLogs, s.WAL.FullIn, s.Memstore.FillSeconds)
	}
}

func ceil(x float64) int { return max(1, int(math.Ceil(x))) }

// nextPower returns the smallest power of two that is at least n.
func nextPower(n int) int { return 1 << bits.Len(uint(max(1, n)-1)) }
