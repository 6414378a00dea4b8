/**
 * Of a process that a test starts. HOME is the test's own: what a person trusts at home is none of its business. What was
 * compiled is everybody's.
 */
export function createOwnEnvironment(
  home: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env
  return { PATH, NODE_COMPILE_CACHE, HOME: home, ...more }
}
