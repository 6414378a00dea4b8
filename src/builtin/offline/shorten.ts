/** The head and the tail of a long text, with what is left out between them. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  return `${text.slice(0, half)} […${text.length - 2 * half} characters…] ${text.slice(-half)}`
}
