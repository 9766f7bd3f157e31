package client

import (
	"context"
	"net/url"
	"strconv"
)

// Pipelines are all pipelines of the configuration.
type Pipelines struct {
	Pipelines []Pipeline `json:"pipelines"`
}

// Pipeline is a pipeline with its halves.
type Pipeline struct {
	Name    string   `json:"name"`
	Topics  []string `json:"topics"`
	Pattern string   `json:"topic_pattern,omitempty" doc:"Topics whose names match this pattern are read as well."`
	Tables  []string `json:"tables" doc:"Tables that the pipeline writes rows to."`
	Indexes []string `json:"indexes" doc:"Indexes that the pipeline writes documents to."`
	Here    bool     `json:"here" doc:"Whether the brine that answers runs the pipeline, possibly beside others. If so, more is known about it."`
	Halves  []Half   `json:"halves" doc:"Its rows and its documents, neither of which waits for the other."`
}

// Half is a half of a pipeline: its rows or its documents.
type Half struct {
	Name    string   `json:"name" doc:"Pipeline and half, such as orders.rows."`
	Kind    string   `json:"kind" doc:"rows or documents."`
	Group   string   `json:"group" doc:"Consumer group."`
	State   string   `json:"state" doc:"running; stopped (the group has no members); joining; halted, waiting, retrying, starting or draining (the worst state of the partitions here); or unknown (the brokers did not answer)."`
	Detail  string   `json:"detail,omitempty" doc:"Why it is not running."`
	Lag     int64    `json:"lag" doc:"Offsets left to settle, an upper bound of the records; -1 if not known."`
	Rate    *float64 `json:"offsets_per_second,omitempty" doc:"Offsets settled per second, over at most the last 30 seconds. Absent until two requests a second or more apart have measured it."`
	Arrives *float64 `json:"arriving_per_second,omitempty" doc:"Offsets written to the topics per second, measured in the same way."`
	Age     *float64 `json:"age_seconds,omitempty" doc:"Age of the oldest unsettled record, in seconds. Absent if it has no partitions here."`
	Members []string `json:"members" doc:"Members of the group. A killed member is listed until its session expires."`
	Regions int      `json:"regions,omitempty" doc:"Number of regions that it writes to from here."`

	Versions []MemberVersion `json:"versions" doc:"Version of brine that each member runs, by member. They differ while an upgrade is incomplete."`

	Paused    bool    `json:"paused,omitempty" doc:"Whether somebody has paused it. It stays paused until it is resumed."`
	RateLimit float64 `json:"rate_limit,omitempty" doc:"Records per second of the whole group. Absent if there is no limit."`
	AskedBy   string  `json:"asked_by,omitempty" doc:"Who last paused, resumed or limited it."`
	AskedAt   string  `json:"asked_at,omitempty"`

	Step     string   `json:"limiting_step,omitempty" doc:"Limiting step, such as server or fetch. Absent if it does not run here."`
	LagBytes *int64   `json:"lag_bytes,omitempty" doc:"Estimated size of the lagging records, in bytes. Absent if it does not run here."`
	Drain    *float64 `json:"drain_seconds,omitempty" doc:"Estimated seconds until the lag is 0, at the rates of the last minute; -1 if the lag grows. Absent if not known, or if it does not run here."`

	Counts     *HalfCounts `json:"counts,omitempty" doc:"Counters of the brine that answers. Absent if it does not run the half."`
	Partitions []Partition `json:"partitions,omitempty" doc:"Partitions of its topics. Absent in the list of all pipelines."`
}

// MemberVersion is what a member of a group reports about its process.
type MemberVersion struct {
	Member  string `json:"member" doc:"Id of the member in its group."`
	Version string `json:"version,omitempty" doc:"Absent if the member has not reported it: it has just joined, is of a version that does not report, or may not write to kafka.control_topic."`
	Host    string `json:"host,omitempty" doc:"Name of its host."`
	PID     int    `json:"pid,omitempty"`
	Started string `json:"started,omitempty" doc:"When the process started."`
}

// HalfCounts are the counters of a half since the start of the brine that answers.
type HalfCounts struct {
	Events      int64  `json:"events" doc:"Number of records settled."`
	Batches     int64  `json:"batches"`
	Retries     int64  `json:"retries" doc:"Mutations or events that were written again."`
	Retried     string `json:"retried,omitempty" doc:"Reason for the last retry."`
	Cause       string `json:"cause,omitempty" doc:"Cause of retries that continue: the server and its error."`
	DeadLetters int64  `json:"dead_letters"`
	Ties        int64  `json:"ties" doc:"Cells with two different changes of the same version."`
}

// Partition is the position of a half in a partition.
type Partition struct {
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Earliest  int64    `json:"earliest" doc:"First offset of the log; -1 if not known."`
	Committed *int64   `json:"committed,omitempty" doc:"Offset to continue from after a restart. Absent if nothing is committed."`
	Latest    int64    `json:"latest" doc:"End of the log: the offset of the next record."`
	Lag       int64    `json:"lag" doc:"Offsets left to settle, an upper bound of the records."`
	Here      bool     `json:"here" doc:"Whether the brine that answers holds the partition. Only then state, reason, detail, watermark, since and age_seconds are known."`
	State     string   `json:"state,omitempty" doc:"starting, running, retrying, waiting, halted or draining."`
	Reason    string   `json:"reason,omitempty" doc:"Why it is halted, waiting or retrying."`
	Detail    string   `json:"detail,omitempty" doc:"The reason in words."`
	Watermark *int64   `json:"watermark,omitempty" doc:"Offset below which everything is settled."`
	Since     string   `json:"since,omitempty" doc:"When the watermark last moved, or last had nothing left to settle."`
	Age       *float64 `json:"age_seconds,omitempty" doc:"Age of the oldest unsettled record, in seconds; 0 if all are settled."`
}

// opsPath begins the operators' routes. For them, Base is the URL of the operators' listener.
const opsPath = "/api/v1/ops"

// Pipelines lists the pipelines.
func (c *Client) Pipelines(ctx context.Context) (out Pipelines, err error) {
	return out, c.get(ctx, opsPath+"/pipelines", nil, &out)
}

// Pipeline returns a pipeline with its partitions.
func (c *Client) Pipeline(ctx context.Context, name string) (out Pipeline, err error) {
	return out, c.get(ctx, opsPath+"/pipelines/"+url.PathEscape(name), nil, &out)
}

// StoredTables are the tables of the configuration.
type StoredTables struct {
	Tables []StoredTable `json:"tables"`
}

// StoredTable is a table as the cluster has it.
type StoredTable struct {
	Name      string   `json:"name"`
	Pipelines []string `json:"pipelines" doc:"Pipelines that write to the table."`
	Regions   int      `json:"regions"`
	Servers   int      `json:"servers" doc:"Number of servers that hold regions of the table."`
	MB        int64    `json:"mb" doc:"Size in MB, on disk and in memory."`
	Detail    string   `json:"detail,omitempty" doc:"Why nothing is known about the table."`

	Families []StoredFamily    `json:"families"`
	Settings map[string]string `json:"settings" doc:"Settings of the table as a whole, under HBase's own names."`
}

// StoredFamily is a column family as the cluster has it.
type StoredFamily struct {
	Name     string            `json:"name"`
	Settings map[string]string `json:"settings" doc:"Settings under HBase's own names, such as TTL in seconds."`
}

// Regions are the regions of a table, sorted by key.
type Regions struct {
	Table   string   `json:"table"`
	Regions []Region `json:"regions"`
}

// Region is a region with its load.
type Region struct {
	Name     string  `json:"name" doc:"Encoded name."`
	Start    string  `json:"start" doc:"First key of the region, in the HBase shell's notation; empty if the region is the first."`
	End      string  `json:"end" doc:"First key after the region, in the HBase shell's notation; empty if the region is the last."`
	Fields   string  `json:"start_fields,omitempty" doc:"Fields that the start key holds in full."`
	Server   string  `json:"server"`
	State    string  `json:"state,omitempty"`
	FilesMB  int64   `json:"files_mb"`
	MemoryMB int64   `json:"memstore_mb"`
	Files    int64   `json:"files"`
	Reads    int64   `json:"reads" doc:"Read requests since the region was opened."`
	Writes   int64   `json:"writes" doc:"Write requests since the region was opened."`
	Locality float64 `json:"locality" doc:"Fraction of the files that is on the region's server, from 0 to 1."`
}

// Skew is how unevenly tables are distributed.
type Skew struct {
	Here   bool        `json:"here" doc:"Whether the brine that answers runs pipelines. If not, rows are not counted, and only what the cluster reports is known."`
	Tables []SkewTable `json:"tables"`
	Hot    []HotSpot   `json:"hot" doc:"Hot regions and servers, hottest first."`
}

// SkewTable is how unevenly one table is distributed.
type SkewTable struct {
	Table       string       `json:"table"`
	Rows        int64        `json:"rows" doc:"Rows written since the start of the brine that answers."`
	Total       SkewIndices  `json:"total" doc:"Distribution of rows over regions since the start."`
	Recent      SkewIndices  `json:"recent" doc:"Distribution of rows over regions in the last minute."`
	FiveMinutes SkewIndices  `json:"five_minutes" doc:"Distribution of rows over regions in the last five minutes."`
	Hour        SkewIndices  `json:"hour" doc:"Distribution of rows over regions in the last hour."`
	Beyond      SkewIndices  `json:"beyond_chance" doc:"recent, without what chance alone would cause with as many rows."`
	Servers     SkewIndices  `json:"server_writes" doc:"Distribution of rows over servers in the last minute."`
	Data        *SkewIndices `json:"data,omitempty" doc:"Distribution of sizes over regions, as reported by the cluster. Absent if not known."`
	Regions     []SkewRegion `json:"regions" doc:"Regions in key order."`
	Heavy       []HeavyKey   `json:"heavy_keys" doc:"Prefixes that at least 1% of the row keys begin with, most frequent first."`
	Writers     []SkewWriter `json:"writers" doc:"Writers of at least 1% of the records of the last 30 to 60 seconds, most records first."`
	Warnings    []string     `json:"warnings"`
}

// SkewIndices measure how uneven counts are.
type SkewIndices struct {
	MaxMean  float64 `json:"max_mean" doc:"Largest count over the mean: 1 is even."`
	CV       float64 `json:"cv" doc:"Coefficient of variation, standard deviation over the mean: 0 is even."`
	Gini     float64 `json:"gini" doc:"Gini coefficient: 0 is even, almost 1 is all in one place."`
	Entropy  float64 `json:"entropy" doc:"1 minus the normalized entropy: 0 is even, 1 is all in one place."`
	P99Mean  float64 `json:"p99_mean" doc:"99th percentile over the mean."`
	TopShare float64 `json:"top_share" doc:"Share of the largest 1% of the places, at least one place."`
	Cost     float64 `json:"hbase_cost" doc:"Cost as HBase's balancer computes it, from 0 to 1; the balancer acts above 0.025."`
}

// SkewRegion is the load of a region.
type SkewRegion struct {
	Name     string   `json:"name"`
	Start    string   `json:"start"`
	Server   string   `json:"server"`
	Rows     int64    `json:"rows" doc:"Rows written by the brine that answers since its start."`
	Bytes    int64    `json:"bytes"`
	Minute   int64    `json:"rows_last_minute"`
	Rate     float64  `json:"rows_per_second" doc:"Current rows per second."`
	HotSince string   `json:"hot_since,omitempty" doc:"When the region became hot. Absent if it is not hot."`
	MB       *int64   `json:"mb,omitempty" doc:"Size in MB, as reported by the cluster. Absent if not known."`
	Reads    *float64 `json:"reads_per_second,omitempty" doc:"Reads per second by all clients, as reported by the cluster."`
	Writes   *float64 `json:"writes_per_second,omitempty" doc:"Writes per second by all clients, as reported by the cluster."`
}

// HeavyKey is a prefix of many rows.
type HeavyKey struct {
	Key   string  `json:"key"`
	Text  string  `json:"text,omitempty" doc:"Fields that the key holds in full."`
	Rows  int64   `json:"rows" doc:"Maximum number of rows; the true number is lower by at most error."`
	Error int64   `json:"error"`
	Share float64 `json:"share"`
}

// SkewWriter is a writer to a table, as far as records name it.
type SkewWriter struct {
	Pipeline  string  `json:"pipeline"`
	Topic     string  `json:"topic"`
	Partition int64   `json:"partition"`
	Producer  int64   `json:"producer" doc:"Producer id assigned by Kafka; -1 if the batches carry none."`
	Name      string  `json:"name,omitempty" doc:"Value of the header that the pipeline's writer_header names."`
	Records   int64   `json:"records" doc:"Maximum number of records; the true number is lower by at most error."`
	Error     int64   `json:"error"`
	Share     float64 `json:"share"`
}

// HotSpot is a region or a server with much more load than the mean.
type HotSpot struct {
	Table    string   `json:"table,omitempty"`
	Region   string   `json:"region,omitempty"`
	Server   string   `json:"server"`
	Since    string   `json:"since"`
	Severity string   `json:"severity" doc:"notice, warning (from 2 times the mean) or critical (from 4 times)."`
	Rate     float64  `json:"rows_per_second"`
	Times    float64  `json:"times_mean"`
	Share    float64  `json:"share"`
	Cause    string   `json:"cause"`
	Why      string   `json:"why"`
	Advice   []string `json:"advice" doc:"What helps, best first, with the predicted effect."`

	Values   map[string]float64 `json:"values,omitempty" doc:"The numbers in why, by name, for those who word it themselves."`
	Key      string             `json:"key,omitempty" doc:"The key that why names."`
	Remedies []HotRemedy        `json:"remedies,omitempty" doc:"The advice by kind and values, in the same order."`

	Actions []HotAction `json:"actions" doc:"Advice that a job can carry out: region-split and region-move."`
}

// HotRemedy is an advice without its words.
type HotRemedy struct {
	Kind    string   `json:"kind" doc:"split, move, salt or own table."`
	Table   string   `json:"table"`
	Region  string   `json:"region,omitempty" doc:"The region to split or move."`
	At      string   `json:"at,omitempty" doc:"First row of the second half; absent if the servers choose."`
	AtText  string   `json:"at_text,omitempty" doc:"The fields of at."`
	To      string   `json:"to,omitempty" doc:"The server to move to."`
	Buckets int      `json:"buckets,omitempty" doc:"Buckets of a salt."`
	Fields  []string `json:"fields,omitempty" doc:"Fields of a salt; absent: all of the key."`

	Effect *HotEffect `json:"effect,omitempty" doc:"The predicted effect. Absent if too few rows were sampled."`
}

// HotEffect is how evenly rows lie over regions, or over servers for a move, before and after.
type HotEffect struct {
	Before        float64 `json:"before_max_mean"`
	After         float64 `json:"after_max_mean"`
	LargestBefore float64 `json:"before_largest_share"`
	LargestAfter  float64 `json:"after_largest_share"`
}

// HotAction is an action that helps against a hot spot.
type HotAction struct {
	Job    string `json:"job" doc:"Kind of job that carries it out. The other fields, except text, are the body of its request."`
	Text   string `json:"text" doc:"What it does, with the predicted effect."`
	Table  string `json:"table"`
	Region string `json:"region"`
	At     string `json:"at,omitempty"`
	To     string `json:"to,omitempty"`
}

// HeatMap is what happens to a table by key range and time.
type HeatMap struct {
	Table  string      `json:"table"`
	Starts []string    `json:"starts" doc:"Start keys of the key ranges, in order."`
	Labels []string    `json:"labels" doc:"For each key range: the salt and the fields that the start key holds in full. Empty if there are none."`
	Times  []string    `json:"times" doc:"End times of the columns."`
	Rows   [][]float64 `json:"rows" doc:"Rows per second, by key range, then by column."`
	Bytes  [][]float64 `json:"bytes" doc:"Bytes per second, by key range, then by column."`
	Most   float64     `json:"most" doc:"Largest value of the metric; in rows, if there is none."`
	Hot    []HotRange  `json:"hot" doc:"Where the regions lie that are hot now. Empty for a map of an earlier time."`
	Kept   int         `json:"kept_minutes" doc:"How far back maps go, in minutes."`

	Buckets []MapBuckets `json:"buckets,omitempty" doc:"How fine the kept buckets are, finest first. A map is drawn from the finest that go back to where it begins. If it has more buckets than columns, a column shows the largest value of several. Absent if map.history is not set."`

	Detail string `json:"detail,omitempty" doc:"Why the map shows only what this process has written: the history does not answer."`

	Requests [][]float64 `json:"requests,omitempty" doc:"With metric=requests: reads and writes of all clients per second, as the regions' servers count them, by key range, then by column."`
	Latency  [][]float64 `json:"latency,omitempty" doc:"With metric=latency: mean time in ms from sending a write call of brine's to its answer, by key range, then by column; 0 if there was none."`

	ReadLatency [][]float64 `json:"read_latency,omitempty" doc:"With metric=read_latency: mean time in ms from sending a read of brine's, such as a get or one call of a scan, to its answer, by key range, then by column; 0 if there was none."`

	Unknown []int64 `json:"unknown,omitempty" doc:"With metric=requests: indices of the columns whose requests are not known, because the cluster reported none or an earlier brine kept none."`
	Loads   string  `json:"loads,omitempty" doc:"With metric=requests: why the cluster does not report the loads of its regions now."`
}

// MapBuckets is how fine a map can be for a time.
type MapBuckets struct {
	Minutes int `json:"minutes" doc:"How far back these buckets go, in minutes."`
	Seconds int `json:"seconds" doc:"Length of one bucket in seconds."`
}

// HotRange is where a hot region lies on a map: the key ranges in [From, To).
type HotRange struct {
	Region string `json:"region"`
	From   int64  `json:"from" doc:"Index of the first key range."`
	To     int64  `json:"to" doc:"End, exclusive: the index after the last key range."`
}

// HeatMapOf selects a part of a heat map; 0: the default.
type HeatMapOf struct {
	Minutes, Ranges, Columns int
	Until                    string // a time; empty: now
	Metric                   string // rows, bytes, requests, latency or read_latency; empty: rows and bytes
	Server                   string // only the regions that it has now; empty: all
}

// TableSizes is the size of a table over time.
type TableSizes struct {
	Table string      `json:"table"`
	Sizes []TableSize `json:"sizes" doc:"Sizes, oldest first. Empty if map.history is not set."`
}

// TableSize is the size of a table at a time.
type TableSize struct {
	At string `json:"at"`
	MB int64  `json:"mb" doc:"Size of all regions in MB, on disk and in memory."`
}

// Configuration is the running configuration.
type Configuration struct {
	YAML string `json:"yaml" doc:"The configuration as written, with environment variables and files by name, and without secrets. Settings that are not shown have their defaults."`
}

// Offsets are the positions of groups in their topics.
type Offsets struct {
	Positions []GroupPosition `json:"positions"`
}

// GroupPosition is the position of a group in a partition.
type GroupPosition struct {
	Pipeline  string   `json:"pipeline" doc:"Pipeline and half, such as orders.rows."`
	Group     string   `json:"group"`
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Earliest  int64    `json:"earliest" doc:"First offset of the log."`
	Committed *int64   `json:"committed,omitempty" doc:"Offset to continue from after a restart. Absent if nothing is committed."`
	Latest    int64    `json:"latest" doc:"End of the log: the offset of the next record."`
	Lag       int64    `json:"lag" doc:"Offsets left to settle, an upper bound of the records."`
	Members   []string `json:"members" doc:"Members of the group. A killed member is listed until its session expires."`
}

// HalvesOf selects halves of pipelines.
type HalvesOf struct {
	Pipeline string `json:"pipeline,omitempty" doc:"Only this pipeline (default: all)."`
	Half     string `json:"half,omitempty" doc:"Half of the pipeline: rows or documents (default: both)."`
	Topic    string `json:"topic,omitempty" doc:"Only this topic, of those that the pipeline reads (default: all)."`
}

// SetOffsets requests new offsets for groups without members.
type SetOffsets struct {
	HalvesOf
	To         string       `json:"to,omitempty" doc:"New offsets: earliest, latest, a time (2013-01-31T08:00:00Z, or an age such as 2h), offsets (0:1200,1:900), or, only in a dry run, +N or -N relative to the current ones. Not with moves."`
	Partitions []int        `json:"partitions,omitempty" doc:"Only these partitions (default: those whose offsets are given, else all)."`
	DryRun     bool         `json:"dry_run,omitempty" doc:"Only show what would be done."`
	Moves      []OffsetMove `json:"moves,omitempty" doc:"Instead of anything else: exactly these moves, as a dry run showed them. Refused as a whole if a partition has another committed offset than now, unless it already has the new one. Required, except in a dry run or if yes is set."`
	Yes        bool         `json:"yes,omitempty" doc:"Set the offsets that to means at that moment, as the command does with --yes."`
}

// OffsetMoves are the changes that were made, or would be.
type OffsetMoves struct {
	Moves []OffsetMove `json:"moves" doc:"Partitions whose offsets change. Those that are already there are left out."`
	Done  bool         `json:"done" doc:"Whether the offsets have been set."`
	InUse string       `json:"in_use,omitempty" doc:"For a dry run: why setting the offsets would be refused."`
}

// OffsetMove is the change to one partition of a group.
type OffsetMove struct {
	Pipeline  string `json:"pipeline" doc:"Pipeline and half, such as orders.rows."`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Now       *int64 `json:"now,omitempty" doc:"Committed offset. Absent if nothing is committed."`
	Then      int64  `json:"then" doc:"New offset."`
	Again     int64  `json:"again" doc:"Offsets that are read again, an upper bound of the records."`
	Skipped   int64  `json:"skipped" doc:"Offsets that are never read, an upper bound of the records."`
}

// DeadLettersOf selects dead letters.
type DeadLettersOf struct {
	Pipeline   string   `json:"pipeline,omitempty" doc:"Only dead letters of this pipeline (default: all)."`
	Half       string   `json:"half,omitempty" doc:"Only dead letters of rows or documents (default: both)."`
	Reasons    []string `json:"reasons,omitempty" doc:"Only dead letters with these reasons, such as missing_field."`
	Since      string   `json:"since,omitempty" doc:"Only dead letters written since this time: 2013-01-31T08:00:00Z, or an age such as 2h."`
	Until      string   `json:"until,omitempty" doc:"Only dead letters written before this time, in the forms of since."`
	Partitions []int    `json:"partitions,omitempty" doc:"Only records from these partitions of the pipeline's topic."`
	Key        string   `json:"key,omitempty" doc:"Only records with this key. Write bytes that are not text as \\xNN."`
	Text       string   `json:"text,omitempty" doc:"Only dead letters with this text in the record's key, value or headers, or in the dead letter's field or detail. Refused if fields are masked."`
	All        bool     `json:"all,omitempty" doc:"Include dead letters that have already been replayed. Not in a dead-letter-replay job."`
}

// DeadLetters is a page of dead letters.
type DeadLetters struct {
	DeadLetters []DeadLetter `json:"dead_letters"`
	Next        string       `json:"next_page_token" doc:"Pass as page_token, with the same parameters, to get the next page. Empty if this is the last page."`
}

// DeadLetter is a record that could not be written, and why.
type DeadLetter struct {
	Pipeline  string            `json:"pipeline" doc:"Pipeline and half that rejected the record, such as orders.rows."`
	Topic     string            `json:"topic"`
	Partition int               `json:"partition"`
	Offset    int64             `json:"offset"`
	Time      string            `json:"time" doc:"Timestamp of the record."`
	Reason    string            `json:"reason"`
	Field     string            `json:"field,omitempty"`
	Detail    string            `json:"detail,omitempty"`
	Fix       string            `json:"fix,omitempty" doc:"What helps. Like headers and value, only in the answer for a single record."`
	Written   string            `json:"written" doc:"When the dead letter was written."`
	Replayed  string            `json:"replayed,omitempty" doc:"When the dead letter was replayed. Absent if it was not."`
	Let       string            `json:"let,omitempty" doc:"Fixes with which the record was replayed."`
	Place     string            `json:"place" doc:"Position in the dead-letter topic, TOPIC/PARTITION:OFFSET."`
	Key       string            `json:"key,omitempty" doc:"The record's key. Here, in headers and in value, bytes that are not text are written as \\xNN."`
	Headers   []DeadHeader      `json:"headers,omitempty"`
	Value     string            `json:"value,omitempty"`
	Masked    bool              `json:"masked,omitempty" doc:"Whether fields are masked. If so, key and value show only their lengths, and fields shows the fields that are not masked."`
	Fields    map[string]string `json:"fields,omitempty"`
}

// DeadHeader is a record's header.
type DeadHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// DeadLetterSums are the numbers of dead letters by kind.
type DeadLetterSums struct {
	Sums []DeadLetterSum `json:"sums"`
}

// DeadLetterSum is the number of dead letters of one kind.
type DeadLetterSum struct {
	Pipeline string `json:"pipeline,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Field    string `json:"field,omitempty"`
	Schema   string `json:"schema,omitempty"`
	Other    bool   `json:"other,omitempty" doc:"Whether this line counts all kinds beyond the first 1,000."`
	Letters  int    `json:"letters" doc:"Number of dead letters."`
	First    string `json:"first"`
	Last     string `json:"last"`
	Example  string `json:"example" doc:"Position of the last one's record: PARTITION:OFFSET, or TOPIC/PARTITION:OFFSET if the pipeline reads several topics."`
}

// StoredTables lists the tables of the configuration as the cluster has them.
func (c *Client) StoredTables(ctx context.Context) (out StoredTables, err error) {
	return out, c.get(ctx, opsPath+"/tables", nil, &out)
}

// Regions lists the regions of a table.
func (c *Client) Regions(ctx context.Context, table string) (out Regions, err error) {
	return out, c.get(ctx, opsPath+"/tables/"+url.PathEscape(table)+"/regions", nil, &out)
}

// Skew returns how unevenly a table is distributed, or all tables if the name is empty.
func (c *Client) Skew(ctx context.Context, table string) (out Skew, err error) {
	path := opsPath + "/skew"
	if table != "" {
		path = opsPath + "/tables/" + url.PathEscape(table) + "/skew"
	}
	return out, c.get(ctx, path, nil, &out)
}

// HeatMap returns what happened to a table's key ranges over time.
func (c *Client) HeatMap(ctx context.Context, table string, of HeatMapOf) (out HeatMap, err error) {
	return out, c.get(ctx, opsPath+"/tables/"+url.PathEscape(table)+"/heat", of.params(), &out)
}

// TableSizes returns the sizes of a table over a time span.
func (c *Client) TableSizes(ctx context.Context, table string, of HeatMapOf) (out TableSizes, err error) {
	return out, c.get(ctx, opsPath+"/tables/"+url.PathEscape(table)+"/sizes", of.params(), &out)
}

func (of HeatMapOf) params() url.Values {
	params := url.Values{}
	for name, n := range map[string]int{"minutes": of.Minutes, "ranges": of.Ranges, "columns": of.Columns} {
		if n > 0 {
			params.Set(name, strconv.Itoa(n))
		}
	}
	for name, text := range map[string]string{"until": of.Until, "metric": of.Metric, "server": of.Server} {
		if text != "" {
			params.Set(name, text)
		}
	}
	return params
}

// Configuration returns the running configuration, without secrets.
func (c *Client) Configuration(ctx context.Context) (out Configuration, err error) {
	return out, c.get(ctx, opsPath+"/configuration", nil, &out)
}

// Offsets returns the positions of groups in their topics.
func (c *Client) Offsets(ctx context.Context, of HalvesOf) (out Offsets, err error) {
	params := url.Values{}
	for name, value := range map[string]string{"pipeline": of.Pipeline, "half": of.Half, "topic": of.Topic} {
		if value != "" {
			params.Set(name, value)
		}
	}
	return out, c.get(ctx, opsPath+"/offsets", params, &out)
}

// SetOffsets sets the offsets of groups.
func (c *Client) SetOffsets(ctx context.Context, to SetOffsets) (out OffsetMoves, err error) {
	return out, c.post(ctx, opsPath+"/offsets", to, &out)
}

func (of *DeadLettersOf) params() url.Values {
	params := url.Values{}
	for name, value := range map[string]string{"pipeline": of.Pipeline, "half": of.Half, "since": of.Since, "until": of.Until, "key": of.Key,
		"text": of.Text} {
		if value != "" {
			params.Set(name, value)
		}
	}
	for _, reason := range of.Reasons {
		params.Add("reason", reason)
	}
	for _, p := range of.Partitions {
		params.Add("partition", strconv.Itoa(p))
	}
	if of.All {
		params.Set("all", "true")
	}
	return params
}

// DeadLetters lists dead letters. after is the Next of the previous page.
func (c *Client) DeadLetters(ctx context.Context, of DeadLettersOf, after string) (out DeadLetters, err error) {
	params := of.params()
	if after != "" {
		params.Set("page_token", after)
	}
	return out, c.get(ctx, opsPath+"/dead-letters", params, &out)
}

// DeadLetterSums returns the numbers of dead letters by kind.
func (c *Client) DeadLetterSums(ctx context.Context, of DeadLettersOf) (out DeadLetterSums, err error) {
	return out, c.get(ctx, opsPath+"/dead-letters/summary", of.params(), &out)
}

// DeadLetter returns all dead letters of one record, PARTITION:OFFSET, whole. Without a pipeline, it looks in all of them.
func (c *Client) DeadLetter(ctx context.Context, record, pipeline string) (out DeadLetters, err error) {
	params := url.Values{}
	if pipeline != "" {
		params.Set("pipeline", pipeline)
	}
	return out, c.get(ctx, opsPath+"/dead-letters/records/"+url.PathEscape(record), params, &out)
}
