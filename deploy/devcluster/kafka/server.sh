# shellcheck shell=bash
# Kafka: broker and controller in one process (KRaft), with three listeners: plain text, SCRAM over TLS, and TLS that asks for the client's
# certificate. devcluster sources this file.

start_kafka() {
  local dir=$1 port controller scram mtls
  read -r port controller scram mtls < <(ports kafka 4)
  certificates "$dir/tls" >>"$dir/log" 2>&1 || return
  cat >"$dir/server.properties" <<END
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,SCRAM://127.0.0.1:$scram,MTLS://127.0.0.1:$mtls,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port,SCRAM://127.0.0.1:$scram,MTLS://127.0.0.1:$mtls
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SCRAM:SASL_SSL,MTLS:SSL,CONTROLLER:PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location=$dir/tls/server.pem
ssl.truststore.type=PEM
ssl.truststore.location=$dir/tls/ca.pem
listener.name.mtls.ssl.client.auth=required
listener.name.scram.sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512
listener.name.scram.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.scram.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
controller.quorum.bootstrap.servers=127.0.0.1:$controller
log.dirs=$dir/data
auto.create.topics.enable=false
num.partitions=1
message.max.bytes=16777216
replica.fetch.max.bytes=16777216
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=33554432
END
  java -Xmx128m -cp "$lib/kafka/*" kafka.tools.StorageTool format --standalone -t brinedevclusterAAAAAAA \
    -c "$dir/server.properties" --ignore-formatted >>"$dir/log" 2>&1 || return
  launch kafka java -Xms256m -Xmx512m -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.showDateTime=true \
    -cp "$lib/kafka/*" kafka.Kafka "$dir/server.properties"
}

ready_kafka() { echo "Kafka Server started"; }

env_kafka() {
  read -r port _ scram mtls <"$1/ports"
  echo "BRINE_REAL_KAFKA=127.0.0.1:$port"
  echo "BRINE_REAL_KAFKA_SCRAM=127.0.0.1:$scram"
  echo "BRINE_REAL_KAFKA_MTLS=127.0.0.1:$mtls"
  echo "BRINE_REAL_KAFKA_CERTIFICATES=$1/tls"
}

fetch_kafka() { maven kafka copy-dependencies "-DoutputDirectory=$1"; }
