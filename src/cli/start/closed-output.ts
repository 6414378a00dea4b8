import type { ReadStream } from "node:tty"

/** The exit code of a program that wrote into a closed pipe: 128 and the number of SIGPIPE. */
const CLOSED_OUTPUT = 141

/**
 * The reader of the output may have seen enough, as `head` has, or its terminal may be gone: then the program is told
 * to end, as by SIGHUP, and says nothing more. Without anybody at the other end of standard error it goes on.
 */
export function endWithOutput(): void {
  const { stdout, stderr } = process
  let isEnding = false
  stderr.on("error", (error: Error) => requireClosed(error, stderr))
  stdout.on("error", (error: Error) => {
    requireClosed(error, stdout)
    if (isEnding) return
    isEnding = true
    if (!stdout.isTTY) process.on("exit", () => (process.exitCode = CLOSED_OUTPUT))
    process.emit("SIGHUP", "SIGHUP")
  })
}

/** The same for a terminal from which the program reads. */
export function endWithTerminal(input: ReadStream): void {
  input.on("error", (error) => {
    requireClosed(error, input)
    process.emit("SIGHUP", "SIGHUP")
  })
}

/** A terminal that is gone refuses with EIO; of anything else that is a failure. */
function requireClosed(error: Error, stream: { readonly isTTY: boolean }): void {
  const code = "code" in error ? error.code : undefined
  if (code !== (stream.isTTY ? "EIO" : "EPIPE")) throw error
}
