package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/event/avro"
	"brine/forecast"
	"brine/propose"
	"brine/service/brokers"
)

// options returns how to read the sample.
func (c *initCmd) options(e *env) (*propose.Options, error) {
	o := &propose.Options{Topic: c.Topic, Brokers: c.Brokers, HBase: c.HBase, Source: filepath.Base(c.Sample), Records: c.Records,
		Schema: c.Schema, SchemaAs: c.beside(), Message: c.Message, RegistryUser: c.RegistryUser, Columns: c.Columns}
	if c.Registry != "" {
		at, problems := config.RegistryAt(c.Registry, c.RegistryUser, e.getenv)
		if err := problems.Err(); err != nil {
			return o, usage(fmt.Errorf("--registry: %w", err))
		}
		o.Registry = at
	}
	name, ok := strings.CutPrefix(c.Sample, "topic:")
	if !ok {
		if isContainer(c.Sample) {
			return o, c.contained(o)
		}
		o.Texts = forecast.IsCSV(c.Sample)
		o.Open = func(fields []event.Field) (forecast.Sample, error) {
			sample, err := forecast.OpenFile(c.Sample, c.Encoding, fields)
			return sample, sampleError(err)
		}
		return o, nil
	}
	o.Keyed, o.Source = true, "topic "+name
	o.Open = func([]event.Field) (forecast.Sample, error) {
		topic, n, err := forecast.ParseTopic(name)
		if err != nil {
			return nil, sampleError(err)
		}
		cfg, problems := config.Brokers(e.with(brokersVariable, strings.Join(c.Brokers, ",")).getenv)
		if err := problems.Err(); err != nil {
			return nil, usage(fmt.Errorf("--brokers: %w", err))
		}
		return brokers.Topics{Config: cfg}.Sample(e.ctx, topic, min(n, int64(c.Records)))
	}
	return o, nil
}

// isContainer reports whether a file begins as an Avro object container file does; a file that cannot be read is reported elsewhere.
func isContainer(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	begins := make([]byte, len(avro.ContainerBegins))
	_, err = io.ReadFull(file, begins)
	return err == nil && string(begins) == avro.ContainerBegins
}

// contained reads the sample from an Avro object container file.
func (c *initCmd) contained(o *propose.Options) error {
	file, err := os.Open(c.Sample)
	if err != nil {
		return err
	}
	defer file.Close()
	held, err := avro.ReadContainer(file, c.Records)
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("%w: %s is an Avro object container file, but %w", propose.ErrSample, c.Sample, err), ""}
	}
	records, now := make([]event.Record, len(held.Values)), time.Now().UnixMilli()
	for i, value := range held.Values {
		records[i] = event.Record{Value: value, Timestamp: now}
	}
	base := filepath.Base(c.Sample)
	o.Container, o.SchemaAs = held.Schema, strings.TrimSuffix(base, filepath.Ext(base))+".avsc"
	o.Open = func([]event.Field) (forecast.Sample, error) { return forecast.OfRecords(records), nil }
	return nil
}

// writeContained writes the schema that a container holds beside the configuration, which names it.
func (c *initCmd) writeContained(e *env, o *propose.Options) error {
	if o.Container == "" || o.Registry != nil {
		return nil
	}
	file := filepath.Join(filepath.Dir(c.Output), o.SchemaAs)
	before, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(before, []byte(o.Container)):
		return nil
	case err == nil && !c.Force:
		return usage(fmt.Errorf("%s, where the schema in %s is to be written, already exists; move it, or give --force to overwrite it",
			file, o.Source))
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := os.WriteFile(file, []byte(o.Container), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s written: the schema in %s\n", file, o.Source)
	return nil
}
