# shellcheck shell=bash
# Elasticsearch, one node without security, and elasticsearch-secure, which takes nobody without TLS and a password or an API key. It refuses
# user id 0: as root it runs as nobody. devcluster sources this file.

start_elasticsearch() { launch_elasticsearch elasticsearch "$1" "$(java_home)" <<<"xpack.security.enabled: false"; }

# The one user of elasticsearch-secure is brine, with the password brine-devcluster.
start_elasticsearch-secure() {
  local dir=$1
  mkdir -p "$dir/config"
  certificates "$dir/tls" >>"$dir/log" 2>&1 || return
  rm -rf "$dir/config/tls"
  cp -r "$dir/tls" "$dir/config/tls" # it reads no files elsewhere
  echo 'brine:{PBKDF2}10000$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=$Vvg7gBbcxsLkxFL4APhd6eqXRFkLqNxT7G0GyG2YkZI=' >"$dir/config/users"
  echo 'superuser:brine' >"$dir/config/users_roles"
  launch_elasticsearch elasticsearch-secure "$dir" "$(java_home)" <<END
xpack.security.enabled: true
xpack.security.enrollment.enabled: false
xpack.security.autoconfiguration.enabled: false
xpack.security.http.ssl.enabled: true
xpack.security.http.ssl.key: tls/server.key
xpack.security.http.ssl.certificate: tls/server.crt
xpack.security.authc.realms.file.file1.order: 0
resource.reload.interval.high: 100ms
END
}

# launch_elasticsearch SERVER DIR JAVA-HOME starts a release of it, with the settings of standard input.
launch_elasticsearch() {
  local server=$1 dir=$2 java=$3 heap=${DEVCLUSTER_ELASTICSEARCH_HEAP:-512m} http transport home more as=()
  more=$(cat)
  read -r http transport < <(ports "$server" 2)
  home=$(echo "$lib/$(software "$server")"/elasticsearch-*)
  mkdir -p "$dir/config" "$dir/data" "$dir/logs" "$dir/tmp"
  cp "$home"/config/log4j2.properties "$dir/config/"
  # Release 9 asks for a module that makes vectors faster, which a Java runtime without the compilers lacks.
  "$java/bin/java" --list-modules | grep -q '^jdk.incubator.vector' && cp "$home/config/jvm.options" "$dir/config/" ||
    grep -v jdk.incubator.vector "$home/config/jvm.options" >"$dir/config/jvm.options"
  cat >"$dir/config/elasticsearch.yml" <<END
discovery.type: single-node
network.host: 127.0.0.1
http.port: $http
transport.port: $transport
$more
cluster.routing.allocation.disk.threshold_enabled: false
path.data: $dir/data
path.logs: $dir/logs
END
  if ((UID == 0)); then
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chown -R 65534:65534 "$dir/config" "$dir/data" "$dir/logs" "$dir/tmp"
    "${as[@]}" test -x "$home/bin/elasticsearch" -a -w "$dir/data" ||
      die "elasticsearch runs as user 65534 when started by root, and that user cannot reach $home or $dir: put them elsewhere (DEVCLUSTER_RUN) or start as another user"
  fi
  # Its launcher returns when the server is ready, and leaves the server's pid.
  setsid ${as[@]+"${as[@]}"} env "ES_JAVA_HOME=$java" "ES_PATH_CONF=$dir/config" "ES_TMPDIR=$dir/tmp" "ES_JAVA_OPTS=-Xms$heap -Xmx$heap" \
    "$home/bin/elasticsearch" -d -p "$dir/tmp/pid" >>"$dir/log" 2>&1 </dev/null 9>&- || { show_end "$dir/log"; return 1; }
  cp "$dir/tmp/pid" "$dir/pid"
}

java_home() { java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p'; }

ready_elasticsearch() { echo "\\] started[ {]?"; }
ready_elasticsearch-secure() { ready_elasticsearch; }

env_elasticsearch() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_ELASTICSEARCH=http://127.0.0.1:$port"
}

env_elasticsearch-secure() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_ELASTICSEARCH_SECURE=https://127.0.0.1:$port"
  echo "BRINE_REAL_ELASTICSEARCH_SECURE_CERTIFICATES=$1/config/tls"
}

# fetch_elasticsearch DIR unpacks the server and gives it the smartcn plugin, compiled here: the analyzer's jar with a class
# that registers it and a descriptor.
fetch_elasticsearch() {
  local dir=$1 home plugin
  # Its marks of what is unpacked would otherwise outlive the folder.
  maven elasticsearch unpack-dependencies "-DoutputDirectory=$dir" "-DmarkersDirectory=$dir/marks" -DincludeTypes=zip
  home=$(echo "$dir"/elasticsearch-*)
  plugin=$home/plugins/smartcn
  maven elasticsearch copy-dependencies "-DoutputDirectory=$plugin" -DincludeTypes=jar
  javac -nowarn -proc:none -d "$dir/classes" -cp "$home/lib/*:$plugin/*" "$here/elasticsearch/SmartcnPlugin.java"
  jar --create --file "$plugin/devcluster-smartcn.jar" -C "$dir/classes" .
  cat >"$plugin/plugin-descriptor.properties" <<END
name=smartcn
description=Lucene's analyzer for Chinese
version=1
classname=brine.devcluster.SmartcnPlugin
java.version=17
elasticsearch.version=${home##*-}
END
}
