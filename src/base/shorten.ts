/** At most so many characters, well-formed. The last is an ellipsis where something was cut off. */
export function shorten(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text.toWellFormed()
  return mostCharacters < 1 ? "" : `${toHead(text, mostCharacters - 1).trimEnd()}…`
}

/**
 * At most so many characters, well-formed. A longer text keeps its beginning and its end, which say more than the middle.
 * `toNote` writes what stands between the two, from the number of characters left out. Where the note leaves no room for
 * the text, only the beginning stays.
 */
export function shortenMiddle(
  text: string,
  mostCharacters: number,
  toNote: (leftOut: number) => string = tellLeftOut,
  tailShare = 0.5,
): string {
  if (text.length <= mostCharacters) return text.toWellFormed()
  // No note is longer than this one, as fewer characters are left out than the text has.
  const room = mostCharacters - toNote(text.length).length
  if (room < 1) return shorten(text, mostCharacters)
  const tail = toTail(text, Math.floor(room * tailShare))
  const head = toHead(text, room - tail.length)
  return `${head}${toNote(text.length - head.length - tail.length)}${tail}`
}

function tellLeftOut(count: number): string {
  return ` [… ${count} characters left out …] `
}

const toHead = (text: string, length: number): string =>
  text
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, "")
    .toWellFormed()

const toTail = (text: string, length: number): string =>
  text
    .slice(text.length - length)
    .replace(/^[\uDC00-\uDFFF]/, "")
    .toWellFormed()
