package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"brine/config"
	"brine/ingest/offsets"
)

// brokersFlag is the flag of commands that need no more than brokers.
type brokersFlag struct {
	Brokers []string `placeholder:"HOST:PORT,…" help:"Brokers, in place of those of the configuration; then none is needed. So it is with BRINE_KAFKA_BROKERS, and the other BRINE_KAFKA_… say how to log in."`
}

const brokersVariable = config.EnvPrefix + "KAFKA_BROKERS"

// config is the configuration, or, where there is no file and brokers are given, what the environment says of them: it has no
// pipelines then.
func (f brokersFlag) config(e *env, file configFlag) (*config.Config, error) {
	if len(f.Brokers) > 0 {
		e = e.with(brokersVariable, strings.Join(f.Brokers, ","))
		e.brokers = true
	}
	if _, given := e.getenv(brokersVariable); given && file.Config == defaultConfig && !exists(file.Config) {
		cfg, problems := config.Brokers(e.getenv)
		return loaded(e, cfg, problems, seriously)
	}
	cfg, err := file.load(e)
	if err != nil && !exists(file.Config) {
		fmt.Fprintln(e.stderr, "hint: --brokers HOST:PORT needs no configuration")
	}
	return cfg, err
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// with is env with another variable.
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

// findPipelines adds the pipelines whose groups the brokers know to a configuration that has none.
func findPipelines(ctx context.Context, cfg *config.Config, client *offsets.Client) error {
	groups, err := client.Groups(ctx)
	if err != nil {
		return kafkaError(err)
	}
	for _, group := range groups {
		name, half, ok := cfg.Kafka.PipelineOf(group)
		if !ok {
			continue
		}
		topics, err := client.Topics(ctx, group)
		if err != nil {
			return kafkaError(err)
		}
		for _, topic := range topics {
			cfg.Found(name, topic, half)
		}
	}
	if len(cfg.Pipelines) == 0 {
		return &exitError{exitMissing, fmt.Errorf("the brokers know no group %s.PIPELINE.rows or .documents", cfg.Kafka.Group),
			"BRINE_KAFKA_GROUP names another first part of the groups; a pipeline that has committed nothing is known to its configuration only: " +
				"-c FILE"}
	}
	return nil
}

// deadSuffix ends the names of topics of dead letters, where the configuration does not say otherwise.
const deadSuffix = ".dead"

// findDeadLetters adds the topics whose dead letters the brokers hold to a configuration that has no pipelines.
func findDeadLetters(ctx context.Context, cfg *config.Config) error {
	client := lookUps(&cfg.Kafka)
	defer client.Close()
	names, err := client.TopicNames(ctx)
	if err != nil {
		return kafkaError(err)
	}
	for _, name := range names {
		if topic, ok := strings.CutSuffix(name, deadSuffix); ok {
			cfg.Found("", topic, "")
		}
	}
	if len(cfg.Pipelines) == 0 {
		return &exitError{exitMissing, errors.New("the brokers have no topic of dead letters, whose names end in " + deadSuffix),
			"those of other names are known to the configuration only: -c FILE"}
	}
	return nil
}
