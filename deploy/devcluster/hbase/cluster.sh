# shellcheck shell=bash
# HBase as processes of their own: hdfs, zookeeper, master, regionserver1 and regionserver2. devcluster sources this file.
#
# Each can be killed, stopped and started again alone. A region server that is killed or stands still is dead to the master when its
# session ends, 6 s later; DEVCLUSTER_SESSION_MS is another time, for those who want none to die because the machine is busy.

# plan_ports SERVER… gives those of the cluster their ports before any is started, since each has to know those of HDFS and ZooKeeper.
plan_ports() {
  local server
  for server in "$@"; do
    if [[ " ${cluster[*]} " == *" $server "* ]]; then
      mkdir -p "$run/$server"
      ports "$server" 1 >/dev/null
    fi
  done
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
  )
}

# cluster_launch SERVER HEAP CLASS waits for what HBase would not wait for itself.
cluster_launch() {
  local server=$1 heap=$2 class=$3 end=$((SECONDS + ready_seconds)) other
  for other in hdfs zookeeper; do
    until [[ -f $run/$other/env ]]; do
      ((SECONDS < end)) || { echo "$server: $other is not up" >&2; return 1; }
      poll
    done
  done
  launch "$server" java "$heap" -XX:+UseSerialGC "${hbase_java[@]}" -cp "$run/$server/conf:$(jars "$server")/*" "$class" start
}

ready_zookeeper() { echo "binding to port"; }
ready_master() { ready_hbase; }
ready_regionserver1() { echo "Serving as localhost"; }
ready_regionserver2() { ready_regionserver1; }

env_zookeeper() { echo "BRINE_REAL_HBASE_ZK=zk://127.0.0.1:$(<"$1/ports")/hbase"; }
env_master() { echo "BRINE_REAL_HBASE=rpc://127.0.0.1:$(<"$1/ports")"; }
env_regionserver1() { echo "BRINE_REAL_REGIONSERVER1=localhost:$(<"$1/ports")"; }
env_regionserver2() { echo "BRINE_REAL_REGIONSERVER2=localhost:$(<"$1/ports")"; }
