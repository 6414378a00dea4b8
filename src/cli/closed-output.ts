/** As a shell reports a program that wrote into a pipe nobody read any more: 128 and the number of SIGPIPE. */
const CLOSED_OUTPUT = 141

/**
 * Whoever read the output may have seen enough, as `head` has: then the program is told to end, as by a signal, and says
 * nothing more. Without anybody at the other end of standard error it goes on.
 */
export function endWithOutput(): void {
  let isEnding = false
  process.stderr.on("error", requireClosed)
  process.stdout.on("error", (error: Error) => {
    requireClosed(error)
    if (isEnding) return
    isEnding = true
    process.on("exit", () => (process.exitCode = CLOSED_OUTPUT))
    process.emit("SIGTERM", "SIGTERM")
  })
}

function requireClosed(error: Error): void {
  if (!("code" in error) || error.code !== "EPIPE") throw error
}
