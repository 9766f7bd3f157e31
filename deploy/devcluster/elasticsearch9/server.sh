# shellcheck shell=bash
# Elasticsearch 9, as elasticsearch is started, on a newer JDK. devcluster sources this file.

start_elasticsearch9() {
  local java
  java=$(need_java21 elasticsearch9) || return 1
  launch_elasticsearch elasticsearch9 "$1" "$java" <<<"xpack.security.enabled: false"
}

ready_elasticsearch9() { ready_elasticsearch; }

env_elasticsearch9() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_ELASTICSEARCH9=http://127.0.0.1:$port"
}

fetch_elasticsearch9() {
  local dir=$1
  need_java21 elasticsearch9 >/dev/null || exit 1
  maven elasticsearch9 unpack-dependencies "-DoutputDirectory=$dir" "-DmarkersDirectory=$dir/marks" -DincludeTypes=zip
}
