import { stripVTControlCharacters } from "node:util"

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{18d00}-\u{18d8f}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d37f}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const WITHOUT_WIDTH = /\p{Mn}|\p{Me}|\p{Cf}/u

/** How many columns a text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of stripVTControlCharacters(text)) width += widthOfCharacter(character)
  return width
}

/** The text within so many columns; a longer one ends with `…`. Only for text without colours. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  return `${text.slice(0, indexAt(text, Math.max(0, columns - 1)))}…`
}

/** Where to break a line that is too long: behind the last space that fits, else where the room ends. */
export function breakAt(text: string, columns: number): number {
  const end = indexAt(text, columns)
  const space = text.lastIndexOf(" ", end - 1)
  return space > 0 ? space + 1 : Math.max(end, 1)
}

/** How many UTF-16 units of a text fit into so many columns. */
function indexAt(text: string, columns: number): number {
  let width = 0
  let index = 0
  for (const character of text) {
    width += widthOfCharacter(character)
    if (width > columns) return index
    index += character.length
  }
  return index
}

function widthOfCharacter(character: string): number {
  if (WITHOUT_WIDTH.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
