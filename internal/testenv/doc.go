// Package testenv provides the servers that tests run against: real Kafka, HBase and Elasticsearch when deploy/devcluster has
// them running, HBase's own Java client and Debezium when Java is there, a PostgreSQL and a KDC of the test's
// own, kfake in this process always, and a clock that stands until it is moved. Tests of any package import it, nothing else does.
//
// A real server is named by BRINE_REAL_KAFKA, BRINE_REAL_HBASE, BRINE_REAL_HBASE_ZK, BRINE_REAL_HBASE_TLS, BRINE_REAL_HBASE_KERBEROS,
// BRINE_REAL_ELASTICSEARCH, BRINE_REAL_ELASTICSEARCH9 or BRINE_REAL_OPENSEARCH, else by deploy/devcluster/run/env, which `make real-up`
// writes. A test whose server is missing or does not answer is skipped with the reason. BRINE_REAL=required makes that a failure;
// BRINE_REAL=off skips every such test.
//
// The invariant: what it returns answered a moment ago, and nothing of it outlives the test, the servers aside.
package testenv
