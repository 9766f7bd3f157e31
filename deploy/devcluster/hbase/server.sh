# shellcheck shell=bash
# HBase standalone: master, one region server and ZooKeeper in one process. devcluster sources this file.

# hbase_java are the flags that HBase and Hadoop need on Java 17, for servers and clients.
hbase_java=(-Djava.net.preferIPv4Stack=true
  --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED)
for package in java.lang java.nio sun.nio.ch java.lang.reflect java.util java.util.concurrent; do
  hbase_java+=("--add-opens=java.base/$package=ALL-UNNAMED")
done

start_hbase() {
  local dir=$1 master region zookeeper
  read -r master region zookeeper < <(ports hbase 3)
  mkdir -p "$dir/conf" "$dir/tmp"
  cat >"$dir/conf/log4j.properties" <<'END'
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
log4j.logger.org.apache.hadoop.hbase.master.HMaster=INFO
log4j.logger.org.apache.hadoop.hbase.regionserver.HRegionServer=INFO
END
  {
    echo '<configuration>'
    while read -r name value; do
      echo "<property><name>$name</name><value>$value</value></property>"
    done <<END
hbase.cluster.distributed false
hbase.rootdir file://$dir/data
hbase.tmp.dir $dir/tmp
hbase.unsafe.stream.capability.enforce false
hbase.wal.provider filesystem
hbase.zookeeper.quorum 127.0.0.1
hbase.zookeeper.property.clientPort $zookeeper
hbase.zookeeper.property.dataDir $dir/zookeeper
hbase.master.port $master
hbase.master.ipc.address 127.0.0.1
hbase.master.hostname localhost
hbase.master.info.port -1
hbase.regionserver.port $region
hbase.regionserver.ipc.address 127.0.0.1
hbase.unsafe.regionserver.hostname localhost
hbase.regionserver.info.port -1
hbase.regionserver.msginterval 500
hbase.master.wait.on.regionservers.interval 100
hbase.master.wait.on.regionservers.timeout 1000
hbase.master.wait.on.regionservers.maxtostart 1
hbase.master.logcleaner.ttl 60000
hbase.master.hfilecleaner.ttl 60000
END
    echo '</configuration>'
  } >"$dir/conf/hbase-site.xml"
  launch hbase java "-Xmx${DEVCLUSTER_HBASE_HEAP:-1g}" "${hbase_java[@]}" \
    -cp "$dir/conf:$lib/hbase/*" org.apache.hadoop.hbase.master.HMaster start
}

ready_hbase() { echo "Master has completed initialization"; }

env_hbase() {
  read -r master _ zookeeper <"$1/ports"
  echo "BRINE_REAL_HBASE=rpc://127.0.0.1:$master"
  echo "BRINE_REAL_HBASE_ZK=zk://127.0.0.1:$zookeeper/hbase"
}

fetch_hbase() { maven hbase copy-dependencies "-DoutputDirectory=$1"; }
