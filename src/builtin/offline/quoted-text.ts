const QUOTES = "`\"'"

/** Splits at a separator that is not inside backticks or quotes. A quote that is never closed is a plain character. */
export function splitOutsideQuotes(text: string, separator: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ""
    if (text.startsWith(separator, at)) {
      parts.push(text.slice(start, at))
      start = at + separator.length
      at = start - 1
    } else if (QUOTES.includes(character) && !/\w/.test(text[at - 1] ?? "")) {
      const end = text.indexOf(character, at + 1)
      if (end > at) at = end
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== "")
}

/** Takes off the quotes around a text, of any kind. */
export function unquote(text: string): string {
  const match = /^(?:`([^`]*)`|"([^"]*)"|'([^']*)'|“([^”]*)”)[.!?]?$/s.exec(text.trim())
  return match ? (match.slice(1).find((inner) => inner !== undefined) ?? "") : text.trim()
}

/** Quotes other than backticks belong to the shell. */
export function toCommand(text: string): string {
  const trimmed = text.trim()
  return /^`[^`]*`[.!?]?$/s.test(trimmed) ? unquote(trimmed) : trimmed
}

/** `A, B and C` and `A; B; C` alike. */
export function toList(text: string): readonly string[] {
  const separator = text.includes(";") ? ";" : ","
  return splitOutsideQuotes(text, separator)
    .flatMap((part, index, parts) =>
      index === parts.length - 1 ? part.replace(/^(?:and|or) /i, "").split(/ (?:and|or) /i) : [part],
    )
    .map(unquote)
}

/** `A, B and C`. A comma separates commands only where they are in backticks: elsewhere it is the shell's. */
export function toCommands(text: string): readonly string[] {
  const parts = splitOutsideQuotes(text, " and ")
  const single = text.startsWith("`") ? parts.flatMap((part) => splitOutsideQuotes(part, ", ")) : parts
  return single.map((part) => toCommand(part.replace(/^run /i, "").replace(/(?<=`),$/, "")))
}
