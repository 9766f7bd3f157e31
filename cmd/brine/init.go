package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"brine/config"
	"brine/internal/term"
	"brine/propose"
)

type initCmd struct {
	Sample       string   `placeholder:"FILE" help:"Sample: a file of JSON lines or CSV (also .gz), an Avro object container file, or topic:NAME (default: the topic of --topic, if brokers are set)."`
	Topic        string   `help:"Topic for the pipeline to read."`
	Brokers      []string `placeholder:"HOST:PORT,…" help:"Kafka brokers (default: BRINE_KAFKA_BROKERS, else localhost:9092)."`
	HBase        string   `name:"hbase" placeholder:"URL" help:"Address of HBase, as in hbase.connect (default: BRINE_HBASE_CONNECT, else rpc://localhost:16000)."`
	Registry     string   `placeholder:"URL" help:"URL of the schema registry, if records begin with a schema id (Avro, Protobuf or JSON)."`
	RegistryUser string   `placeholder:"NAME" help:"User name for the registry; BRINE_REGISTRY_PASSWORD is the password. Or set only BRINE_REGISTRY_TOKEN."`
	Schema       string   `placeholder:"FILE" help:"Schema file (.avsc or .proto) of all records."`
	Message      string   `placeholder:"NAME" help:"Message type of the records in the .proto file."`
	Columns      []string `placeholder:"NAME,…" help:"Column names, if the topic's records are CSV rows (default: c1,c2,…)."`
	Encoding     string   `default:"utf-8" placeholder:"NAME" help:"Encoding of the file: utf-8 (default), latin1, windows-1252, gb18030, utf-16le or another name of the WHATWG Encoding Standard."`
	Records      int      `default:"20000" help:"Maximum number of records to read from the sample (default 20000)."`
	Key          int      `placeholder:"N" help:"Use the Nth proposed key (default: ask in a terminal, else the first)."`
	Output       string   `short:"o" default:"brine.yaml" placeholder:"FILE" help:"File to write (default brine.yaml); - for stdout."`
	Force        bool     `help:"Overwrite the file if it exists."`
	JSON         bool     `help:"Print the proposals as JSON, and write nothing."`
	timeoutFlag
}

// Help returns the detailed help of the command.
func (initCmd) Help() string {
	return `Reads a sample and writes a commented brine.yaml that brine check accepts: the fields with their types and the formats of their
times, a row key with the reasons for it and others to choose from, and the version with its ties in the sample. At a terminal it
asks for what no flag says. Records may be JSON objects or arrays of them, changes as Debezium (also without their envelope), Canal
(also in Protobuf) and Maxwell write them, rows of CSV, texts, and with --registry or --schema Avro and Protobuf. Where nothing is
recognized, it says what it saw. Of an Avro object container file (.avro, as Hadoop and S3 sinks write) it takes the schema, which it
writes beside brine.yaml, and the records.

Examples:
  brine init --topic courier.scans --sample scans.jsonl.gz
  brine init --topic shop.orders --brokers kafka1:9092
  brine init --topic shop.orders --sample orders.csv --key 2 -o -
  brine init --topic shop.orders --registry http://localhost:8081
  brine init --topic shop.orders --schema orders.proto --message shop.Order
  brine init --topic shop.orders --sample orders.avro
  brine init --topic parcels --columns id,at,status`
}

func (c *initCmd) Run(e *env) error {
	c.servers(e)
	if err := c.ask(e); err != nil {
		return err
	}
	if c.Output != "-" && !c.Force && !c.JSON && exists(c.Output) {
		return usage(fmt.Errorf("-o: %s already exists; name another file, or give --force to overwrite it", c.Output))
	}
	options, err := c.options(e)
	if err != nil {
		return err
	}
	p, err := propose.Of(e.ctx, *options)
	if errors.Is(err, propose.ErrSample) {
		return &exitError{exitFailed, err, ""}
	}
	if err != nil {
		return sampleError(err)
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(p)
	}
	choice, err := c.choose(e, p)
	if err != nil {
		return err
	}
	if c.Output == "-" {
		_, err := e.stdout.Write(p.YAML(choice))
		return err
	}
	if err := c.writeContained(e, options); err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, p.YAML(choice), 0o600); err != nil {
		return err
	}
	if _, problems := config.Load(c.Output, e.getenv); problems.Err() != nil {
		return fmt.Errorf("%s written, but it needs a manual correction: %w", c.Output, problems.Err())
	}
	if p.Single {
		fmt.Fprintln(e.stdout, "one record proves little: review the key and the version, and run brine init again when there are more")
	}
	fmt.Fprintf(e.stdout, "%s written: key %s\nnext: brine check --connect %[1]s\n", c.Output, p.Keys[choice].Expr)
	return nil
}

// ask prompts for what no flag gives, if a person is at the terminal.
func (c *initCmd) ask(e *env) error {
	person := e.stdin != nil && term.IsTerminal(e.stdin)
	if c.Topic == "" {
		c.Topic = strings.TrimPrefix(c.Sample, "topic:")
		if c.Topic == c.Sample {
			c.Topic = ""
		}
	}
	if c.Topic == "" && person {
		fmt.Fprint(e.stderr, "Topic to read: ")
		c.Topic = strings.TrimSpace(readLine(e.stdin))
	}
	if c.Topic == "" {
		return usage(errors.New("--topic: name the topic that the pipeline should read"))
	}
	if c.Sample == "" && person {
		fmt.Fprintf(e.stderr, "File of sample records (empty: read topic %s at %s): ", c.Topic, strings.Join(c.Brokers, ","))
		c.Sample = strings.TrimSpace(readLine(e.stdin))
	}
	if c.Sample == "" {
		c.Sample = "topic:" + c.Topic
	}
	if c.Records < 1 {
		return usage(fmt.Errorf("--records: %d; it must be at least 1", c.Records))
	}
	return nil
}

// beside returns the path of the schema file relative to the folder of the configuration that init writes.
func (c *initCmd) beside() string {
	from, err := filepath.Abs(filepath.Dir(c.Output))
	if c.Schema == "" || c.Output == "-" || err != nil {
		return c.Schema
	}
	file, err := filepath.Abs(c.Schema)
	if err != nil {
		return c.Schema
	}
	if path, err := filepath.Rel(from, file); err == nil {
		return path
	}
	return file
}

// choose returns the index of the key to use, counting from 0.
func (c *initCmd) choose(e *env, p *propose.Proposal) (int, error) {
	n := c.Key
	if n == 0 && len(p.Keys) > 1 && c.Output != "-" && e.stdin != nil && term.IsTerminal(e.stdin) {
		for i, k := range p.Keys {
			fmt.Fprintf(e.stderr, "%d. %s\n   %s\n", i+1, k.Expr, k.Reads)
		}
		for n == 0 {
			fmt.Fprintf(e.stderr, "Key [1]: ")
			answer := cmp.Or(strings.TrimSpace(readLine(e.stdin)), "1") // also at the end of the input
			var err error
			if n, err = strconv.Atoi(answer); err != nil || n < 1 || n > len(p.Keys) {
				fmt.Fprintf(e.stderr, "%q is not a number from 1 to %d\n", answer, len(p.Keys))
				n = 0
			}
		}
	}
	if n == 0 {
		n = 1
	}
	if n < 1 || n > len(p.Keys) {
		return 0, usage(fmt.Errorf("--key: %d; choose from 1 to %d", n, len(p.Keys)))
	}
	return n - 1, nil
}
