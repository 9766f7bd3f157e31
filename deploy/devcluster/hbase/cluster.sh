# shellcheck shell=bash
# HBase as processes of their own: hdfs, zookeeper, master, regionserver1 and regionserver2. devcluster sources this file.
#
# Each can be killed, stopped and started again alone. A region server that is killed or stands still is dead to the master when its
# session ends, 6 s later; DEVCLUSTER_SESSION_MS is another time, for those who want none to die because the machine is busy.
#
# With DEVCLUSTER_SECURE=yes it takes nobody without TLS, a certificate and a ticket of the KDC, which is brought with it; secure/client has what
# HBase's own client needs. Only HDFS and ZooKeeper, which are not what is tested, let everybody in.
#
# With DEVCLUSTER_UPGRADE=yes a process of the cluster may be started by another release than before (HBASE_VERSION).

# plan_ports SERVER… gives those of the cluster their ports before any is started, since each has to know those of HDFS and ZooKeeper.
plan_ports() {
  local server
  if secure && [[ " $* " == *" master "* ]]; then
    mkdir -p "$run/secure/client"
    certificates "$run/secure/tls" >"$run/secure/log" 2>&1 || die "no certificates: see $run/secure/log"
    { secure_site; client_site; } | site >"$run/secure/client/hbase-site.xml"
    secure_site | site >"$run/secure/client/core-site.xml"
  fi
  for server in "$@"; do
    if [[ " ${cluster[*]} " == *" $server "* ]]; then
      mkdir -p "$run/$server"
      ports "$server" 1 >/dev/null
    fi
  done
}

secure() { [[ -n ${DEVCLUSTER_SECURE:-} ]]; }

# secure_site is what servers and clients of a secure cluster have in common.
secure_site() {
  cat <<END
hadoop.security.authentication kerberos
ipc.client.fallback-to-simple-auth-allowed true
hbase.security.authentication kerberos
hbase.security.authorization true
hbase.rpc.protection authentication,integrity,privacy
hbase.client.netty.tls.enabled true
hbase.rpc.tls.keystore.location $run/secure/tls/server.pem
hbase.rpc.tls.truststore.location $run/secure/tls/ca.pem
hbase.master.kerberos.principal hbase/localhost@$kdc_realm
hbase.regionserver.kerberos.principal hbase/localhost@$kdc_realm
END
}

client_site() {
  cat <<END
hbase.client.keytab.file $run/kdc/data/brine.keytab
hbase.client.keytab.principal brine@$kdc_realm
END
}

server_site() {
  cat <<END
hbase.server.netty.tls.enabled true
hbase.server.netty.tls.supportplaintext false
hbase.server.netty.tls.client.auth.mode need
hbase.coprocessor.region.classes org.apache.hadoop.hbase.security.token.TokenProvider
hbase.master.keytab.file $run/kdc/data/hbase.keytab
hbase.regionserver.keytab.file $run/kdc/data/hbase.keytab
END
}

start_zookeeper() {
  local dir=$1
  mkdir -p "$dir/conf"
  hbase_log4j >"$dir/conf/log4j.properties"
  cat >"$dir/conf/zoo.cfg" <<END
tickTime=1000
dataDir=$dir/data
clientPort=$(<"$dir/ports")
clientPortAddress=127.0.0.1
admin.enableServer=false
maxClientCnxns=0
maxSessionTimeout=120000
END
  launch zookeeper java -Xmx128m -XX:+UseSerialGC -cp "$dir/conf:$(jars zookeeper)/*" \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$dir/conf/zoo.cfg"
}

start_master() {
  cluster_conf "$1" <<END
hbase.master.port $(<"$1/ports")
hbase.master.wait.on.regionservers.mintostart 1
hbase.master.wait.on.regionservers.maxtostart 2
hbase.master.wait.on.regionservers.timeout 6000
END
  cluster_launch master -Xmx384m org.apache.hadoop.hbase.master.HMaster
}

start_regionserver() {
  local server=$1 dir=$run/$1
  cluster_conf "$dir" <<END
hbase.regionserver.port $(<"$dir/ports")
END
  cluster_launch "$server" "-Xmx${DEVCLUSTER_HBASE_HEAP:-768m}" org.apache.hadoop.hbase.regionserver.HRegionServer
}

start_regionserver1() { start_regionserver regionserver1; }
start_regionserver2() { start_regionserver regionserver2; }

cluster_conf() {
  [[ -f $run/zookeeper/ports && -f $run/hdfs/ports ]] || die "the others need hdfs and zookeeper: devcluster up hbase-cluster"
  hbase_conf "$1" < <(
    cat
    cat <<END
hbase.rootdir hdfs://127.0.0.1:$(<"$run/hdfs/ports")/hbase
hbase.cluster.distributed true
hbase.zookeeper.property.clientPort $(<"$run/zookeeper/ports")
zookeeper.session.timeout ${DEVCLUSTER_SESSION_MS:-6000}
dfs.replication 1
END
    if secure; then secure_site; server_site; fi
  )
  if secure; then secure_site | site >"$1/conf/core-site.xml"; fi
}

# cluster_launch SERVER HEAP CLASS waits for what HBase would not wait for itself.
cluster_launch() {
  local server=$1 heap=$2 class=$3 end=$((SECONDS + ready_seconds)) other krb5=()
  if secure; then krb5=("-Djava.security.krb5.conf=$run/kdc/krb5.conf"); fi
  for other in hdfs zookeeper $(secure && echo kdc); do
    until [[ -f $run/$other/env ]]; do
      ((SECONDS < end)) || { echo "$server: $other is not up" >&2; return 1; }
      poll
    done
  done
  launch "$server" java "$heap" -XX:+UseSerialGC "${krb5[@]}" "${hbase_java[@]}" -cp "$run/$server/conf:$(jars "$server")/*" "$class" start
}

ready_zookeeper() { echo "binding to port"; }
ready_master() { ready_hbase; }
ready_regionserver1() { echo "Serving as localhost"; }
ready_regionserver2() { ready_regionserver1; }

env_zookeeper() { echo "BRINE_REAL_HBASE_ZK=zk://127.0.0.1:$(<"$1/ports")/hbase"; }
env_master() { echo "BRINE_REAL_HBASE=rpc://127.0.0.1:$(<"$1/ports")"; }
env_regionserver1() { echo "BRINE_REAL_REGIONSERVER1=localhost:$(<"$1/ports")"; }
env_regionserver2() { echo "BRINE_REAL_REGIONSERVER2=localhost:$(<"$1/ports")"; }
