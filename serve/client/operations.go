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
	Pattern string   `json:"topic_pattern,omitempty" doc:"Topics whose names match it are read too."`
	Tables  []string `json:"tables" doc:"That its rows are in."`
	Indexes []string `json:"indexes" doc:"That its documents are in."`
	Here    bool     `json:"here" doc:"The brine that answers runs it, perhaps beside others: then it says more of it."`
	Halves  []Half   `json:"halves" doc:"Its rows and its documents, neither of which waits for the other."`
}

// Half is a half of a pipeline: its rows or its documents.
type Half struct {
	Name    string   `json:"name" doc:"Such as orders.rows."`
	Kind    string   `json:"kind" doc:"rows or documents."`
	Group   string   `json:"group" doc:"Its consumer group."`
	State   string   `json:"state" doc:"running; stopped: its group has no member; paused; halted, waiting, retrying, starting, draining or joining: what the worst of its partitions here does; unknown: the brokers did not answer."`
	Detail  string   `json:"detail,omitempty" doc:"Why it does not run."`
	Lag     int64    `json:"lag" doc:"Offsets that are left, an upper bound of the records; -1: not known."`
	Rate    *float64 `json:"offsets_per_second,omitempty" doc:"That were settled lately. Absent until it is known, within seconds of the first question."`
	Arrives *float64 `json:"arriving_per_second,omitempty" doc:"That came to the topics lately."`
	Age     *float64 `json:"age_seconds,omitempty" doc:"How old the oldest record is that is not settled, of the partitions here."`
	Members []string `json:"members" doc:"Of the group; one that was killed is one until its session ends."`
	Regions int      `json:"regions,omitempty" doc:"That it writes to."`

	Paused    bool    `json:"paused,omitempty" doc:"Somebody has paused it; it stands still until it is resumed."`
	RateLimit float64 `json:"rate_limit,omitempty" doc:"Records a second that the whole group is asked to keep to."`
	AskedBy   string  `json:"asked_by,omitempty" doc:"Who has asked for that last."`
	AskedAt   string  `json:"asked_at,omitempty"`

	Step     string   `json:"limiting_step,omitempty" doc:"Where it runs here: the step that holds up the others, such as server or fetch."`
	LagBytes *int64   `json:"lag_bytes,omitempty" doc:"Where it runs here: of the records that lag, about."`
	Drain    *float64 `json:"drain_seconds,omitempty" doc:"Where it runs here: until nothing lags, at the rates of the last minute; -1: never, it grows."`

	Counts     *HalfCounts `json:"counts,omitempty" doc:"Of this brine, where it runs here."`
	Partitions []Partition `json:"partitions,omitempty" doc:"In the list of all pipelines they are left out."`
}

// HalfCounts are the counters of a half since the start of the brine that answers.
type HalfCounts struct {
	Events      int64  `json:"events" doc:"Records that were settled."`
	Batches     int64  `json:"batches"`
	Retries     int64  `json:"retries" doc:"Mutations or events that were written again."`
	Retried     string `json:"retried,omitempty" doc:"Why, the last time."`
	Cause       string `json:"cause,omitempty" doc:"Of retries that go on: the server, and what it said."`
	DeadLetters int64  `json:"dead_letters"`
	Ties        int64  `json:"ties" doc:"Cells of which two changes of one version say different things."`
}

// Partition is the position of a half in a partition.
type Partition struct {
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Earliest  int64    `json:"earliest" doc:"Of the log; -1: not known."`
	Committed *int64   `json:"committed,omitempty" doc:"What is read next after a start; absent: nothing is committed."`
	Latest    int64    `json:"latest" doc:"Where the log ends."`
	Lag       int64    `json:"lag"`
	Here      bool     `json:"here" doc:"The brine that answers has it. What follows is known of such partitions only."`
	State     string   `json:"state,omitempty"`
	Reason    string   `json:"reason,omitempty" doc:"Why it is halted, waits or is retried."`
	Detail    string   `json:"detail,omitempty" doc:"The same in words."`
	Watermark *int64   `json:"watermark,omitempty" doc:"Everything below is settled."`
	Since     string   `json:"since,omitempty" doc:"When the watermark last moved, or last had nothing before it."`
	Age       *float64 `json:"age_seconds,omitempty"`
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
	Pipelines []string `json:"pipelines" doc:"That write it."`
	Regions   int      `json:"regions"`
	Servers   int      `json:"servers" doc:"That have a region of it."`
	MB        int64    `json:"mb" doc:"In files and in memory."`
	Detail    string   `json:"detail,omitempty" doc:"Why nothing is known of it."`

	Families []StoredFamily    `json:"families"`
	Settings map[string]string `json:"settings" doc:"Of the table as a whole, by HBase's own names."`
}

// StoredFamily is a column family as the cluster has it.
type StoredFamily struct {
	Name     string            `json:"name"`
	Settings map[string]string `json:"settings" doc:"By HBase's own names, such as TTL in seconds."`
}

// Regions are the regions of a table, sorted by key.
type Regions struct {
	Table   string   `json:"table"`
	Regions []Region `json:"regions"`
}

// Region is a region with its load.
type Region struct {
	Name     string  `json:"name" doc:"Encoded."`
	Start    string  `json:"start" doc:"First key, as HBase's shell prints keys; empty: from the beginning."`
	End      string  `json:"end" doc:"Key behind it; empty: to the end."`
	Fields   string  `json:"start_fields,omitempty" doc:"Those that the start key holds whole."`
	Server   string  `json:"server"`
	State    string  `json:"state,omitempty"`
	FilesMB  int64   `json:"files_mb"`
	MemoryMB int64   `json:"memstore_mb"`
	Files    int64   `json:"files"`
	Reads    int64   `json:"reads" doc:"Since the region was opened."`
	Writes   int64   `json:"writes"`
	Locality float64 `json:"locality" doc:"Part of the files that lies on the region's server."`
}

// Skew is how unevenly tables are distributed.
type Skew struct {
	Here   bool        `json:"here" doc:"The brine that answers writes the tables: else their rows are not counted, and what the cluster reports is all that is known."`
	Tables []SkewTable `json:"tables"`
	Hot    []HotSpot   `json:"hot" doc:"The hottest first."`
}

// SkewTable is how unevenly one table is distributed.
type SkewTable struct {
	Table       string       `json:"table"`
	Rows        int64        `json:"rows" doc:"Written since the start."`
	Total       SkewIndices  `json:"total" doc:"Rows over regions, since the start."`
	Recent      SkewIndices  `json:"recent" doc:"In the last minute."`
	FiveMinutes SkewIndices  `json:"five_minutes"`
	Hour        SkewIndices  `json:"hour"`
	Beyond      SkewIndices  `json:"beyond_chance" doc:"recent without what chance makes of as many rows."`
	Servers     SkewIndices  `json:"server_writes" doc:"Rows of the last minute over servers."`
	Data        *SkewIndices `json:"data,omitempty" doc:"Sizes of the regions, as the cluster reports them."`
	Regions     []SkewRegion `json:"regions" doc:"In the order of their keys."`
	Heavy       []HeavyKey   `json:"heavy_keys" doc:"What most rows begin with."`
	Writers     []SkewWriter `json:"writers" doc:"Who writes most, in the last half to whole minute."`
	Warnings    []string     `json:"warnings"`
}

// SkewIndices measure how uneven counts are.
type SkewIndices struct {
	MaxMean  float64 `json:"max_mean" doc:"The largest over the mean: 1 is even."`
	CV       float64 `json:"cv" doc:"Standard deviation over mean: 0 is even."`
	Gini     float64 `json:"gini" doc:"0 is even, almost 1 all in one."`
	Entropy  float64 `json:"entropy" doc:"0 is even, 1 all in one."`
	P99Mean  float64 `json:"p99_mean"`
	TopShare float64 `json:"top_share" doc:"What the top hundredth, one at least, takes of all."`
	Cost     float64 `json:"hbase_cost" doc:"What HBase's balancer makes of it: it acts above 0.025."`
}

// SkewRegion is the load of a region.
type SkewRegion struct {
	Name     string   `json:"name"`
	Start    string   `json:"start"`
	Server   string   `json:"server"`
	Rows     int64    `json:"rows" doc:"Written by this brine since its start."`
	Bytes    int64    `json:"bytes"`
	Minute   int64    `json:"rows_last_minute"`
	Rate     float64  `json:"rows_per_second" doc:"Now."`
	HotSince string   `json:"hot_since,omitempty"`
	MB       *int64   `json:"mb,omitempty" doc:"As the cluster reports it, with what all of its clients do."`
	Reads    *float64 `json:"reads_per_second,omitempty"`
	Writes   *float64 `json:"writes_per_second,omitempty"`
}

// HeavyKey is a prefix of many rows.
type HeavyKey struct {
	Key   string  `json:"key"`
	Text  string  `json:"text,omitempty" doc:"The fields that it holds."`
	Rows  int64   `json:"rows" doc:"At most; error is how many fewer they may be."`
	Error int64   `json:"error"`
	Share float64 `json:"share"`
}

// SkewWriter is a writer to a table, as far as records name it.
type SkewWriter struct {
	Pipeline  string  `json:"pipeline"`
	Topic     string  `json:"topic"`
	Partition int64   `json:"partition"`
	Producer  int64   `json:"producer" doc:"The id that Kafka has given the producer; -1: its batches carry none."`
	Name      string  `json:"name,omitempty" doc:"What the header says that the pipeline's writer_header names."`
	Records   int64   `json:"records" doc:"At most; error is how many fewer they may be."`
	Error     int64   `json:"error"`
	Share     float64 `json:"share"`
}

// HotSpot is a region or a server with much more load than the mean.
type HotSpot struct {
	Table    string   `json:"table,omitempty"`
	Region   string   `json:"region,omitempty"`
	Server   string   `json:"server"`
	Since    string   `json:"since"`
	Severity string   `json:"severity" doc:"notice, warning or critical."`
	Rate     float64  `json:"rows_per_second"`
	Times    float64  `json:"times_mean"`
	Share    float64  `json:"share"`
	Cause    string   `json:"cause"`
	Why      string   `json:"why"`
	Advice   []string `json:"advice" doc:"What helps, the best first, with what is foreseen of it."`

	Actions []HotAction `json:"actions" doc:"Those of the advice that a job does: region-split and region-move."`
}

// HotAction is an action that helps against a hot spot.
type HotAction struct {
	Job    string `json:"job" doc:"The kind of job that does it; its body has the other fields but for text."`
	Text   string `json:"text" doc:"What it does, and what is foreseen of it."`
	Table  string `json:"table"`
	Region string `json:"region"`
	At     string `json:"at,omitempty"`
	To     string `json:"to,omitempty"`
}

// HeatMap is rows and bytes per second by key range and time.
type HeatMap struct {
	Table  string      `json:"table"`
	Starts []string    `json:"starts" doc:"Of the key ranges, in order."`
	Labels []string    `json:"labels" doc:"Of the key ranges: the salt and the fields that the start holds whole; empty where there are none."`
	Times  []string    `json:"times" doc:"When the columns end."`
	Rows   [][]float64 `json:"rows" doc:"A second: by range, then by time."`
	Bytes  [][]float64 `json:"bytes"`
	Most   float64     `json:"most" doc:"Of rows."`
	Hot    []HotRange  `json:"hot" doc:"The regions that are hot now; none of an earlier time."`
	Kept   int         `json:"kept_minutes" doc:"How far back maps go here."`
	Detail string      `json:"detail,omitempty" doc:"Why it shows no more than what this process has written: the history does not answer."`
}

// HotRange is where a hot region lies on a map: the key ranges in [From, To).
type HotRange struct {
	Region string `json:"region"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
}

// HeatMapOf selects a part of a heat map; 0: the default.
type HeatMapOf struct {
	Minutes, Ranges, Columns int
	Until                    string // a time; empty: now
}

// TableSizes is the size of a table over time.
type TableSizes struct {
	Table string      `json:"table"`
	Sizes []TableSize `json:"sizes" doc:"The oldest first; nothing where map.history is not set."`
}

// TableSize is the size of a table at a time.
type TableSize struct {
	At string `json:"at"`
	MB int64  `json:"mb" doc:"In files and in memory, of all regions."`
}

// Configuration is the running configuration.
type Configuration struct {
	YAML string `json:"yaml" doc:"As it was written, environment variables and files by their names, and without secrets. What is not in it has its default."`
}

// Offsets are the positions of groups in their topics.
type Offsets struct {
	Positions []GroupPosition `json:"positions"`
}

// GroupPosition is the position of a group in a partition.
type GroupPosition struct {
	Pipeline  string   `json:"pipeline" doc:"Its half, such as orders.rows."`
	Group     string   `json:"group"`
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Earliest  int64    `json:"earliest"`
	Committed *int64   `json:"committed,omitempty" doc:"Absent: nothing."`
	Latest    int64    `json:"latest"`
	Lag       int64    `json:"lag"`
	Members   []string `json:"members" doc:"One that was killed is one until its session ends."`
}

// HalvesOf selects halves of pipelines.
type HalvesOf struct {
	Pipeline string `json:"pipeline,omitempty" doc:"Left out: all."`
	Half     string `json:"half,omitempty" doc:"rows or documents; left out: both."`
	Topic    string `json:"topic,omitempty" doc:"Of the topics that a pipeline reads; left out: all."`
}

// SetOffsets requests new offsets for groups without members.
type SetOffsets struct {
	HalvesOf
	To         string `json:"to" doc:"earliest, latest, a time, how long ago (2h), offsets (0:1200,1:900), or +N or -N offsets from where it is."`
	Partitions []int  `json:"partitions,omitempty" doc:"Left out: those of the offsets, else all."`
	DryRun     bool   `json:"dry_run,omitempty" doc:"Only say what would change."`
}

// OffsetMoves are the changes that were made, or would be.
type OffsetMoves struct {
	Moves []OffsetMove `json:"moves" doc:"Of the partitions that go on elsewhere; the others are there already."`
	Done  bool         `json:"done"`
	InUse string       `json:"in_use,omitempty" doc:"Of a dry run: why it would be refused."`
}

// OffsetMove is the change to one partition of a group.
type OffsetMove struct {
	Pipeline  string `json:"pipeline"`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Now       *int64 `json:"now,omitempty" doc:"Absent: nothing is committed."`
	Then      int64  `json:"then"`
	Again     int64  `json:"again" doc:"Offsets that are read again: an upper bound of the records, as skipped is."`
	Skipped   int64  `json:"skipped" doc:"Offsets that are never read."`
}

// DeadLettersOf selects dead letters.
type DeadLettersOf struct {
	Pipeline   string   `json:"pipeline,omitempty" doc:"Left out: all."`
	Half       string   `json:"half,omitempty" doc:"rows or documents; left out: both."`
	Reasons    []string `json:"reasons,omitempty"`
	Since      string   `json:"since,omitempty" doc:"Written at this time or later, or so long ago (2h)."`
	Until      string   `json:"until,omitempty"`
	Partitions []int    `json:"partitions,omitempty" doc:"Of the record's own topic."`
	Key        string   `json:"key,omitempty" doc:"Of the record; bytes that are no text as \\xNN."`
	Text       string   `json:"text,omitempty" doc:"That the record, or the letter's field or detail, holds; refused where fields are masked."`
	All        bool     `json:"all,omitempty" doc:"Also those that have been replayed."`
}

// DeadLetters is a page of dead letters.
type DeadLetters struct {
	DeadLetters []DeadLetter `json:"dead_letters"`
	Next        string       `json:"next_page_token" doc:"What page_token takes to go on, with the same parameters; empty at the end."`
}

// DeadLetter is a record that could not be written, and why.
type DeadLetter struct {
	Pipeline  string            `json:"pipeline" doc:"The half that rejected it."`
	Topic     string            `json:"topic"`
	Partition int               `json:"partition"`
	Offset    int64             `json:"offset"`
	Time      string            `json:"time" doc:"The record's."`
	Reason    string            `json:"reason"`
	Field     string            `json:"field,omitempty"`
	Detail    string            `json:"detail,omitempty"`
	Fix       string            `json:"fix,omitempty" doc:"Of one that is asked for alone, as are headers and value."`
	Written   string            `json:"written"`
	Replayed  string            `json:"replayed,omitempty"`
	Let       string            `json:"let,omitempty" doc:"What the record was fixed by when it was replayed."`
	Place     string            `json:"place" doc:"In the topic of dead letters."`
	Key       string            `json:"key,omitempty" doc:"Bytes that are no text as \\xNN, here and below."`
	Headers   []DeadHeader      `json:"headers,omitempty"`
	Value     string            `json:"value,omitempty"`
	Masked    bool              `json:"masked,omitempty" doc:"key and value say only how long they are; fields has what may be shown."`
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
	Other    bool   `json:"other,omitempty" doc:"All kinds for which there was no room."`
	Letters  int    `json:"letters"`
	First    string `json:"first"`
	Last     string `json:"last"`
	Example  string `json:"example" doc:"PARTITION:OFFSET of the last one's record."`
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

// HeatMap returns rows and bytes per second of a table's key ranges over time.
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
	if of.Until != "" {
		params.Set("until", of.Until)
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
