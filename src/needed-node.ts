const OLDEST_NODE = 24
const { node } = process.versions

if (Number.parseInt(node, 10) < OLDEST_NODE) {
  const error = new Error(`Meanwhile needs Node ${OLDEST_NODE} or newer; this is ${node}.`)
  error.stack = error.message
  throw error
}
