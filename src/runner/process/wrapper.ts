import { encodeIdentity, type ProcessIdentity } from "./identity.ts"

/**
 * The shell program between Meanwhile and a command. It does what must also happen when Meanwhile is gone:
 *
 * 1. Claims the right to run by creating the process file, which must not exist. A restart that finds none after a
 * crash
 *    creates it first, and then this command never runs.
 * 2. Runs the command, in this process group, with both of its streams in the output file.
 * 3. Adds how the command ended. It outlives the signals that a stop sends to the group, so that this line is reached.
 *
 * Nothing but builtins on the way, and no variable of a name that a command may use: those would be exported to it.
 * Standard error is the wrapper's own and goes nowhere: the shell prints there which signal ended a child. Only in the
 * subshell is it the output, and that costs 0.1 ms that a plain call would save.
 */
const SCRIPT = `trap : HUP INT QUIT TERM USR1 USR2
mw_file=$1 mw_facts=$2
shift 2
set -C
echo "claim $$ $mw_facts" >"$mw_file" || kill -KILL $$
(exec "$@" 2>&1)
mw_facts=$?
echo "exit $mw_facts" >>"$mw_file"
exit $mw_facts`

export interface WrapperRequest {
  /** The process file: does not exist, its folder does. */
  readonly path: string
  readonly owner: ProcessIdentity
  /** The size of the output file past which the guard stops the command. */
  readonly stopPastBytes: number
  /** A path and its arguments. A bare name would be taken for a builtin of the shell. */
  readonly argv: readonly [string, ...string[]]
}

export function toWrapperArguments({ path, owner, stopPastBytes, argv }: WrapperRequest): string[] {
  return ["-c", SCRIPT, "meanwhile", path, `${stopPastBytes} ${owner.bootId} ${encodeIdentity(owner)}`, ...argv]
}
