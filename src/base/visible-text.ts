/** Control characters but line feed and tab, and those that hide or turn text around. */
const INVISIBLE = /[^\P{Cc}\n\t]|[\p{Cf}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu

/**
 * Shows what would act on a screen or deceive a reader as its code, so that people see what they answer. Of a longer text
 * the beginning, and how much is missing.
 */
export function toVisibleText(text: string, longest = Number.POSITIVE_INFINITY): string {
  const left = text.length - longest
  const shown = left > 0 ? `${text.slice(0, longest)}\n[${left} more characters are NOT shown]` : text
  return shown.replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}
