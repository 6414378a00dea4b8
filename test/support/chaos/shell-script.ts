/** A command whose whole output and exit code follow from its text. */
export interface ShellScript {
  readonly lines: number
  readonly pauseSeconds: number
  readonly exitCode: number
}

/** The command also notes in the file `$EFFECTS` that it ran, which Meanwhile knows nothing of. */
export function toCommand({ lines, pauseSeconds, exitCode }: ShellScript): string {
  const loop = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i"; sleep ${pauseSeconds}; done`
  return `echo "did $MEANWHILE_TASK/shell-once" >>"$EFFECTS"; ${loop}; exit ${exitCode}`
}

const COMMAND = /-lt (\d+) .*exit (\d+)$/

export function toExpectation(command: string): { readonly output: string; readonly exitCode: number } {
  const match = COMMAND.exec(command)
  const lines = Number(match?.[1])
  return {
    output: Array.from({ length: lines }, (_, index) => `line ${index + 1}\n`).join(""),
    exitCode: Number(match?.[2]),
  }
}
