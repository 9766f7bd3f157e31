package config

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Brokers is a configuration of section kafka alone, all of it from the environment, for commands that need only brokers. It has
// no pipelines but those that Found adds.
func Brokers(env func(string) (string, bool)) (*Config, Problems) {
	l := newLoader("", env)
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	l.overlay(root)
	cfg := new(Config)
	l.object(nil, reflect.ValueOf(cfg).Elem(), "")
	l.object(l.section(root, "kafka"), reflect.ValueOf(&cfg.Kafka).Elem(), "kafka")
	l.checkKafka(&cfg.Kafka)
	return l.done(cfg)
}

// Found adds a half, rows or documents, of a pipeline that is known by what brokers keep of it; or, of a topic alone, neither.
func (c *Config) Found(name, topic, half string) *Pipeline {
	i := slices.IndexFunc(c.Pipelines, func(p *Pipeline) bool { return p.Name == name && p.Topic == topic })
	if i < 0 {
		i, c.Pipelines = len(c.Pipelines), append(c.Pipelines, &Pipeline{Name: name, Topic: topic, config: c})
	}
	p := c.Pipelines[i]
	switch half {
	case "rows":
		p.Rows = []Rows{{}}
	case "documents":
		p.Documents = []Documents{{}}
	}
	return p
}

// PipelineOf takes the name of a consumer group apart, as RowsGroup and DocumentsGroup put it together.
func (k *Kafka) PipelineOf(group string) (name, half string, ok bool) {
	rest, ok := strings.CutPrefix(group, k.Group+".")
	at := strings.LastIndexByte(rest, '.')
	if !ok || at < 1 || rest[at:] != ".rows" && rest[at:] != ".documents" {
		return "", "", false
	}
	return rest[:at], rest[at+1:], true
}
