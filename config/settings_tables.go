package config

import (
	"time"

	"brine/rowkey"
)

// Table is one of tables.
type Table struct {
	Name string `set:",key"`
	// What a row is. `event`: each event is its own row, and two different events on one key are a collision. `entity`: the
	// changes of one thing meet in one row, column by column, the newest version winning.
	Row string `set:"row,required" oneof:"event entity"`
	// The row key, in the row-key language, over the fields of the pipelines that write the table.
	Key string `set:"key" example:"md5(waybill, 4) + waybill + \"|\" + desc(at, ms)"`
	// The row keys, instead of key: each for the rows of versions from `from` on. Only one is supported yet.
	Keys []TableKey `set:"keys" example:"[ { from: 0, key: \"md5(waybill, 4) + waybill\" } ]"`
	// What the table is asked, so that `brine check` says which of it no scan answers: each the names of the fields that
	// are bound to one value, and the one that is ranged over with two dots.
	Queries []string `set:"queries" example:"[\"waybill\", \"waybill at..\"]"`
	// The column families, by name. Names are part of every cell: one letter is best.
	Families []Family `set:"families,required" example:"{ e: { ttl: 92d } }"`
	// Into how many regions the table is split when it is made. Split points follow from the key.
	Regions int `set:"regions" default:"1" min:"1" max:"10000"`
	// The split points themselves, instead of regions, in ascending order; `\x00` writes a byte in hex.
	Splits []string `set:"splits" example:"[\"4\", \"8\", \"c\"]"`
	// Size of a region from which on it is split; without it: the cluster's [MAX_FILESIZE].
	MaxFileSize Bytes `set:"max_filesize" min:"2MiB" max:"100TiB" example:"20GiB"`
	// Size of a region's memstores from which on they are flushed; without it: the cluster's [MEMSTORE_FLUSHSIZE].
	MemstoreFlushSize Bytes `set:"memstore_flushsize" min:"1MiB" max:"16GiB" example:"128MiB"`
	// When a write is acknowledged; without it the table's own stays: `sync_wal` once its log is in the memory of all replicas,
	// `fsync_wal` once it is on their disks [DURABILITY]. What would acknowledge earlier can lose rows, so it cannot be set.
	Durability string `set:"durability" oneof:"sync_wal fsync_wal"`
	// The field that says whose a row is: over the HTTP API a customer reads the rows in which it is the `owner` of its account. Without it,
	// `roles` or `public` no customer reads the table.
	Owner string `set:"owner" example:"user"`
	// The roles that may read all rows of the table over the HTTP API. Without it: `support`, `operator` and `admin`.
	Roles []string `set:"roles" example:"[customer, support]"`
	// `exact-key`: anybody reads rows over the HTTP API, signed in or not, by a whole key, or by all of it that is before its first time; so
	// a parcel is tracked by its number. How often is limited by `serve.public_rate`.
	Public string `set:"public" oneof:"exact-key"`

	rowKeys rowkey.Keys // none while no pipeline writes the table
}

// TableKey is one of keys.
type TableKey struct {
	// The version from which on rows have this key.
	From int `set:"from" default:"0" min:"0"`
	// The row key, as the table's own key.
	Key string `set:"key,required" example:"md5(waybill, 4) + waybill"`
}

// Family is one of families. The names in brackets are HBase's own attributes.
type Family struct {
	Name string `set:",key"`
	// Cells older than this vanish; without it they stay [TTL]. Whole seconds, measured from the event's version.
	TTL time.Duration `set:"ttl" min:"1s" max:"24855d" example:"92d"`
	// Versions kept of a cell [VERSIONS].
	Versions int `set:"versions" default:"1" min:"1" max:"2147483647"`
	// Versions kept of a cell though its TTL is over [MIN_VERSIONS].
	MinVersions int `set:"min_versions" default:"0" min:"0" max:"2147483647"`
	// How long major compactions keep delete markers; without it the table's or servers' own stays, which is 0
	// [hbase.hstore.time.to.purge.deletes]. `hard_deletes` needs at least the topic's retention.ms and segment.ms, the pipeline's
	// `allowed_lateness` and an hour.
	PurgeDeletesAfter time.Duration `set:"purge_deletes_after" min:"1s" max:"24855d" example:"16d"`
	// How blocks are compressed; the servers must have the codec [COMPRESSION].
	Compression string `set:"compression" default:"none" oneof:"none gz snappy lz4 lzo zstd"`
	// Bloom filter, which spares reads of files that do not hold a row, or not its column [BLOOMFILTER].
	Bloom string `set:"bloom" default:"row" oneof:"none row rowcol"`
	// Size of a block before compression [BLOCKSIZE].
	BlockSize Bytes `set:"block_size" default:"64KiB" min:"1KiB" max:"16MiB"`
	// Whether blocks that were read are cached [BLOCKCACHE].
	BlockCache bool `set:"block_cache" default:"true"`
	// How keys are packed within a block [DATA_BLOCK_ENCODING].
	Encoding string `set:"encoding" default:"none" oneof:"none prefix diff fast_diff row_index_v1"`
	// Whether its blocks stay longest in the cache [IN_MEMORY].
	InMemory bool `set:"in_memory" default:"false"`
	// On which disks HDFS keeps its files; without it the family's own stays [STORAGE_POLICY].
	StoragePolicy string `set:"storage_policy" oneof:"hot warm cold one_ssd all_ssd"`
	// Whether its writes go to the clusters that are set up as peers; without it the family's own stays [REPLICATION_SCOPE].
	Replication string `set:"replication" oneof:"local global"`
	// Cells larger than this lie in files of their own, which compactions leave alone; without it the family's own stays
	// [IS_MOB, MOB_THRESHOLD].
	MOB Bytes `set:"mob" min:"1KiB" max:"10MiB" example:"100KiB"`
}

// Index is one of indexes.
type Index struct {
	Name string `set:",key"`
	// The fields of its documents, by name, with their types.
	Fields []IndexField `set:"fields,required" example:"{ waybill: keyword, items: text, at: date }"`
	// Keeps the index in parts, each an index of its own with the documents of one day, month or year (UTC), named as
	// scans-2026.11 and all read as one. A part is made when the first document for it comes, and dropped when the rows that its
	// documents stand beside are over by the TTL of their table. Without it the index is one, and documents stay for good.
	Every string `set:"every" oneof:"day month year"`
	// The field, a date, that says to which part a document belongs. It is filled with a time of the row key, since it must
	// never change.
	Time string `set:"time" example:"at"`
	// The field by whose value a document has its shard, where the index has several: a search that asks for one value then asks one shard.
	// It is filled with a field that the row key holds whole, so that the shard follows from a document's id. An index that exists gets it
	// by `brine reindex`, and keeps it. An index inside this process has no shards, and passes it over.
	Routing string `set:"routing" example:"user"`
	// Removes documents that were deleted so long ago, by their version; without it they stay, marked, and are passed over by searches.
	// An older change that came after that would make the document again, so it must be at least the topic's retention.ms and segment.ms,
	// the pipeline's `allowed_lateness` and an hour; and the topic must have `message.timestamp.type` LogAppendTime.
	PurgeDeletesAfter time.Duration `set:"purge_deletes_after" min:"1h" max:"24855d" example:"16d"`
}

// IndexField is one field of an index.
type IndexField struct {
	Name string `set:",key"`
	// `keyword` is found as a whole, `text` by its words; `long`, `double`, `boolean` and `date` by value and range.
	Type string `set:"type,required,short" oneof:"keyword text long double boolean date"`
}
