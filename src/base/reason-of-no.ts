/** What is said with a no: of `no, use pnpm` what follows, of `no tests here` all of it, and nothing of a mere no. */
export function toReasonOfNo(answer: string): string {
  return answer.trim().replace(/^no?(?:\s*[,:;.]\s*|\s+-\s+|$)/i, "")
}
