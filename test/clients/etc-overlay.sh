#!/bin/sh
# Runs a command with no network but loopback and with a private writable overlay on /etc (needs root):
# /etc/claude-code, /etc/codex, /etc/opencode written inside are never seen outside and vanish at the end.
exec unshare -n -m sh -c '
  ip link set lo up
  D=$(mktemp -d /tmp/etc-overlay.XXXXXX) && mount -t tmpfs tmpfs "$D" && mkdir "$D/up" "$D/work" &&
  mount -t overlay overlay -o lowerdir=/etc,upperdir="$D/up",workdir="$D/work" /etc || exit 9
  "$@"; rc=$?
  umount /etc; umount "$D"; rmdir "$D"; exit $rc' sh "$@"
