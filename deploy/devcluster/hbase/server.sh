# shellcheck shell=bash
# HBase standalone: master, one region server and ZooKeeper in one process; hbase; hbase-tls, which takes nobody without TLS and a
# certificate; and hbase-kerberos, which takes nobody without a ticket. devcluster sources this file.

# hbase_java are the flags that HBase and Hadoop need on Java 17, for servers and clients.
hbase_java=(-Djava.net.preferIPv4Stack=true
  --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED)
for package in java.lang java.nio sun.nio.ch java.lang.reflect java.util java.util.concurrent; do
  hbase_java+=("--add-opens=java.base/$package=ALL-UNNAMED")
done

start_hbase() { standalone hbase "$1" "${DEVCLUSTER_HBASE_HEAP:-1g}" </dev/null; }

start_hbase-tls() {
  local dir=$1
  mkdir -p "$dir"
  certificates "$dir/tls" >>"$dir/log" 2>&1 || return
  cp "$dir/tls/server.pem" "$dir/tls/keystore.pem" # a test that was killed may have left another
  standalone hbase-tls "$dir" 512m <<END
hbase.server.netty.tls.enabled true
hbase.server.netty.tls.supportplaintext false
hbase.server.netty.tls.client.auth.mode need
hbase.client.netty.tls.enabled true
hbase.rpc.tls.keystore.location $dir/tls/keystore.pem
hbase.rpc.tls.truststore.location $dir/tls/ca.pem
hbase.rpc.tls.certReload true
hbase.rpc.tls.filepoll.interval.millis 100
END
}

start_hbase-kerberos() {
  local dir=$1 end=$((SECONDS + ready_seconds)) kdc=$run/kdc
  until [[ -f $kdc/env ]]; do
    ((SECONDS < end)) || { echo "hbase-kerberos: kdc is not up" >&2; return 1; }
    poll
  done
  mkdir -p "$dir/conf"
  install -m 600 "$kdc/data/hbase.keytab" "$dir/keytab" # a test that was killed may have left another
  site <<<"hadoop.security.authentication kerberos" >"$dir/conf/core-site.xml"
  DEVCLUSTER_HBASE_JAVA="${DEVCLUSTER_HBASE_JAVA:-} -Djava.security.krb5.conf=$kdc/krb5.conf" standalone hbase-kerberos "$dir" 512m <<END
hadoop.security.authentication kerberos
hbase.security.authentication kerberos
hbase.security.authorization true
hbase.rpc.protection authentication,integrity,privacy
hbase.coprocessor.region.classes org.apache.hadoop.hbase.security.token.TokenProvider
hbase.master.kerberos.principal hbase/localhost@$kdc_realm
hbase.master.keytab.file $dir/keytab
hbase.regionserver.kerberos.principal hbase/localhost@$kdc_realm
hbase.regionserver.keytab.file $dir/keytab
END
}

# standalone SERVER DIR HEAP starts one process with the "name value" lines of standard input, and then those of DEVCLUSTER_HBASE_SITE, in its
# hbase-site.xml. Of lines with the same name the last one counts.
standalone() {
  local server=$1 dir=$2 heap=$3 master region zookeeper more
  more=$(cat)
  read -r master region zookeeper < <(ports "$server" 3)
  one_version "$dir"
  hbase_conf "$dir" <<END
hbase.rootdir file://$dir/data
fs.file.impl LocalFiles
hbase.unsafe.stream.capability.enforce false
hbase.wal.provider filesystem
hbase.cluster.distributed false
hbase.zookeeper.property.clientPort $zookeeper
hbase.zookeeper.property.dataDir $dir/zookeeper
hbase.master.port $master
hbase.regionserver.port $region
hbase.master.wait.on.regionservers.timeout 1000
hbase.master.wait.on.regionservers.maxtostart 1
$more
${DEVCLUSTER_HBASE_SITE:-}
END
  # shellcheck disable=SC2086 # flags are words
  launch "$server" java "-Xmx$heap" ${DEVCLUSTER_HBASE_JAVA:-} "${hbase_java[@]}" \
    -cp "$dir/conf:$(jars hbase)/classes:$(jars hbase)/*" org.apache.hadoop.hbase.master.HMaster start
}

ready_hbase() { echo "Master has completed initialization"; }
ready_hbase-tls() { ready_hbase; }
ready_hbase-kerberos() { ready_hbase; }

env_hbase() {
  read -r master _ zookeeper <"$1/ports"
  echo "BRINE_REAL_HBASE=rpc://127.0.0.1:$master"
  echo "BRINE_REAL_HBASE_ZK=zk://127.0.0.1:$zookeeper/hbase"
  echo "BRINE_REAL_HBASE_HAS='$(hbase_has "$1/conf/hbase-site.xml")'"
}

# hbase_has SITE says what conformance scripts may need: which HBase it is, 2 or 3, and what it has only if set (DEVCLUSTER_HBASE_SITE).
hbase_has() {
  local version
  version=$(hbase_version)
  echo -n "${version%%.*} "
  grep -q AccessController "$1" && echo -n "acl "
  grep -q '<name>hbase.quota.enabled</name><value>true' "$1" && echo -n quotas
  true
}

env_hbase-tls() {
  read -r master region zookeeper <"$1/ports"
  echo "BRINE_REAL_HBASE_TLS=rpc://127.0.0.1:$master"
  echo "BRINE_REAL_HBASE_TLS_SERVERS=127.0.0.1:$master,127.0.0.1:$region"
  echo "BRINE_REAL_HBASE_TLS_CERTIFICATES=$1/tls"
  echo "BRINE_REAL_HBASE_TLS_CLIENT_AUTH=$(site_value "$1" hbase.server.netty.tls.client.auth.mode)"
}

env_hbase-kerberos() {
  read -r master _ zookeeper <"$1/ports"
  echo "BRINE_REAL_HBASE_KERBEROS=rpc://127.0.0.1:$master"
  echo "BRINE_REAL_HBASE_KERBEROS_OWN=$1/keytab"
  echo "BRINE_REAL_HBASE_KERBEROS_PROTECTION=$(site_value "$1" hbase.rpc.protection)"
}

# site_value DIR NAME is what a server in DIR has been started with.
site_value() { sed -n "s|.*<name>$2</name><value>\(.*\)</value>.*|\1|p" "$1/conf/hbase-site.xml" | tail -1; }

# hbase_conf DIR writes the log settings and hbase-site.xml of one process into DIR/conf: what stands on standard input, and what
# all forms have in common. HBase's catalog janitor looks for split regions to delete only once a day: if it does so while a snapshot is restored
# from before the split, it deletes the restored region, and its rows are lost (hbase.Client.RestoreSnapshot).
hbase_conf() {
  local dir=$1
  mkdir -p "$dir/conf" "$dir/tmp"
  hbase_log4j >"$dir/conf/log4j.properties"
  cat - <(cat <<END
hbase.tmp.dir $dir/tmp
hbase.zookeeper.quorum 127.0.0.1
hbase.master.ipc.address 127.0.0.1
hbase.master.hostname localhost
hbase.master.info.port -1
hbase.regionserver.ipc.address 127.0.0.1
hbase.unsafe.regionserver.hostname localhost
hbase.regionserver.info.port -1
hbase.regionserver.msginterval 500
hbase.master.wait.on.regionservers.interval 100
hbase.master.logcleaner.ttl 60000
hbase.master.hfilecleaner.ttl 60000
hbase.catalogjanitor.interval 86400000
END
  ) | site >"$dir/conf/hbase-site.xml"
}

# site makes "name value" lines the XML of Hadoop's settings.
site() {
  echo '<configuration>'
  while read -r name value; do
    [[ -n $name ]] || continue
    echo "<property><name>$name</name><value>$value</value></property>"
  done
  echo '</configuration>'
}

hbase_log4j() {
  cat <<'END'
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
log4j.logger.org.apache.hadoop.hbase.master.HMaster=INFO
log4j.logger.org.apache.hadoop.hbase.regionserver.HRegionServer=INFO
log4j.logger.org.apache.zookeeper.server.NIOServerCnxnFactory=INFO
END
}

hbase_default() { sed -n 's:.*<hbase.version>\(.*\)</hbase.version>.*:\1:p' "$here/hbase/pom.xml"; }

hbase_version() { echo "${HBASE_VERSION:-$(hbase_default)}"; }

# one_version ROOT keeps a release from the data of another, which it could not read or would spoil.
one_version() {
  local root=$1 before
  before=$(cat "$root/version" 2>/dev/null || hbase_default)
  if [[ -d $root/data && $before != "$(hbase_version)" && -z ${DEVCLUSTER_UPGRADE:-} ]]; then
    die "the data in $root are of HBase $before, not $(hbase_version): wipe them, or set DEVCLUSTER_RUN to another folder"
  fi
  mkdir -p "$root"
  hbase_version >"$root/version"
}

# one_hbase SERVER… refuses to start both forms, since each would be BRINE_REAL_HBASE, and another release beside what runs.
one_hbase() {
  local server root=hbase form=()
  for server in hbase "${cluster[@]}"; do
    if [[ " $* " == *" $server "* ]]; then
      one_version "$run/$root"
      form+=("$server")
    elif running "$server"; then
      form+=("$server")
    fi
    root=hdfs
  done
  if [[ ${form[0]-} == hbase ]] && ((${#form[@]} > 1)); then
    die "hbase and ${form[1]} are two forms of HBase: end the one first, or set DEVCLUSTER_RUN to another folder"
  fi
}

fetch_hbase() {
  maven hbase copy-dependencies "-DoutputDirectory=$1" "-Dhbase.version=$(hbase_version)"
  javac -nowarn -proc:none -d "$1/classes" -cp "$1/*" "$here/hbase/LocalFiles.java"
}
