/** The same seed makes the same decisions. `MEANWHILE_TEST_SEED=123` tries others. */
export const TEST_SEED = Number(process.env["MEANWHILE_TEST_SEED"] ?? 20_240_607)

export const isLong = process.env["MEANWHILE_TEST_LENGTH"] === "long"

export interface Random {
  /** From 0 up to and without 1. */
  fraction(): number
  /** From `least` to `most`, both included. */
  integer(least: number, most: number): number
  pick<Item>(items: readonly [Item, ...Item[]]): Item
  chance(share: number): boolean
}

/** Mulberry32: small, fast, and the same on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1))
  return {
    fraction,
    integer,
    pick: (items) => items[integer(0, items.length - 1)] ?? items[0],
    chance: (share) => fraction() < share,
  }
}

/** Adds to a failure of one of many seeded rounds the command that repeats it. `name` is a part of the test's title. */
export async function withSeed<Result>(
  file: string,
  name: string,
  seed: number,
  round: () => Promise<Result>,
): Promise<Result> {
  try {
    return await round()
  } catch (error) {
    const command = toRepeatCommand(file, name, isLong)
    throw new Error(
      `${error instanceof Error ? error.message : String(error)}\n(round seed ${seed}) Repeat: ${command}`,
      {
        cause: error,
      },
    )
  }
}

/** A long run plays other rounds than a short one. */
export function toRepeatCommand(file: string, name: string, ofLongRun: boolean): string {
  return `MEANWHILE_TEST_SEED=${TEST_SEED} npx vitest run ${ofLongRun ? "--mode long " : ""}${file} -t "${name}"`
}

/** Throws all violations in one message, because a repeated round may fail differently. */
export function requireNone(violations: readonly string[]): void {
  if (violations.length > 0) throw new Error(violations.join("\n"))
}
