# shellcheck shell=bash
# Kafka: broker and controller in one process (KRaft). devcluster sources this file.

start_kafka() {
  local dir=$1 port controller
  read -r port controller < <(ports kafka 2)
  cat >"$dir/server.properties" <<END
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
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
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_KAFKA=127.0.0.1:$port"
}

fetch_kafka() { maven kafka copy-dependencies "-DoutputDirectory=$1"; }
