package config

import (
	"time"

	"brine/rowkey"
)

// Table is one of tables.
type Table struct {
	Name string `set:",key"`
	// What a row is. `event`: each event is a row of its own, and two different events with one key are a collision. `entity`: the changes of
	// one thing meet in one row, column by column, and the newest version wins.
	Row string `set:"row,required" oneof:"event entity"`
	// The row key, in the row-key language, over the fields of the pipelines that write the table.
	Key string `set:"key" example:"md5(waybill, 4) + waybill + \"|\" + desc(at, ms)"`
	// Row keys instead of `key`, each for the rows with versions from `from` on. Only one is supported so far.
	Keys []TableKey `set:"keys" example:"[ { from: 0, key: \"md5(waybill, 4) + waybill\" } ]"`
	// Questions that the table must answer, so that `brine check` reports those that no scan answers. Each lists the fields that are bound to
	// one value, and with two dots the field that has a range.
	Queries []string `set:"queries" example:"[\"waybill\", \"waybill at..\"]"`
	// Column families, by name. The name is part of every cell, so one letter is best.
	Families []Family `set:"families,required" example:"{ e: { ttl: 92d } }"`
	// Number of regions to create the table with. The key determines the split points.
	Regions int `set:"regions" default:"1" min:"1" max:"10000"`
	// Split points instead of regions, in ascending order. `\x00` writes a byte in hex.
	Splits []string `set:"splits" example:"[\"4\", \"8\", \"c\"]"`
	// Size at which a region is split. Without it: that of the cluster [MAX_FILESIZE].
	MaxFileSize Bytes `set:"max_filesize" min:"2MiB" max:"100TiB" example:"20GiB"`
	// Size at which a region's memstores are flushed. Without it: that of the cluster [MEMSTORE_FLUSHSIZE].
	MemstoreFlushSize Bytes `set:"memstore_flushsize" min:"1MiB" max:"16GiB" example:"128MiB"`
	// When a write is acknowledged: `sync_wal` once its log is in the memory of all replicas, `fsync_wal` once it is on their disks
	// [DURABILITY]. Without it the table keeps its own. Weaker settings can lose rows and are not available.
	Durability string `set:"durability" oneof:"sync_wal fsync_wal"`
	// Field that names the owner of a row. Over the HTTP API a customer reads the rows whose field equals the `owner` of its account. Without
	// it, `roles` or `public`, no customer reads the table.
	Owner string `set:"owner" example:"user"`
	// Roles that may read all rows of the table over the HTTP API. Without it: `support`, `operator` and `admin`.
	Roles []string `set:"roles" example:"[customer, support]"`
	// `exact-key`: anybody, signed in or not, may read rows over the HTTP API by a whole key, or by all of the key before its first time, for
	// example to track a parcel by its number. `serve.public_rate` limits how often.
	Public string `set:"public" oneof:"exact-key"`

	rowKeys rowkey.Keys // none while no pipeline writes the table
}

// TableKey is one of keys.
type TableKey struct {
	// Version from which on rows have this key.
	From int `set:"from" default:"0" min:"0"`
	// The row key, written as the table's own key.
	Key string `set:"key,required" example:"md5(waybill, 4) + waybill"`
}

// Family is one of families. The names in brackets are HBase's own attributes.
type Family struct {
	Name string `set:",key"`
	// How long to keep cells, in whole seconds from the event's version [TTL]. Without it they are kept forever.
	TTL time.Duration `set:"ttl" min:"1s" max:"24855d" example:"92d"`
	// Number of versions to keep of a cell [VERSIONS].
	Versions int `set:"versions" default:"1" min:"1" max:"2147483647"`
	// Number of versions to keep of a cell even after its TTL [MIN_VERSIONS].
	MinVersions int `set:"min_versions" default:"0" min:"0" max:"2147483647"`
	// How long major compactions keep delete markers [hbase.hstore.time.to.purge.deletes]. Without it the setting of the table or the servers
	// stays, which is 0 by default. `hard_deletes` needs at least the topic's retention.ms plus segment.ms plus the pipeline's
	// `allowed_lateness` plus an hour.
	PurgeDeletesAfter time.Duration `set:"purge_deletes_after" min:"1s" max:"24855d" example:"16d"`
	// Compression of blocks [COMPRESSION]. The servers must have the codec.
	Compression string `set:"compression" default:"none" oneof:"none gz snappy lz4 lzo zstd"`
	// Bloom filter, which avoids reading files that lack a row, or its column [BLOOMFILTER].
	Bloom string `set:"bloom" default:"row" oneof:"none row rowcol"`
	// Size of a block before compression [BLOCKSIZE].
	BlockSize Bytes `set:"block_size" default:"64KiB" min:"1KiB" max:"16MiB"`
	// Whether to cache blocks that were read [BLOCKCACHE].
	BlockCache bool `set:"block_cache" default:"true"`
	// Encoding of keys within a block [DATA_BLOCK_ENCODING].
	Encoding string `set:"encoding" default:"none" oneof:"none prefix diff fast_diff row_index_v1"`
	// Whether its blocks are the last to be evicted from the cache [IN_MEMORY].
	InMemory bool `set:"in_memory" default:"false"`
	// Kind of disks on which HDFS stores its files [STORAGE_POLICY]. Without it the family keeps its own.
	StoragePolicy string `set:"storage_policy" oneof:"hot warm cold one_ssd all_ssd"`
	// Whether its writes are replicated to peer clusters [REPLICATION_SCOPE]. Without it the family keeps its own.
	Replication string `set:"replication" oneof:"local global"`
	// Size above which cells are stored in separate files that compactions leave alone [IS_MOB, MOB_THRESHOLD]. Without it the family keeps
	// its own.
	MOB Bytes `set:"mob" min:"1KiB" max:"10MiB" example:"100KiB"`
}

// Index is one of indexes.
type Index struct {
	Name string `set:",key"`
	// Fields of its documents, by name, with their types.
	Fields []IndexField `set:"fields,required" example:"{ waybill: keyword, items: text, at: date }"`
	// Splits the index into parts, each an index of its own with the documents of one day, month or year (UTC), named like scans-2026.11.
	// Searches read all parts as one. A part is created for its first document, and dropped when the rows of its documents have expired by the
	// TTL of their table. Without it there is one index, and documents stay forever.
	Every string `set:"every" oneof:"day month year"`
	// Date field that decides to which part a document belongs. It must be filled with a time of the row key, because it must never change.
	Time string `set:"time" example:"at"`
	// Field whose value decides the shard of a document, if the index has several. A search for one value then asks only one shard. It must be
	// filled with a field that the row key holds whole, so that the document's id determines the shard. An existing index gets it by `brine
	// reindex`, and keeps it. An embedded index has no shards and ignores it.
	Routing string `set:"routing" example:"user"`
	// Removes documents this long after the version of their delete. Without it they stay, marked as deleted, and searches skip them. An older
	// change that arrives after the removal would create the document again, so the time must be at least the topic's retention.ms plus
	// segment.ms plus the pipeline's `allowed_lateness` plus an hour, and the topic must have `message.timestamp.type` LogAppendTime.
	PurgeDeletesAfter time.Duration `set:"purge_deletes_after" min:"1h" max:"24855d" example:"16d"`
}

// IndexField is one field of an index.
type IndexField struct {
	Name string `set:",key"`
	// `keyword` is found as a whole, `text` by its words; `long`, `double`, `boolean` and `date` by value and range.
	Type string `set:"type,required,short" oneof:"keyword text long double boolean date"`
}
