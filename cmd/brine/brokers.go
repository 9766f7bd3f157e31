package main

import (
	"fmt"
	"os"
	"strings"

	"brine/config"
)

// brokersFlag is the flag of commands that need only brokers.
type brokersFlag struct {
	Brokers []string `placeholder:"HOST:PORT,…" help:"Kafka brokers to use instead of the configuration's; no configuration is then needed. BRINE_KAFKA_BROKERS does the same; other BRINE_KAFKA_… variables set credentials."`
}

const brokersVariable = config.EnvPrefix + "KAFKA_BROKERS"

// config loads the configuration. If there is no file and brokers are given, it builds one from the environment; that one has no pipelines.
func (f brokersFlag) config(e *env, file configFlag) (*config.Config, error) {
	if len(f.Brokers) > 0 {
		e = e.with(brokersVariable, strings.Join(f.Brokers, ","))
		e.brokers = true
	}
	_, given := e.getenv(brokersVariable)
	if given && !e.named && file.Config == defaultConfig && !exists(file.Config) {
		cfg, problems := config.Brokers(e.getenv)
		return loaded(e, cfg, problems, e.seriously)
	}
	cfg, err := file.load(e)
	if err != nil && !given && !exists(file.Config) {
		fmt.Fprintln(e.stderr, "hint: --brokers HOST:PORT needs no configuration")
	}
	return cfg, err
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// with returns a copy of e with one more environment variable.
func (e *env) with(name, value string) *env {
	changed := *e
	changed.getenv = func(asked string) (string, bool) {
		if asked == name {
			return value, true
		}
		return e.getenv(asked)
	}
	return &changed
}

// servers fills in the servers that no flag names from the environment.
func (c *initCmd) servers(e *env) {
	of := func(variable, otherwise string) string {
		if value, ok := e.getenv(variable); ok && strings.TrimSpace(value) != "" {
			return value
		}
		return otherwise
	}
	if len(c.Brokers) == 0 {
		for broker := range strings.SplitSeq(of(brokersVariable, "localhost:9092"), ",") {
			c.Brokers = append(c.Brokers, strings.TrimSpace(broker))
		}
	}
	if c.HBase == "" {
		c.HBase = of(config.EnvPrefix+"HBASE_CONNECT", "rpc://localhost:16000")
	}
}
