# shellcheck shell=bash
# Elasticsearch 9, as elasticsearch is started, on the JDK that OpenSearch runs on. devcluster sources this file.

start_elasticsearch9() { launch_elasticsearch elasticsearch9 "$1" "$(opensearch_java)"; }

ready_elasticsearch9() { ready_elasticsearch; }

env_elasticsearch9() {
  read -r port _ <"$1/ports"
  echo "BRINE_REAL_ELASTICSEARCH9=http://127.0.0.1:$port"
}

fetch_elasticsearch9() {
  local dir=$1
  [[ -n $(opensearch_java) ]] || die "elasticsearch9 needs a JDK 21 or newer: none is in /usr/lib/jvm, and OPENSEARCH_JAVA_HOME names none"
  maven elasticsearch9 unpack-dependencies "-DoutputDirectory=$dir" "-DmarkersDirectory=$dir/marks" -DincludeTypes=zip
}
