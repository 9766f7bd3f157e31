# shellcheck shell=bash
# MIT's Kerberos KDC, the machine's own or from Debian's packages, which are unpacked and not installed. devcluster sources this file.
# Its realm has the principals hbase/localhost and kafka/localhost, of servers, and brine; the keytab of each is beside krb5.conf in its folder.

readonly kdc_realm=BRINE.TEST

# fetch_kdc DIR unpacks the packages that kdc/packages names, unless the machine has a KDC.
fetch_kdc() {
  local dir=$1 package
  PATH=$PATH:/usr/sbin:/sbin command -v krb5kdc kadmin.local kdb5_util >/dev/null && return
  command -v apt-get dpkg >/dev/null || die "kdc: krb5kdc is not installed, and there is no apt-get: install MIT Kerberos's server"
  mkdir -p "$dir/packages"
  apt-cache show krb5-kdc >/dev/null 2>&1 || apt-get update -qq >/dev/null 2>&1 || true
  while read -r package; do
    (cd "$dir/packages" && { apt-get download "$package" || apt-get download "${package}t64"; } >/dev/null 2>&1) ||
      die "kdc: no package $package: apt-get update, or install krb5-kdc and krb5-admin-server"
  done <"$here/kdc/packages"
  for package in "$dir"/packages/*.deb; do dpkg -x "$package" "$dir"; done
  rm -r "$dir/packages"
}

# kdc_program NAME ARGS… runs one of its programs.
kdc_program() {
  local name=$1 libraries=()
  shift
  read -ra libraries < <(echo "$lib"/kdc/usr/lib/*/krb5/plugins/kdb) # of packages: as they were unpacked
  if [[ -x $lib/kdc/usr/sbin/$name ]]; then
    LD_LIBRARY_PATH=${libraries[0]%/krb5/plugins/kdb} "$lib/kdc/usr/sbin/$name" "$@"
  else
    PATH=$PATH:/usr/sbin:/sbin "$name" "$@"
  fi
}

# kdc_conf DIR PORT writes krb5.conf, for clients, and kdc.conf.
kdc_conf() {
  local dir=$1 port=$2 modules
  modules=$(echo "$lib"/kdc/usr/lib/*/krb5/plugins/kdb)
  cat >"$dir/krb5.conf" <<END
[libdefaults]
  default_realm = $kdc_realm
  udp_preference_limit = 1
  rdns = false
  dns_lookup_kdc = false
[realms]
  $kdc_realm = {
    kdc = 127.0.0.1:$port
  }
[domain_realm]
  localhost = $kdc_realm
END
  cat >"$dir/kdc.conf" <<END
[kdcdefaults]
  kdc_listen = 127.0.0.1:$port
  kdc_tcp_listen = 127.0.0.1:$port
[realms]
  $kdc_realm = {
    database_name = $dir/data/principal
    key_stash_file = $dir/data/stash
    acl_file = $dir/data/acl
    max_life = 1d
    max_renewable_life = 7d
    supported_enctypes = aes256-cts:normal aes128-cts:normal
    default_principal_flags = +preauth
  }
[logging]
  kdc = FILE:$dir/log
END
  if [[ -d $modules ]]; then printf '[dbmodules]\n  db_module_dir = %s\n' "$modules" >>"$dir/kdc.conf"; fi
}

start_kdc() {
  local dir=$1 port principal
  port=$(ports kdc 1)
  kdc_conf "$dir" "$port"
  export KRB5_CONFIG=$dir/krb5.conf KRB5_KDC_PROFILE=$dir/kdc.conf
  if [[ ! -f $dir/data/kafka.keytab ]]; then
    rm -rf "$dir/data"
    mkdir -p -m 700 "$dir/data"
    kdc_program kdb5_util create -s -r "$kdc_realm" -P brine >>"$dir/log" 2>&1 || return
    for principal in hbase/localhost kafka/localhost brine; do
      kdc_program kadmin.local -r "$kdc_realm" -q "addprinc -randkey $principal" >>"$dir/log" 2>&1 || return
      kdc_program kadmin.local -r "$kdc_realm" -q "ktadd -norandkey -k $dir/data/${principal%/*}.keytab $principal" >>"$dir/log" 2>&1 || return
    done
  fi
  # launch runs a program, not a function
  local libraries=("$lib"/kdc/usr/lib/*/krb5) program=krb5kdc
  [[ -x $lib/kdc/usr/sbin/krb5kdc ]] && program=$lib/kdc/usr/sbin/krb5kdc
  LD_LIBRARY_PATH=${libraries[0]%/krb5} PATH=$PATH:/usr/sbin:/sbin launch kdc "$program" -n -r "$kdc_realm" -P "$dir/kdc.pid"
}

ready_kdc() { echo "commencing operation"; }

env_kdc() { echo "BRINE_REAL_KDC=$1"; }
