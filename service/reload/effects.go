package reload

import (
	"fmt"
	"strings"
	"sync"

	"brine/config"
)

// Effect is what it takes for a changed setting to take effect in a running brine.
type Effect string

// Effects, mildest first.
const (
	Elsewhere Effect = "serve"   // it belongs to brine serve, which reads it at startup; brine run does not use it
	Live      Effect = "live"    // it takes effect at once, and nothing stops
	Drain     Effect = "drain"   // the affected pipelines settle, commit, and continue with it from their commit
	Onward    Effect = "onward"  // as Drain; what was written before is kept, so the offset where it takes effect is recorded
	Restart   Effect = "restart" // it belongs to the whole process
	Replay    Effect = "replay"  // it identifies rows and documents, or determines what stored ones mean
)

// effects are the effects of all settings, by section and effect. + and - (config.Comes, config.Goes) are an element that is added or
// removed. A test checks that each setting has one effect.
var effects = map[string]map[Effect]string{
	"": {Restart: "memory process_memory"},
	"kafka": {Restart: "brokers group client_id control_topic instance_id request_timeout",
		Drain: "start topic_refresh group_protocol out_of_range session_timeout rebalance_timeout commit_interval stop_timeout max_fetch_bytes"},
	"kafka.tls":           {Restart: "enabled ca cert key server_name"},
	"kafka.sasl":          {Restart: "mechanism user password"},
	"kafka.sasl.oauth":    {Restart: "token_url client_id client_secret scope audience ca token_file extensions"},
	"kafka.sasl.kerberos": {Restart: "principal keytab ticket_cache krb5_conf server_principal"},
	"kafka.sasl.aws":      {Restart: "access_key_id secret_access_key session_token"},
	"hbase": {Restart: "connect zookeeper_auth user pause pause_server_overloaded retries rpc_timeout operation_timeout scanner_timeout " +
		"dial_timeout tcp_keepalive tcp_nodelay max_request_rows max_request_bytes max_server_calls max_cell_bytes compression"},
	"hbase.tls":      {Restart: "enabled ca cert key server_name min_version zookeeper"},
	"hbase.kerberos": {Restart: "principal keytab ticket_cache krb5_conf server_principal qop"},
	"search": {Restart: "connect user password api_key ca analyzer shards replicas refresh calls max_bulk_documents max_bulk_bytes " +
		"max_document_bytes call_timeout retry_for pause max_pause probe"},
	"registry":                   {Restart: "url framing user password token cache timeout unknown_after"},
	"registry.tls":               {Restart: "ca cert key server_name"},
	"http":                       {Restart: "listen hosts token pprof", Live: "stall"},
	"http.tls":                   {Restart: "cert key client_ca min_version"},
	"serve":                      {Elsewhere: "listen hosts timeout in_flight streams trusted_proxies public_rate"},
	"serve.tls":                  {Elsewhere: "cert key client_ca min_version"},
	"serve.cache":                {Elsewhere: "max_age own_max_age bytes"},
	"serve.sql":                  {Elsewhere: "timeout in_flight"},
	"serve.ops":                  {Elsewhere: "listen"},
	"accounts":                   {Elsewhere: "connect user password ca session_idle session_max"},
	"accounts.oidc":              {Elsewhere: "issuer client_id client_secret url name scopes role_claim name_claim owner_claim ca"},
	"accounts.oidc.roles":        {Elsewhere: "+ -"},
	"accounts.oidc.roles.<name>": {Elsewhere: "role"},
	"tracing":                    {Restart: "to one_in"},
	"map":                        {Restart: "history"},

	"tables": {Live: "+ -"},
	"tables.<name>": {Replay: "row key", Elsewhere: "owner roles public",
		Live: "queries regions splits max_filesize memstore_flushsize durability"}, // brine tables apply changes tables
	"tables.<name>.keys":     {Replay: "+ -"},
	"tables.<name>.keys[]":   {Replay: "from key"},
	"tables.<name>.families": {Live: "+", Replay: "-"},
	"tables.<name>.families.<name>": {Drain: "ttl", Live: "versions min_versions purge_deletes_after compression bloom block_size " +
		"block_cache encoding in_memory storage_policy replication mob"},
	"indexes":                      {Live: "+ -"},
	"indexes.<name>":               {Replay: "every time routing", Drain: "purge_deletes_after"},
	"indexes.<name>.fields":        {Drain: "+", Replay: "-"},
	"indexes.<name>.fields.<name>": {Replay: "type"},
	"views":                        {Elsewhere: "+ -"},
	"views.<name>":                 {Elsewhere: "table where optional order limit families get counts"},

	"pipelines": {Drain: "+ -"}, // it starts, or drains and stops
	"pipelines.<name>": {Live: "gives_way",
		Drain:  "topic topic_pattern hot_fields writer_header breaking_schema dead_letters halt_after_rejects",
		Onward: "schema key_schema when allowed_lateness",
		Replay: "format framing message key_format key_framing key_message version deletes changes"},
	"pipelines.<name>.topics":          {Drain: "+ -"},
	"pipelines.<name>.topics[]":        {Drain: "name start"},
	"pipelines.<name>.csv":             {Replay: "columns separator"},
	"pipelines.<name>.envelope":        {Replay: "form unwrapped before key", Onward: "truncate message ties database"},
	"pipelines.<name>.fields":          {Onward: "+ -"}, // fields of keys and versions: Replay, see Differences
	"pipelines.<name>.fields.<name>":   {Replay: "type scale", Onward: "path format zone from trim case else default value"},
	"pipelines.<name>.let":             {Onward: "+ -"},
	"pipelines.<name>.let.<name>":      {Onward: "value", Replay: "type"},
	"pipelines.<name>.epochs":          {Replay: "from"},
	"pipelines.<name>.epochs.of":       {Drain: "+", Replay: "-"},
	"pipelines.<name>.images":          {Replay: "before after deleted"},
	"pipelines.<name>.key_from":        {Replay: "table", Drain: "wait"},
	"pipelines.<name>.rows":            {Onward: "+", Replay: "-"},
	"pipelines.<name>.rows[]":          {Replay: "table empty deleted", Onward: "nulls ttl when otherwise hard_deletes"},
	"pipelines.<name>.rows[].set":      {Onward: "+", Replay: "-"},
	"pipelines.<name>.rows[].pack":     {Onward: "+", Replay: "-"},
	"pipelines.<name>.rows[].as":       {Replay: "+ -"},
	"pipelines.<name>.rows[].each":     {Replay: "+ -"},
	"pipelines.<name>.documents":       {Onward: "+", Replay: "-"},
	"pipelines.<name>.documents[]":     {Replay: "index table deleted", Onward: "when otherwise"},
	"pipelines.<name>.documents[].set": {Onward: "+", Replay: "-"},
	"pipelines.<name>.read":            {Drain: "max_batch_records max_batch_bytes window rate max_pause halt_pause"},
	"pipelines.<name>.write":           {Drain: "autoflush write_buffer linger retries pause durability"},
	"pipelines.<name>.commands":        {Elsewhere: "table state states record_key partitioner topic answer_within"},
	"pipelines.<name>.mask":            {Drain: "+ -"},
	"pipelines.<name>.mask[]":          {Drain: "field shown_to"},

	"pipelines.<name>.fields.<name>.enum":                     {Onward: "+ -"},
	"pipelines.<name>.fields.<name>.enum.<name>":              {Onward: "to"},
	"pipelines.<name>.epochs.of.<name>":                       {Replay: "epoch"},
	"pipelines.<name>.rows[].set.<name>":                      {Replay: "field", Onward: "except limit"},
	"pipelines.<name>.rows[].pack.<name>":                     {Replay: "format"},
	"pipelines.<name>.rows[].pack.<name>.fields":              {Onward: "+", Replay: "-"},
	"pipelines.<name>.rows[].pack.<name>.fields.<name>":       {Replay: "field"},
	"pipelines.<name>.rows[].as.<name>":                       {Replay: "field"},
	"pipelines.<name>.rows[].each.<name>":                     {Replay: "words cjk limit", Onward: "beyond"},
	"pipelines.<name>.documents[].set.<name>":                 {Replay: "field"},
	"pipelines.<name>.commands.transitions":                   {Elsewhere: "+ -"},
	"pipelines.<name>.commands.transitions.<name>":            {Elsewhere: "from to roles take"},
	"pipelines.<name>.commands.transitions.<name>.set":        {Elsewhere: "+ -"},
	"pipelines.<name>.commands.transitions.<name>.set.<name>": {Elsewhere: "value"},
}

// effectsByName maps section and name to effect.
var effectsByName = sync.OnceValue(func() map[string]map[string]Effect {
	out := map[string]map[string]Effect{}
	for section, of := range effects {
		out[section] = map[string]Effect{}
		for effect, names := range of {
			for _, name := range strings.Fields(names) {
				if was, twice := out[section][name]; twice {
					panic(fmt.Sprintf("BUG: %s of section %q is both %s and %s", name, section, was, effect))
				}
				out[section][name] = effect
			}
		}
	}
	return out
})

// effectOf returns the effect of a setting, or of an element that is added or removed. An unlisted setting needs a restart.
func effectOf(section, name string) Effect {
	if e := effectsByName()[section][name]; e != "" {
		return e
	}
	return Restart
}

// described names the effects in the table of docs/live.md.
var described = map[Effect]string{
	Live: "live", Drain: "drain", Onward: "drain, from a recorded offset on", Restart: "restart", Replay: "restart, and replay",
	Elsewhere: "of `brine serve`",
}

// effectsTable returns the table of docs/live.md, which lists the effect of each setting.
func effectsTable() string {
	var b strings.Builder
	b.WriteString("| section | setting | effect |\n|---|---|---|\n")
	for _, section := range config.Sections() {
		by := map[Effect][]string{}
		for _, name := range section.Settings {
			e := effectOf(section.Name, name)
			by[e] = append(by[e], shownName(name))
		}
		for _, e := range []Effect{Live, Drain, Onward, Restart, Replay, Elsewhere} {
			if len(by[e]) > 0 {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", shownSection(section.Name), strings.Join(by[e], ", "), described[e])
			}
		}
	}
	return b.String()
}

func shownSection(name string) string {
	if name == "" {
		return "at the top"
	}
	return "`" + name + "`"
}

func shownName(name string) string {
	switch name {
	case config.Comes:
		return "one that comes"
	case config.Goes:
		return "one that goes"
	}
	return "`" + name + "`"
}
