package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"

	"brine/config"
)

// brokersFlag is the flag of commands that need no more than brokers.
type brokersFlag struct {
	Brokers []string `placeholder:"HOST:PORT,…" help:"Brokers, in place of those of the configuration; then none is needed. So it is with BRINE_KAFKA_BROKERS, and the other BRINE_KAFKA_… say how to log in."`
}

// config is the configuration, or, where there is no file and brokers are given, what the environment says of them: it has no pipelines then.
func (f brokersFlag) config(e *env, file configFlag) (*config.Config, error) {
	const variable = config.EnvPrefix + "KAFKA_BROKERS"
	if len(f.Brokers) > 0 {
		e = e.with(variable, strings.Join(f.Brokers, ","))
	}
	if _, given := e.getenv(variable); given && file.Config == defaultConfig && !exists(file.Config) {
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
func findPipelines(ctx context.Context, cfg *config.Config, client *kafka.Client) error {
	if _, err := client.Metadata(ctx, &kafka.MetadataRequest{}); err != nil {
		return kafkaError(err) // where no broker answers, kafka-go lists no groups without an error
	}
	resp, err := client.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		return kafkaError(fmt.Errorf("list of groups: %w", err))
	}
	slices.SortFunc(resp.Groups, func(a, b kafka.ListGroupsResponseGroup) int { return strings.Compare(a.GroupID, b.GroupID) })
	for _, g := range resp.Groups {
		name, half, ok := cfg.Kafka.PipelineOf(g.GroupID)
		if !ok {
			continue
		}
		topics, err := committedTopics(ctx, client, g.GroupID)
		if err != nil {
			return err
		}
		for _, topic := range topics {
			cfg.Found(name, topic, half)
		}
	}
	if len(cfg.Pipelines) == 0 {
		return &exitError{exitMissing, fmt.Errorf("the brokers know no group %s.PIPELINE.rows or .documents", cfg.Kafka.Group),
			"BRINE_KAFKA_GROUP names another first part of the groups; a pipeline that has committed nothing is known to its configuration only: -c FILE"}
	}
	return nil
}

// committedTopics are the topics in which a group has committed offsets.
func committedTopics(ctx context.Context, client *kafka.Client, group string) ([]string, error) {
	resp, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		return nil, kafkaError(fmt.Errorf("offsets of group %q: %w", group, err))
	}
	return sortedKeys(resp.Topics), nil
}

// deadSuffix ends the names of topics of dead letters, where the configuration does not say otherwise.
const deadSuffix = ".dead"

// findDeadLetters adds the topics whose dead letters the brokers hold to a configuration that has no pipelines.
func findDeadLetters(ctx context.Context, cfg *config.Config, client *kafka.Client) error {
	meta, err := client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return kafkaError(err)
	}
	for _, t := range meta.Topics {
		if topic, ok := strings.CutSuffix(t.Name, deadSuffix); ok {
			cfg.Found("", topic, "")
		}
	}
	if len(cfg.Pipelines) == 0 {
		return &exitError{exitMissing, errors.New("the brokers have no topic of dead letters, whose names end in " + deadSuffix),
			"those of other names are known to the configuration only: -c FILE"}
	}
	return nil
}
