/**
 * The shell program between Meanwhile and a command. It does what must also happen when Meanwhile is gone:
 *
 * 1. Claims the right to run by creating `pid` exclusively. Whoever finds no such file after a crash creates it
 *    first, and then this command never runs.
 * 2. Runs the command, in this process group, with both of its streams in the output file.
 * 3. Writes `exit`. It outlives the signals that a stop sends to the group, so that this line is reached.
 *
 * Beside it the watcher, a copy of the shell, sleeps on descriptor 3 until Meanwhile dies, and from then on stops the
 * command when its output passes the limit it was given. It also notes the start time, off the command's path.
 *
 * Nothing but builtins on the way, and no variable of a name that a command may use: those would be exported to it.
 * Standard error is the wrapper's own (the shell prints there which signal ended a child) and goes nowhere.
 */
const SCRIPT = `trap : HUP INT QUIT TERM USR1 USR2
mw_directory=$1 mw_boot=$2 mw_output=$3 mw_limit=$4
shift 4
set -C
(
trap '' HUP INT QUIT TERM USR1 USR2
@START@
read -r mw_x <&3
PATH=/usr/bin:/bin
while kill -0 $$ && sleep 1; do
  [ "$(wc -c <"$mw_output")" -gt "$mw_limit" ] || continue
  echo over >"$mw_directory/over"
  kill -TERM -$$
  sleep 5
  echo 137 >"$mw_directory/exit"
  kill -KILL -$$
done
) >/dev/null &
echo "$$ $! $mw_boot" >"$mw_directory/pid" || { kill -KILL $!; kill -KILL $$; }
"$@" 2>&1 3<&-
mw_x=$?
echo $mw_x >"$mw_directory/exit"
kill -KILL $!
wait
exit $mw_x`

const START_ON_LINUX = `read -r ${"mw_x ".repeat(21)}mw_start mw_x </proc/$$/stat
echo "$mw_start" >"$mw_directory/start"`

const START_ELSEWHERE = `LC_ALL=C TZ=UTC /bin/ps -o lstart= -p $$ >"$mw_directory/start"`

const WRAPPER = SCRIPT.replace("@START@", process.platform === "linux" ? START_ON_LINUX : START_ELSEWHERE)

export interface WrapperRequest {
  /** Where `pid`, `start` and `exit` go. */
  readonly directory: string
  readonly bootId: string
  readonly outputPath: string
  /** The size of the output file past which the command is stopped while Meanwhile is down. */
  readonly stopPastBytes: number
  /** A path and its arguments. A bare name would be taken for a builtin of the shell. */
  readonly argv: readonly [string, ...string[]]
}

export function toWrapperArguments(request: WrapperRequest): string[] {
  const { directory, bootId, outputPath, stopPastBytes, argv } = request
  return ["-c", WRAPPER, "meanwhile", directory, bootId, outputPath, String(stopPastBytes), ...argv]
}
