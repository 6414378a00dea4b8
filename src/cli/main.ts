#!/usr/bin/env node
// Imports nothing, in plain syntax, until the version is known: an older Node cannot even read the rest.
const OLDEST_NODE = 24
const { node } = process.versions

if (Number.parseInt(node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `Meanwhile needs Node ${OLDEST_NODE} or newer; this is ${node}. Install it from https://nodejs.org, or with a version manager.\n`,
  )
  process.exitCode = 2
} else {
  // Node would also print the source line that threw, which tells a person nothing.
  process.once("uncaughtException", (error) => {
    process.stderr.write(`${(error instanceof Error && error.stack) || String(error)}\n`)
    process.exit(1)
  })
  const { runProgram } = await import("./run-program.ts")
  await runProgram(process.argv.slice(2))
}
