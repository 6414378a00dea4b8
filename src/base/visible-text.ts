/**
 * Control characters except line feed and tab, and characters that hide text, turn its direction around, or are blank
 * without being spaces.
 */
const INVISIBLE = /[^\P{Cc}\n\t]|[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu

/**
 * Replaces each character that could act on a terminal or deceive a reader by its code, so that people see what they
 * answer. A text longer than `longest` is cut, followed by the number of missing characters.
 */
export function toVisibleText(text: string, longest = Number.POSITIVE_INFINITY): string {
  const left = text.length - longest
  const shown = left > 0 ? `${text.slice(0, longest)}\n[${left} more characters are NOT shown]` : text
  return shown.replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}
