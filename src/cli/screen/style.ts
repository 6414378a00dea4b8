const ESCAPE = "\u001b["

export type Style = ReturnType<typeof createStyle>

/**
 * Puts colours around text that is clean already, or leaves it as it is where colours are off. https://no-color.org: any
 * value but the empty one turns colours off.
 */
export function createStyle(
  output: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
) {
  const isColoured = output.isTTY === true && !environment["NO_COLOR"] && environment["TERM"] !== "dumb"
  const paint = (on: number, off: number) => (text: string) =>
    isColoured && text !== "" ? `${ESCAPE}${on}m${text}${ESCAPE}${off}m` : text
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  }
}
