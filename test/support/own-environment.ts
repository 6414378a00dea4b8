/**
 * The environment of a process that a test starts. HOME is the test's own, so that the person's trust list does not count. The
 * cache of compiled code is shared.
 */
export function createOwnEnvironment(
  home: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env
  return { PATH, NODE_COMPILE_CACHE, HOME: home, ...more }
}
