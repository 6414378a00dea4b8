/** Makes one line of any text: line ends, other control characters and runs of spaces become one space each. */
export function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim()
}
