import { resolve } from "node:path"
import { Command } from "commander"
import { examineProgram, type Finding } from "../program/doctor.ts"
import { DATA_DIRECTORY_NAME } from "./start/data-directory.ts"
import { tellAside } from "./start/find-engine.ts"
import { plain } from "./format/format.ts"
import { showSharedOptions, STORE_OPTIONS } from "./start/shared-options.ts"
import { withWaitExit } from "./start/wait-exit.ts"

const MARKS: Readonly<Record<Finding["status"], string>> = { ok: "ok     ", warning: "warning", problem: "PROBLEM" }

/** The program exits with 1 if a finding is a problem. */
export function createCommand(): Command {
  const doctor = new Command("doctor")
    .description("look at everything a start needs, and say what to do about what is missing")
    .option("--json", "as JSON, one object for each check")
    .action(async (_, command: Command) => {
      const { json, dataDir, engine } = command.optsWithGlobals<{ json?: true; dataDir?: string; engine?: string }>()
      const findings = await withWaitExit(tellAside, (tell) =>
        examineProgram({
          dataDirectory: resolve(dataDir ?? DATA_DIRECTORY_NAME),
          workingDirectory: process.cwd(),
          environment: process.env,
          tell,
          ...(engine !== undefined && { engine }),
        }),
      )
      process.stdout.write(json ? `${JSON.stringify(findings, null, 2)}\n` : formatFindings(findings))
      if (findings.some(({ status }) => status === "problem")) process.exitCode = 1
    })
  return showSharedOptions(doctor, STORE_OPTIONS)
}

function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings
    .flatMap(({ check, status, text, fix }) => [
      `${MARKS[status]}  ${plain(check).padEnd(width)}  ${indented(text, width)}`,
      ...(fix === null ? [] : [`${" ".repeat(width + 11)}→ ${plain(fix)}`]),
    ])
    .map((line) => `${line}\n`)
    .join("")
}

const indented = (text: string, width: number): string => plain(text).replaceAll("\n", `\n${" ".repeat(width + 11)}`)
