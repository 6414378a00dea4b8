/**
 * `*` is any run of characters, `?` any one; everything else is itself. In time of text times pattern, whatever the
 * pattern: one side of it comes from a model.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let inPattern = 0
  let inText = 0
  let star = -1
  let starText = 0
  while (inText < text.length) {
    const wanted = pattern[inPattern]
    if (wanted === "*") {
      star = inPattern++
      starText = inText
    } else if (wanted === "?" || wanted === text[inText]) {
      inPattern++
      inText++
    } else if (star >= 0) {
      inPattern = star + 1
      inText = ++starText
    } else return false
  }
  while (pattern[inPattern] === "*") inPattern++
  return inPattern === pattern.length
}
