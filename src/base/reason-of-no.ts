/**
 * The reason given with a "no": `use pnpm` for `no, use pnpm`, the whole text for `no tests here`, nothing for a plain
 * `no`.
 */
export function toReasonOfNo(answer: string): string {
  return answer.trim().replace(/^no?(?:\s*[,:;.]\s*|\s+-\s+|$)/i, "")
}
