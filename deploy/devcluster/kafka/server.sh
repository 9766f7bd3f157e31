# shellcheck shell=bash
# Kafka: broker and controller in one process (KRaft), with five listeners: plain text, SCRAM over TLS, TLS that asks for the client's
# certificate, OAUTHBEARER over TLS, which believes unsigned tokens that are not over and have the scope kafka, and TLS alone, whose certificate
# tests replace. kafka-kerberos is one more, which takes nobody without a ticket. devcluster sources this file.

start_kafka() {
  local dir=$1 port controller scram mtls oauth tls
  read -r port controller scram mtls oauth tls < <(ports kafka 6)
  certificates "$dir/tls" >>"$dir/log" 2>&1 || return
  cat >"$dir/server.properties" <<END
listeners=PLAINTEXT://127.0.0.1:$port,SCRAM://127.0.0.1:$scram,MTLS://127.0.0.1:$mtls,OAUTH://127.0.0.1:$oauth,TLS://127.0.0.1:$tls,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port,SCRAM://127.0.0.1:$scram,MTLS://127.0.0.1:$mtls,OAUTH://127.0.0.1:$oauth,TLS://127.0.0.1:$tls
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SCRAM:SASL_SSL,MTLS:SSL,OAUTH:SASL_SSL,TLS:SSL,CONTROLLER:PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location=$dir/tls/server.pem
ssl.truststore.type=PEM
ssl.truststore.location=$dir/tls/ca.pem
listener.name.mtls.ssl.client.auth=required
listener.name.scram.sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512
listener.name.scram.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.scram.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.oauth.sasl.enabled.mechanisms=OAUTHBEARER
listener.name.oauth.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker" unsecuredValidatorRequiredScope="kafka";
listener.name.oauth.oauthbearer.connections.max.reauth.ms=60000
# One thread, since each takes a new certificate on its own.
listener.name.tls.num.network.threads=1
listener.name.tls.ssl.allow.dn.changes=true
listener.name.tls.ssl.allow.san.changes=true
END
  broker kafka "$dir" "$controller"
}

# broker SERVER DIR CONTROLLER FLAG… starts a broker on DIR/server.properties, which gets what all have in common.
broker() {
  local server=$1 dir=$2 controller=$3
  shift 3
  cat >>"$dir/server.properties" <<END
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
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
group.consumer.min.heartbeat.interval.ms=1000
group.consumer.min.session.timeout.ms=6000
log.cleaner.dedupe.buffer.size=33554432
END
  java -Xmx128m -cp "$lib/kafka/*" kafka.tools.StorageTool format --standalone -t brinedevclusterAAAAAAA \
    -c "$dir/server.properties" --ignore-formatted >>"$dir/log" 2>&1 || return
  launch "$server" java -Xms256m -Xmx512m -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.showDateTime=true "$@" \
    -cp "$lib/kafka/*" kafka.Kafka "$dir/server.properties"
}

start_kafka-kerberos() {
  local dir=$1 end=$((SECONDS + ready_seconds)) kdc=$run/kdc port controller
  read -r port controller < <(ports kafka-kerberos 2)
  until [[ -f $kdc/env ]]; do
    ((SECONDS < end)) || { echo "kafka-kerberos: kdc is not up" >&2; return 1; }
    poll
  done
  cat >"$dir/server.properties" <<END
listeners=KERBEROS://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=KERBEROS://localhost:$port
listener.security.protocol.map=KERBEROS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=KERBEROS
sasl.mechanism.inter.broker.protocol=GSSAPI
sasl.kerberos.service.name=kafka
listener.name.kerberos.sasl.enabled.mechanisms=GSSAPI
listener.name.kerberos.gssapi.sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab="$kdc/data/kafka.keytab" principal="kafka/localhost@$kdc_realm";
END
  broker kafka-kerberos "$dir" "$controller" "-Djava.security.krb5.conf=$kdc/krb5.conf"
}

ready_kafka() { echo "Kafka Server started"; }
ready_kafka-kerberos() { ready_kafka; }

env_kafka() {
  read -r port _ scram mtls oauth tls <"$1/ports"
  echo "BRINE_REAL_KAFKA=127.0.0.1:$port"
  echo "BRINE_REAL_KAFKA_SCRAM=127.0.0.1:$scram"
  echo "BRINE_REAL_KAFKA_MTLS=127.0.0.1:$mtls"
  echo "BRINE_REAL_KAFKA_OAUTH=127.0.0.1:$oauth"
  echo "BRINE_REAL_KAFKA_TLS=127.0.0.1:$tls"
  echo "BRINE_REAL_KAFKA_CERTIFICATES=$1/tls"
}

env_kafka-kerberos() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_KAFKA_KERBEROS=localhost:$port"
}

fetch_kafka() { maven kafka copy-dependencies "-DoutputDirectory=$1"; }
