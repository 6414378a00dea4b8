/** `\$1` stays `$1`. One pass: what an argument holds is never taken for a place to fill. */
const PLACES =
  /\\(?<plain>\$(?:ARGUMENTS\b|[1-9](?!\d)))|\$(?:ARGUMENTS\b|(?<number>[1-9])(?!\d))|\{\{ *(?:(?<slot>[1-9])|args) *\}\}/g

/**
 * Fills in what was typed after the command. `$ARGUMENTS` and `{{args}}` are all of it, `$1` and `{{1}}` its first
 * word. In a text without any place for them the arguments come last: they are never lost.
 */
export function fillTemplate(template: string, argument: string): string {
  const whole = argument.trim()
  const words = splitWords(whole)
  let hasPlace = false
  const filled = template.replaceAll(PLACES, (...match) => {
    const { plain, number, slot } = match.at(-1) as Partial<Record<string, string>>
    if (plain !== undefined) return plain
    hasPlace = true
    const position = number ?? slot
    return position === undefined ? whole : (words[Number(position) - 1] ?? "")
  })
  return hasPlace || whole === "" ? filled.trim() : `${filled.trim()}\n\n${whole}`
}

/** At spaces, except inside double or single quotes, which are taken off. A quote that is not closed is a character. */
export function splitWords(text: string): readonly string[] {
  return [...text.matchAll(/(?:"[^"]*"|'[^']*'|\S)+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
  )
}
