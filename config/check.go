package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// check finds conflicts between settings that are each valid on their own.
func (l *loader) check(c *Config) {
	l.checkAddresses(c)
	c.bind()
	for _, p := range c.Pipelines {
		l.checkPipeline(c, p)
	}
	for _, t := range c.Tables {
		l.checkTable(c, t)
		l.checkKeyFields(c, t)
	}
	for _, p := range c.Pipelines {
		l.checkKeyFrom(c, p)
		l.checkFormerKeys(p)
		l.checkTombstones(p)
		l.checkAsked(p)
	}
	for _, x := range c.Indexes {
		l.checkIndex(x)
		l.checkParts(c, x)
		l.checkRouting(c, x)
		l.checkPurge(c, x)
	}
	l.checkMemory(c)
	l.checkProcess(c)
	if l.problems.Err() == nil { // otherwise it is unknown what is used
		l.checkUse(c)
		l.checkChangeable(c)
		l.checkAlike(c)
		for _, p := range c.Pipelines {
			l.checkCommands(c, p)
		}
		for _, v := range c.Views {
			l.checkView(c, v)
		}
	}
}

func (l *loader) checkAddresses(c *Config) {
	l.checkKafka(&c.Kafka)
	l.checkHTTP(&c.HTTP)
	l.checkServe(c)
	l.checkTracing(c.Tracing.To)
	l.checkMap(c)
	l.checkCluster(&c.Cluster)
	l.checkSearch(&c.Search)
	l.checkRegistry(&c.Schemas)
	c.Search.answer = int64(max(c.Memory/2, 2*leastAnswer))
}

// together reports a setting that is present without another one of its section that it needs.
func (l *loader) together(section, setting, needs string) {
	if l.has(join(section, setting)) && !l.has(join(section, needs)) {
		l.fault(join(section, setting), Missing, "does nothing without "+needs, "write "+needs+" too")
	}
}

// hostPort returns the fix if s is not host:port, else "". Port 0 and an empty host are valid only for listening.
func hostPort(s string, dial bool) string {
	const fix = "write host:port"
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, "/@ ") || dial && host == "" {
		return fix
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || dial && n == 0 {
		return fix + ", with a port up to 65535"
	}
	return ""
}

// fewRetries is the least number of retries that causes no warning. With HBase's back-off table, fewer end within a second, before a region
// has moved.
const fewRetries = 3

func (l *loader) checkRetries(setting string, retries int) {
	if retries > 0 && retries < fewRetries && l.has(setting) {
		l.warn(setting, FewRetries, "so few retries run out before a region has moved or split: its rows then fail, and the loop "+
			"resubmits their events again and again, which takes longer", "leave it at 15")
	}
}

// fetchesHeld is the number of fetches that ingest wants a loop's budget to hold.
const fetchesHeld = 8

// checkMemory checks that a loop's budget holds the fetches that can be in flight at a time.
func (l *loader) checkMemory(c *Config) {
	if c.Memory == 0 || c.Kafka.MaxFetchBytes == 0 {
		return
	}
	rows, documents := c.loops()
	if least := fetchesHeld * c.Kafka.MaxFetchBytes; c.share() < int64(least) {
		l.fault("memory", Buffer, fmt.Sprintf("leaves %v for the records of each of %d loops, but fetches of %v need %v", Bytes(c.share()),
			rows+documents, c.Kafka.MaxFetchBytes, least),
			fmt.Sprintf("write memory: %v, or a smaller kafka.max_fetch_bytes", least*Bytes(2*(rows+documents))))
	}
}

// beside is what a process needs besides memory and a quarter of it for the collector: tables, stacks, written data.
const beside = 26 << 20

// checkProcess checks that memory, and what it takes to hold it, fits into process_memory.
func (l *loader) checkProcess(c *Config) {
	least := c.Memory/4*5 + beside
	if c.ProcessMemory == 0 || c.Memory == 0 || c.ProcessMemory >= least {
		return
	}
	fix := fmt.Sprintf("write process_memory: %v", mebibytes(least))
	if fits := (c.ProcessMemory - beside) / 5 * 4; fits >= 16<<20 {
		fix += fmt.Sprintf(" or more, or memory: %v or less", fits>>20<<20)
	}
	l.fault("process_memory", Buffer, fmt.Sprintf(
		"is too small for memory (%v), the collector's room and everything else, together %v", c.Memory,
		mebibytes(least)), fix)
}

// mebibytes rounds up to whole MiB.
func mebibytes(b Bytes) Bytes { return (b + 1<<20 - 1) >> 20 << 20 }

// noField reports a field that the pipeline does not declare.
func (l *loader) noField(p *Pipeline, setting, name string) {
	names := make([]string, len(p.Fields))
	for i := range p.Fields {
		names[i] = p.Fields[i].Name
	}
	fix := "declare it in pipelines." + p.Name + ".fields"
	if near := nearest(name, names); near != "" {
		fix = "did you mean " + near + "?"
	}
	l.fault(setting, UnknownField, "the pipeline declares no field "+name, fix)
}

// checkUse warns about declarations that nothing uses.
func (l *loader) checkUse(c *Config) {
	for _, t := range c.Tables {
		if len(writers(c, t.Name)) == 0 {
			l.warnName(join("tables", t.Name), Unused, "no pipeline writes rows to it", "remove it, or name it in a pipeline's rows")
		}
	}
	for _, x := range c.Indexes {
		used := slices.ContainsFunc(c.Pipelines, func(p *Pipeline) bool {
			return slices.ContainsFunc(p.Documents, func(d Documents) bool { return d.Index == x.Name })
		})
		if !used {
			l.warnName(join("indexes", x.Name), Unused, "no pipeline writes documents to it", "remove it, or name it in a pipeline's documents")
		}
	}
	for _, p := range c.Pipelines {
		used := usedFields(c, p)
		for i := range p.Fields {
			if name := p.Fields[i].Name; !used[name] {
				section := ".fields"
				if p.Fields[i].made {
					section = ".let"
				}
				l.warnName(join(join("pipelines", p.Name)+section, name), Unused, "nothing uses this field", "remove it, or set a column from it")
			}
		}
	}
}

// usedFields returns the fields that a version, key, column or document reads.
func usedFields(c *Config, p *Pipeline) map[string]bool {
	at, n := p.versionFields()
	used := map[string]bool{at: true, n: true, p.Images.Deleted: true}
	if in := p.position(); in != nil {
		used[in.LSN], used[in.File], used[in.Pos], used[in.Source] = true, true, true, true
	}
	if p.KeyFrom.table != nil {
		for _, name := range p.KeyFrom.table.rowKeys.Fields() {
			used[name] = true
		}
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		for _, name := range c.Table(r.Table).rowKeys.Fields() {
			used[r.eventField(name)] = true
		}
		for _, e := range r.Each {
			for _, text := range e.texts() {
				used[textField(text).Field] = true
			}
		}
		used[r.TTL], used[r.deleted()] = true, true
		for _, column := range r.Set {
			used[column.Field] = true
		}
		for i := range r.Pack {
			for _, f := range p.packedFields(&r.Pack[i]) {
				used[f.Field] = true
			}
		}
	}
	for _, name := range p.expressed() {
		used[name] = true
	}
	for _, d := range p.Documents {
		used[d.deleted(p)] = true
		for _, f := range d.Set {
			used[f.Field] = true
		}
	}
	return used
}
