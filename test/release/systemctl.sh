#!/bin/sh
# A systemctl for a root without systemd. It runs one service as its unit describes: environment file, credentials, state
# directory, user, ExecStartPre, ExecStart, ExecStartPost and Restart. The sandbox and the limits of the unit are left out.
set -eu
umask 022 # a command of cambista has another

name=cambista.service
log=/var/log/cambista.log
pid_file=/run/cambista.pid
stopping=/run/cambista.stopping # exists while the service must not be started again
wanted=/etc/systemd/system/multi-user.target.wants/$name

# Prints the values of a key, in the order of the unit and its drop-ins.
values() { cat "$unit" "/etc/systemd/system/$name.d"/*.conf 2>/dev/null | sed -n "s/^$1=//p"; }

is_active() { [ -f "$pid_file" ] && kill -0 "$(cat "$pid_file")" 2>/dev/null; }

find_unit() {
  for unit in "/etc/systemd/system/$name" "/usr/lib/systemd/system/$name"; do
    if [ -f "$unit" ]; then return 0; fi
  done
  echo "Unit $name not found." >&2
  exit 5
}

# Runs a command line of the unit as its user, in a session of its own: the terminal of a command may end.
run_as_user() {
  user=$(values User)
  eval "exec setsid setpriv --reuid=$user --regid=$(values Group) --clear-groups --no-new-privs --bounding-set=-all $1"
}

# Runs a function in the background, without the output and the lock of this process.
in_background() {
  (
    exec </dev/null >/dev/null 2>&1 9>&-
    "$1"
  ) &
}

# Starts the service again in a second, as Restart=on-failure does.
start_again() {
  sleep 1
  [ -e "$stopping" ] || exec "$0" start "$name"
}

# Runs the main process to its end, and starts it again after a failure.
supervise() {
  (
    cd /
    run_as_user "$(values ExecStart)"
  ) </dev/null >>"$log" 2>&1 &
  main=$!
  echo "$main" >"$pid_file"
  code=0
  wait "$main" || code=$?
  [ "$code" -eq 0 ] || [ "$code" = "$(values RestartPreventExitStatus | tail -n 1)" ] || start_again
}

start() {
  find_unit
  if is_active; then return 0; fi
  rm -f "$stopping" "$pid_file"
  values ExecStartPre | while read -r command; do
    ${command#+} >>"$log" 2>&1 || exit 1 # the plus is for root, who runs this
  done 9>&- || {
    in_background start_again
    echo "Job for $name failed." >&2
    exit 1
  }
  user=$(values User)
  state=/var/lib/$(values StateDirectory)
  mkdir -p "$state"
  chmod "$(values StateDirectoryMode)" "$state"
  chown -R "$user:$user" "$state"
  export CREDENTIALS_DIRECTORY=/run/credentials/$name
  rm -rf "$CREDENTIALS_DIRECTORY"
  mkdir -p "$CREDENTIALS_DIRECTORY"
  for credential in $(values LoadCredential); do
    # systemd does not start a unit whose credential is missing.
    cp "${credential#*:}" "$CREDENTIALS_DIRECTORY/${credential%%:*}" || exit 1
  done
  chown -R "$user:$user" "$CREDENTIALS_DIRECTORY"
  set -a
  eval "$(values Environment | sed 's|%S|/var/lib|')"
  for file in $(values EnvironmentFile); do . "${file#-}"; done
  set +a
  umask "$(values UMask)"
  in_background supervise
  until [ -s "$pid_file" ]; do sleep 0.1; done
  MAINPID=$(cat "$pid_file")
  for command in "$(values ExecStartPost)"; do
    (run_as_user "$(echo "$command" | sed "s/\$MAINPID/$MAINPID/")") >>"$log" 2>&1 9>&- || {
      if is_active; then
        stop
        rm -f "$stopping"
        in_background start_again
      fi
      echo "Job for $name failed." >&2
      exit 1
    }
  done
}

stop() {
  touch "$stopping"
  if is_active; then
    pid=$(cat "$pid_file")
    kill "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  fi
  rm -f "$pid_file"
}

actions=
for word in "$@"; do
  case "$word" in
    --*) ;;
    *.service) ;;
    *) actions="$actions $word" ;;
  esac
done
case "${actions# }" in
  start | stop | restart | disable)
    exec 9>/run/cambista.lock # one job after the other
    flock 9
    ;;
esac
case "${actions# }" in
  daemon-reload | reset-failed) ;;
  is-enabled)
    [ -L "$wanted" ] || { echo disabled && exit 1; }
    echo enabled
    ;;
  is-active)
    is_active || { echo inactive && exit 3; }
    echo active
    ;;
  enable | preset) find_unit && mkdir -p "${wanted%/*}" && ln -sf "$unit" "$wanted" ;;
  disable) rm -f "$wanted" && stop ;;
  start) start ;;
  stop) stop ;;
  restart) stop && start ;;
  *)
    echo "systemctl of the tests: $*" >&2
    exit 64
    ;;
esac
