import type { ReadStream } from "node:tty"

/** The exit code of a program that wrote into a closed pipe: 128 and the number of SIGPIPE. */
const CLOSED_OUTPUT = 141

/**
 * The reader of standard output may have seen enough, as `head` has, or the terminal may be gone: then the program is
 * told to end, as by SIGHUP, and prints nothing more. If only the reader of standard error is gone, the program goes on.
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

/** Tells the program to end, as by SIGHUP, when the terminal that it reads from is gone. */
export function endWithTerminal(input: ReadStream): void {
  input.on("error", (error) => {
    requireClosed(error, input)
    process.emit("SIGHUP", "SIGHUP")
  })
}

/** Throws any error but that of a closed output: EIO from a terminal, EPIPE from anything else. */
function requireClosed(error: Error, stream: { readonly isTTY: boolean }): void {
  const code = "code" in error ? error.code : undefined
  if (code !== (stream.isTTY ? "EIO" : "EPIPE")) throw error
}
