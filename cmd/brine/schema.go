package main

import (
	"errors"

	"brine/contract"
)

type schemaCmd struct {
	configFlag
	Pipeline string `placeholder:"NAME" help:"Pipeline (default: the only one)."`
	Key      bool   `help:"Print the schema of the records' keys only, in the language of key_format."`
	Format   string `enum:",json-schema,asyncapi,avro,proto" default:"" placeholder:"NAME" help:"Schema language: json-schema, asyncapi, avro or proto (default: that of the pipeline's format)."`
}

// Help returns the detailed help of the command.
func (schemaCmd) Help() string {
	return `Prints what a publisher must send for a pipeline to accept its records: fields with their types and the formats of their times,
which of them are required and why, and the record's key and headers. json-schema: JSON Schema (draft 2020-12) of a
record, for json, json_array, csv and raw. asyncapi: an AsyncAPI 3.0 document of the topic, its brokers and its records, without
secrets. avro and proto: the smallest Avro schema or Protobuf message of the declared fields, or the file that the pipeline names.
--key: the same of the records' keys, as JSON Schema, an Avro schema or a Protobuf message, whichever key_format says.

Examples:
  brine schema -c examples/scans.yaml
  brine schema -c examples/scans.yaml --pipeline scans --format asyncapi
  brine schema -c examples/customers.yaml --key`
}

func (c *schemaCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	p, err := pipeline(cfg, c.Pipeline)
	if err != nil {
		return err
	}
	terms, err := p.Terms()
	if err != nil {
		return err
	}
	if c.Key && c.Format != "" {
		return usage(errors.New("--key prints the schema in the language of the pipeline's key_format; omit --format"))
	}
	describe := func() ([]byte, error) { return terms.In(contract.Language(c.Format)) }
	if c.Key {
		describe = terms.Key
	}
	text, err := describe()
	if err != nil {
		return usage(err)
	}
	_, err = e.stdout.Write(text)
	return err
}
