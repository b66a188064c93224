#!/usr/bin/env bash
# radosgw.sh DIR PORT MONITOR_PORT: starts Ceph's object store with an empty memory on 127.0.0.1:PORT, with the keys AKtest and
# SKtest. It ends by `kill $(cat DIR/run/*.pid)`. Needs Debian's radosgw, ceph-mon, ceph-osd and ceph-common.
set -euo pipefail
dir=$1 port=$2 monitor=$3
new() { cat /proc/sys/kernel/random/uuid; }
cluster=$(new) disk=$(new)
mkdir -p "$dir"/{mon,osd,run,rgw}
cat > "$dir/conf" <<END
[global]
fsid = $cluster
mon host = [v1:127.0.0.1:$monitor]
monmap = $dir/monmap
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
public network = 127.0.0.0/8
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon max pg per osd = 2000
osd crush chooseleaf type = 0
paxos propose interval = 0.05
mon data = $dir/mon
mon data avail crit = 1
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 8589934592
osd class update on start = false
osd crush update on start = false
run dir = $dir/run
pid file = $dir/run/\$name.pid
admin socket = $dir/run/\$name.asok
log file = $dir/\$name.log
END
conf=(-c "$dir/conf")
until_done() { until "$@" >/dev/null 2>&1; do sleep 0.1; done; }
monmaptool --create --fsid "$cluster" --addv a "[v1:127.0.0.1:$monitor]" "$dir/monmap" >/dev/null
ceph-mon "${conf[@]}" --mkfs -i a --monmap "$dir/monmap"
ceph-mon "${conf[@]}" -i a
until_done ceph "${conf[@]}" osd new "$disk" 0
until_done ceph "${conf[@]}" osd crush add osd.0 1 host=h root=default
ceph-osd "${conf[@]}" -i 0 --mkfs --osd-uuid "$disk" >/dev/null 2>&1
ceph-osd "${conf[@]}" -i 0 >/dev/null 2>&1
radosgw "${conf[@]}" -n client.rgw.a --rgw-frontends "beast endpoint=127.0.0.1:$port" --rgw-data "$dir/rgw"
until_done curl -fsS "http://127.0.0.1:$port/"
radosgw-admin "${conf[@]}" user create --uid=t --display-name=t --access-key=AKtest --secret-key=SKtest >/dev/null 2>&1
