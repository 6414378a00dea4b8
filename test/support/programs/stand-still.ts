/**
 * Loaded before a program that a test starts: the program stands still (SIGSTOP) once, before it makes the folder of a run
 * or before it spawns a command. A built program takes functions of builtin modules when it is loaded, so nothing here may
 * import one.
 */
export type StandStill = "stops_at_folder" | "stops_at_spawn"

const habit = process.argv.at(4)
if (habit === ("stops_at_folder" satisfies StandStill)) {
  stopBefore(process.getBuiltinModule("node:fs"), "mkdirSync", ([path]) => String(path).endsWith("/1"))
}
if (habit === ("stops_at_spawn" satisfies StandStill)) {
  const isWrapper = ([, given]: readonly unknown[]): boolean => Array.isArray(given) && given.includes("meanwhile")
  stopBefore(process.getBuiltinModule("node:child_process"), "spawn", isWrapper)
}

function stopBefore(builtin: object, name: string, isHere: (given: readonly unknown[]) => boolean): void {
  const original: unknown = Reflect.get(builtin, name)
  if (typeof original !== "function") throw new Error(`There is no ${name}.`)
  let hasStood = false
  Reflect.set(builtin, name, (...given: unknown[]): unknown => {
    if (!hasStood && isHere(given)) {
      hasStood = true
      process.kill(process.pid, "SIGSTOP")
    }
    const result: unknown = Reflect.apply(original, builtin, given)
    return result
  })
}
