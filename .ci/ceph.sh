#!/usr/bin/env bash
# Starts a Ceph with its S3 gateway on 127.0.0.1, all of it in memory, and prints `ready`, its address, a key and its secret.
# It is gone when its input ends. Debian: radosgw ceph-mon ceph-osd ceph-mgr. Wanted: PORT, and the two after it.
set -euo pipefail
port=$1
dir=$(mktemp -d /tmp/cambista-ceph-XXXXXX)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
mons="[v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]"
fsid=$(cat /proc/sys/kernel/random/uuid)
key=$(od -An -N10 -tx1 /dev/urandom | tr -d ' \n')
secret=$(od -An -N20 -tx1 /dev/urandom | tr -d ' \n')
mkdir "$dir"/{mon,mgr,osd,rgw,run}
export CEPH_CONF=$dir/ceph.conf

# The gateway hangs without keyrings, and the clients want both addresses of the monitor.
cat >"$CEPH_CONF" <<END
[global]
fsid = $fsid
mon host = $mons
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = $dir/admin.keyring
run dir = $dir/run
admin socket = $dir/run/\$name.\$pid.asok
log file = $dir/\$name.log
crash dir = $dir
mon data = $dir/mon
mgr data = $dir/mgr
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 2147483648
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
mon data avail warn = 1
[mgr.a]
keyring = $dir/mgr/keyring
[osd.0]
keyring = $dir/osd/keyring
[client.rgw]
keyring = $dir/rgw/keyring
rgw frontends = beast endpoint=127.0.0.1:$port
rgw data = $dir/rgw
END

start() {
  "$@" -f </dev/null >"$dir/$1.out" 2>&1 &
  pids+=($!)
  disown # the shell would tell of its end
}
quietly() { "$@" >>"$dir/steps.log" 2>&1 || { cat "$dir/steps.log" >&2; exit 1; }; }
ask() { timeout 60 ceph "$@"; }

quietly ceph-authtool --create-keyring "$dir/admin.keyring" --gen-key -n client.admin \
  --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
quietly ceph-authtool --create-keyring "$dir/mon.keyring" --gen-key -n mon. --cap mon 'allow *'
quietly ceph-authtool "$dir/mon.keyring" --import-keyring "$dir/admin.keyring"
quietly monmaptool --create --addv a "$mons" --fsid "$fsid" "$dir/monmap"
quietly ceph-mon --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/mon.keyring"
start ceph-mon -i a
ask auth get-or-create mgr.a mon 'allow profile mgr' osd 'allow *' mds 'allow *' >"$dir/mgr/keyring"
start ceph-mgr -i a
osd=$(cat /proc/sys/kernel/random/uuid)
quietly ask osd new "$osd"
ask auth get-or-create osd.0 mon 'allow profile osd' mgr 'allow profile osd' osd 'allow *' >"$dir/osd/keyring"
quietly ceph-osd -i 0 --mkfs --osd-uuid "$osd"
start ceph-osd -i 0
ask auth get-or-create client.rgw mon 'allow rw' osd 'allow rwx' mgr 'allow rw' >"$dir/rgw/keyring"
quietly timeout 120 radosgw-admin user create --uid cambista --display-name cambista --access-key "$key" --secret "$secret"
start radosgw -n client.rgw
for _ in $(seq 600); do
  (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  sleep 0.1
done
echo "ready http://127.0.0.1:$port $key $secret"
cat >/dev/null
