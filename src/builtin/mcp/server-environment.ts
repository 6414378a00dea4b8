/** What a program needs to start at all; nothing of it is a secret. */
const BASICS = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"]

/** All a server gets to see: the basics of Meanwhile's own environment, and what the configuration gives it. */
export function toEnvironment(
  environment: Readonly<Record<string, string>>,
  ofServer: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const basics = Object.entries(environment).filter(([name]) => BASICS.includes(name))
  return { ...Object.fromEntries(basics), ...ofServer }
}
