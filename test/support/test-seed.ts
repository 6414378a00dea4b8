const VARIABLE = "MEANWHILE_TEST_SEED"
const LARGEST = 2 ** 31 - 1

/**
 * The seed that this run hands to its tests, or undefined if each suite keeps its own. A short run is the same every time. A
 * long run takes a new seed each time, prints it, and can be given it again.
 */
export function chooseSeed(isLong: boolean, given = process.env[VARIABLE]): number | undefined {
  if (given === undefined || given === "") return isLong ? Math.floor(Math.random() * LARGEST) : undefined
  const seed = Number(given)
  if (Number.isSafeInteger(seed) && seed >= 0 && seed <= LARGEST) return seed
  throw new Error(`${VARIABLE} is ${given}. Give a whole number from 0 to ${LARGEST}.`)
}

/** The environment of the tests of this run. Projects that are configured one after another get the same seed. */
export function toSeedEnvironment(isLong: boolean): Readonly<Record<string, string>> {
  const isGiven = Boolean(process.env[VARIABLE])
  const seed = chooseSeed(isLong)
  if (seed === undefined) return {}
  process.env[VARIABLE] = String(seed)
  if (!isGiven) process.stderr.write(`The seed of this run is ${seed}. To repeat it: ${VARIABLE}=${seed}\n`)
  return { [VARIABLE]: String(seed) }
}
