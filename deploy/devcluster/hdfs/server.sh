# shellcheck shell=bash
# HDFS with one name node and one data node in one process, on HBase's jars. devcluster sources this file.
#
# hbase-cluster needs it for what a local file system lacks: a region server that the master holds for dead can no longer write to
# its log. On local files one that was stopped for a while and goes on would acknowledge writes that nobody will ever read.

start_hdfs() {
  local dir=$1 web
  mkdir -p "$dir/conf"
  hbase_log4j >"$dir/conf/log4j.properties"
  for web in hdfs datanode; do # its web servers ask for these folders
    mkdir -p "$dir/conf/webapps/$web/WEB-INF"
    echo '<web-app/>' >"$dir/conf/webapps/$web/WEB-INF/web.xml"
  done
  site <<END >"$dir/conf/hdfs-site.xml"
fs.defaultFS hdfs://127.0.0.1:$(<"$dir/ports")
hadoop.http.authentication.simple.anonymous.allowed true
dfs.namenode.name.dir $dir/name
dfs.namenode.http-address 127.0.0.1:0
dfs.namenode.safemode.extension 0
dfs.datanode.data.dir $dir/data
dfs.datanode.address 127.0.0.1:0
dfs.datanode.ipc.address 127.0.0.1:0
dfs.datanode.http.address 127.0.0.1:0
dfs.replication 1
dfs.permissions.enabled false
END
  launch hdfs java -Xmx256m -XX:+UseSerialGC "${hbase_java[@]}" -cp "$dir/conf:$(jars hdfs)/*" "$here/hdfs/Hdfs.java" "$dir/name"
}

ready_hdfs() { echo "HDFS is up"; }

env_hdfs() { echo "BRINE_REAL_HDFS=hdfs://127.0.0.1:$(<"$1/ports")"; }
