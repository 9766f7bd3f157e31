// Package testenv provides the servers that tests run against: real Kafka, HBase and Elasticsearch if deploy/devcluster runs them, HBase's
// own Java client, Debezium and Canal if Java is installed, a PostgreSQL, a MariaDB, a MySQL and a KDC owned by the test, and always kfake
// in the test's process and a clock that stands still until moved. Tests of any package may import it; nothing else does.
//
// The address of a real server is in BRINE_REAL_KAFKA, BRINE_REAL_HBASE, BRINE_REAL_HBASE_ZK, BRINE_REAL_HBASE_TLS,
// BRINE_REAL_HBASE_KERBEROS, BRINE_REAL_ELASTICSEARCH, BRINE_REAL_ELASTICSEARCH9 or BRINE_REAL_OPENSEARCH, or else in
// deploy/devcluster/run/env, which `make real-up` writes. A test whose server is missing or does not answer is skipped with the reason.
// BRINE_REAL=required makes that a failure; BRINE_REAL=off skips every such test.
//
// The invariant: every server that testenv returns answered a moment ago, and nothing outlives the test except the real servers.
package testenv
