const MOST_NAMES = 3

/** The names a person may have meant, nearest first. */
export function findNearNames(name: string, candidates: Iterable<string>): readonly string[] {
  const wanted = normalise(name)
  const furthest = wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3))
  return [...new Set(candidates)]
    .map((candidate) => ({ candidate, ...compare(wanted, normalise(candidate)) }))
    .filter(({ distance, isAlike }) => isAlike && distance <= furthest)
    .toSorted((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate))
    .slice(0, MOST_NAMES)
    .map(({ candidate }) => candidate)
}

/** `runCommand`, `run-command` and `run_command` are one name to a reader. */
function normalise(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "")
}

/** Names that differ in every character are not alike, even if they are so short that their distance is small. */
function compare(a: string, b: string): { readonly distance: number; readonly isAlike: boolean } {
  const distance = distanceBetween(a, b)
  return { distance, isAlike: a === b || distance < Math.max(a.length, b.length) }
}

/** How many characters must be put in, taken out or replaced; a name inside the other is one step away. */
function distanceBetween(a: string, b: string): number {
  if (a.length > 2 && b.length > 2 && a !== b && (a.includes(b) || b.includes(a))) return 1
  let before = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (before[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (before[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    before = current
  }
  return before[b.length] ?? 0
}
