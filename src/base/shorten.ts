/** At most so many characters; the last is an ellipsis where something was cut off. */
export function shorten(text: string, mostCharacters: number): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1)}…` : text
}
