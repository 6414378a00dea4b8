import { type ChildProcess, spawn } from "node:child_process"
import type { Socket } from "node:net"
import { encodeIdentity, type ProcessIdentity } from "./identity.ts"

/** So long after a death, in seconds, what was being started just then may still say that it is there. */
const LOOKS_AFTER_DEATH = 5
/** Sent instead by a process that closes: the list of its commands is complete. */
const LOOKS_AFTER_CLOSE = 0

/**
 * The guard outlives its Meanwhile process: a shell that sleeps on its standard input until that process dies, and from
 * then on stops every command of its that prints more than it was allowed. It ends when all of them have ended. One for
 * all commands: a copy beside each would cost every command a third of a millisecond.
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
  for file in "$1"/*/*/process-*; do
    read -r word pid limit boot owner <"$file" && [ "$owner" = "$2" ] && kill -0 "$pid" || continue
    grep -q '^exit' "$file" && continue
    left=1
    run=\${file%/*}
    [ "$(wc -c <"$run/output")" -gt "$limit" ] && carries "$pid" "\${run#"$1"/}" || continue
    if grep -q '^over' "$file"; then
      echo 'exit 137' >>"$file"
      kill -KILL "-$pid"
      continue
    fi
    echo over >>"$file"
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

export type Guard = ReturnType<typeof createGuard>

export function createGuard(spoolDirectory: string, owner: ProcessIdentity) {
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
    // There is none when the machine had no descriptor left for it.
    const lifeline = started.stdin as Socket | undefined
    lifeline?.on("error", () => undefined)
    lifeline?.unref()
    started.unref()
    return started
  }

  return {
    /** Starts it unless it runs. It is there before this returns. */
    ensure(): void {
      child ??= start()
    },
    /** It goes on duty for what is left, or ends. */
    close(): void {
      child?.stdin?.end(`${LOOKS_AFTER_CLOSE}\n`)
      child = undefined
    },
  }
}
