import { join } from "node:path"

/** Names the folder with the built programs. `build-programs.ts` sets it for slow tests. */
export const PROGRAMS_VARIABLE = "MEANWHILE_TEST_PROGRAMS"

/** The path of a program that a test starts: `cli/main`, or one of `test/support/programs`. */
export function builtProgram(name: string): string {
  const folder = process.env[PROGRAMS_VARIABLE]
  if (!folder) throw new Error("Programs are built for slow tests only: name this test *.slow.test.ts.")
  return join(folder, `${name}.js`)
}
