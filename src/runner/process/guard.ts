import { type ChildProcess, spawn } from "node:child_process"
import type { Socket } from "node:net"
import { encodeIdentity, type ProcessIdentity } from "./identity.ts"

/** The fewest looks after the process died, one each second: a command that was being started may claim its file late. */
const LOOKS_AFTER_DEATH = 5
/** A process that closes sends this number instead: none of its commands is still being started. */
const LOOKS_AFTER_CLOSE = 0

/**
 * The guard is a shell that outlives its Meanwhile process. It sleeps on its standard input until that process dies or
 * closes. From then on it stops every command of that process that prints more than it may, or that is past the time
 * limit that a closing process noted for it. It ends when all of those commands have ended. One guard serves all
 * commands: one for each would cost every command a third of a millisecond.
 *
 * A pid alone is not trusted: the process must carry the marker of its task and run.
 */
const SCRIPT = `trap '' HUP INT QUIT TERM
read -r line
carries() {
  { tr '\\0' '\\n' <"/proc/$1/environ" || /bin/ps -Eww -o command= -p "$1"; } | grep -q "MEANWHILE_TASK=$2/"
}
guard() {
  left=
  now=$(date +%s)
  for file in "$1"/*/*/process-*; do
    read -r word pid limit boot owner <"$file" && kill -0 "$pid" || continue
    case $owner in "$2" | "$2 | "*) ;; *) continue ;; esac
    until=0 told= ended=
    while read -r word value _; do
      case $word in
        until) until=$value ;;
        over|late) told=1 ;;
        exit) ended=1 ;;
      esac
    done <"$file"
    [ "$ended" ] && continue
    left=1
    run=\${file%/*}
    printed=0
    for output in "$run/output" "$run"/*-output; do
      size=$(wc -c <"$output") && [ "$size" -gt "$printed" ] && printed=$size
    done
    if [ "$printed" -gt "$limit" ]; then
      why=over
    elif [ "$until" -gt 0 ] && [ "$now" -ge "$until" ]; then
      why=late
    else
      continue
    fi
    carries "$pid" "\${run#"$1"/}" || continue
    if [ "$told" ]; then
      echo 'exit 137' >>"$file"
      kill -KILL "-$pid"
      continue
    fi
    echo "$why" >>"$file"
    kill -TERM "-$pid"
    kill -CONT "-$pid"
  done
  [ "$left" ]
}
looks=\${line:-${LOOKS_AFTER_DEATH}}
while guard "$1" "$2" || [ "$looks" -gt 0 ]; do
  looks=$((looks - 1))
  sleep 1
done`

export interface Guard {
  /** Starts the guard unless it runs. Its process exists when this returns. */
  ensure(): void
  /** Tells the guard that this process closes. It watches the commands that still run, or ends if there are none. */
  close(): void
}

export function createGuard(spoolDirectory: string, owner: ProcessIdentity): Guard {
  let child: ChildProcess | undefined

  function start(): ChildProcess {
    const started = spawn("/bin/sh", ["-c", SCRIPT, "meanwhile-guard", spoolDirectory, encodeIdentity(owner)], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    })
    const forget = (): void => {
      if (child === started) child = undefined
    }
    started.on("exit", forget)
    started.on("error", forget)
    // Undefined when the machine had no file descriptor left.
    const lifeline = started.stdin as Socket | undefined
    lifeline?.on("error", () => undefined)
    lifeline?.unref()
    started.unref()
    return started
  }

  return {
    ensure() {
      child ??= start()
    },
    close() {
      child?.stdin?.end(`${LOOKS_AFTER_CLOSE}\n`)
      child = undefined
    },
  }
}
