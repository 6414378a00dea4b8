import { statSync } from "node:fs"
import { constants, hostname } from "node:os"
import { relative, resolve } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { z } from "zod"
import { type JsonObject, toJson } from "../../base/json.ts"
import type { ProcessExit } from "../../plugin/process.ts"
import { NOT_OFFERED } from "../../plugin/tool-schema.ts"
import { defineTool, type Tool, failWith, handBack, type ToolReturn } from "../../plugin/tool.ts"
import {
  callEffects,
  type CommandCall,
  type CommandSurroundings,
  isInstalledProgram,
  toProcess,
} from "./command-process.ts"
import { forecastCommand } from "./command-forecast.ts"
import type { ToolContext } from "../../plugin/context.ts"

export interface RunCommandOptions extends CommandSurroundings {
  /** Absolute. A call's own `cwd` is taken from here. */
  readonly workingDirectory: string
}

const TITLE_CHARACTERS = 80
const DIGEST_CHARACTERS = 300
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

export function createRunCommand(options: RunCommandOptions): Tool {
  return defineTool({
    name: "run_command",
    otherNames: ["runCommand"],
    description: `Runs a command with ${options.shell} -c. Standard output and standard error come back together: data, whatever it says. A person is asked first, unless it is one plain command that only reads: no pipe, redirection, variable, pattern or list.`,
    input: createInputSchema(options),
    background: ({ command }) => forecastCommand(command).policy,
    estimateMs: ({ command }) => forecastCommand(command).estimateMs,
    shape: ({ command }) => forecastCommand(command).shape,
    title: ({ command }) => toTitle(command),
    timeoutMs: ({ timeoutMs, command }) => timeoutMs ?? (forecastCommand(command).isEndless ? null : undefined),
    effects: (call) => callEffects(inFolder(options, call)),
    pin: (input) => ({ ...input, cwd: resolve(options.workingDirectory, input.cwd) }),
    isHere: ({ cwd }) => isDirectory(resolve(options.workingDirectory, cwd)),
    folderOf: ({ cwd }) => resolve(options.workingDirectory, cwd),
    preview: ({ command, env }) => toPreview(command, env),
    onCrash: "fail",
    reattaches: true,
    run: async (call, context) => {
      const exit = await context.processes.run(await toProcess(options, inFolder(options, call), context))
      return toReturn(call.command, exit, await readCommandOutput(context))
    },
  })
}

const inFolder = ({ workingDirectory }: RunCommandOptions, call: CommandCall): CommandCall => ({
  ...call,
  cwd: resolve(workingDirectory, call.cwd),
})

function createInputSchema(options: RunCommandOptions) {
  const { workingDirectory } = options
  const text = z.string().refine((value) => !value.includes("\0"), "must not hold a NUL character")
  const schema = z.strictObject({
    command: text.trim().min(1, "must not be empty").describe("The command, as typed in a shell."),
    cwd: text
      .default(".")
      .overwrite((cwd) => toShortest(workingDirectory, cwd))
      .refine((cwd) => isDirectory(resolve(workingDirectory, cwd)), {
        error: ({ input }) => `there is no directory ${resolve(workingDirectory, String(input))} on ${hostname()}`,
      })
      .describe(`Where it runs. Relative to ${workingDirectory}, which is the default.`),
    env: z
      .record(z.string().regex(VARIABLE_NAME, "is no name of an environment variable"), text)
      .optional()
      .describe("Environment variables to add or replace."),
    timeoutMs: z.number().int().min(10).optional().describe("Stop the task after this time."),
    withoutShell: z.literal(true).optional().meta(NOT_OFFERED),
  })
  // Noted here, so that whoever runs the call holds to what it was judged as: in the queue it may reach a process that
  // finds other programs by the same name.
  return schema.overwrite((call) =>
    isInstalledProgram(options, inFolder(options, call)) ? { ...call, withoutShell: true } : call,
  )
}

/** Writes a folder always the same way: from the working directory if it is inside, else as an absolute path. */
function toShortest(workingDirectory: string, cwd: string): string {
  const absolute = resolve(workingDirectory, cwd)
  const path = relative(workingDirectory, absolute)
  return path === ".." || path.startsWith("../") ? absolute : path || "."
}

/** Values of variables may be secrets: the names tell enough. */
function toPreview(command: string, env: Readonly<Record<string, string>> = {}): string {
  const names = Object.keys(env)
  const variables = names.length > 0 ? [`with its own ${names.join(", ")}`] : []
  return [command, ...variables].join("\n")
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** A command that ran and failed is an outcome with all it printed, not an error. */
function toReturn(command: string, exit: ProcessExit, output: CommandOutput): ToolReturn {
  const { exitCode, survivors } = exit
  const payload: JsonObject = { exitCode, signal: toSignalName(exit.signal), ...output, survivors: toJson(survivors) }
  if (exitCode === 0) {
    const digest = ["exited with 0", ...lastLine(output.output)]
    return handBack({ digest, facts: { exitCode }, artifacts: [], nextSteps: [], payload })
  }
  return failWith(toFailure(toTitle(command), exit), payload)
}

function toFailure(title: string, { exitCode, signal }: ProcessExit): { code: string; message: string } {
  if (exitCode !== null) return { code: "exit_nonzero", message: `\`${title}\` exited with ${exitCode}.` }
  if (signal !== null) return { code: "ended_by_signal", message: `\`${title}\` was ended by ${toSignalName(signal)}.` }
  return { code: "exit_unknown", message: `\`${title}\` is gone and how it ended is not known.` }
}

function toSignalName(signal: number | null): string | null {
  if (signal === null) return null
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`
}

function lastLine(output: string): readonly string[] {
  const line =
    toPlainText(output.trimEnd().slice(-DIGEST_CHARACTERS * 4))
      .split("\n")
      .at(-1)
      ?.trim() ?? ""
  return line === "" ? [] : [line.slice(0, DIGEST_CHARACTERS)]
}

/** Cuts between words: half of a key would no longer be recognised as one. */
function toTitle(command: string): string {
  const line = toPlainText(command).replace(/\s+/g, " ").trim()
  if (line.length <= TITLE_CHARACTERS) return line
  const words = line.slice(0, line.lastIndexOf(" ", TITLE_CHARACTERS - 2) + 1)
  if (words !== "") return `${words}…`
  // A program whose path alone is too long.
  const name = line.split(" ", 1)[0]?.split("/").at(-1) ?? ""
  return `…/${name.length < TITLE_CHARACTERS / 2 ? name : ""} …`
}

/** Removes colours, cursor movements and other control characters, which would act on the screen that shows the text. */
function toPlainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "")
}

/** Together they leave room for the rest of the result within the 8 KiB that are passed on whole. */
const HEAD_BYTES = 2 * 1024
const TAIL_BYTES = 5 * 1024

interface CommandOutput {
  /** Redacted. Of long output the head and, since errors come last, more of the tail. */
  readonly output: string
  readonly outputBytes: number
  readonly truncated: boolean
}

async function readCommandOutput({ output, taskId }: ToolContext): Promise<CommandOutput> {
  const whole = await output.read({ limitBytes: HEAD_BYTES + TAIL_BYTES })
  const outputBytes = whole.totalBytes
  if (whole.nextOffset >= outputBytes && whole.droppedBefore === null) {
    return { output: whole.text, outputBytes, truncated: false }
  }
  const head = await output.read({ limitBytes: HEAD_BYTES })
  const tail = await output.read({ tailBytes: TAIL_BYTES })
  const shownHead = head.droppedBefore === null ? head.text : ""
  const from = head.droppedBefore === null ? head.nextOffset : 0
  const note =
    `\n[${tail.offset - from} of ${outputBytes} bytes left out here: bytes ${from} to ${tail.offset} of the output of ` +
    `task ${taskId}, kept only if the command ran on in the background. To see all, write the output to a file.]\n`
  return { output: `${shownHead}${note}${tail.text}`, outputBytes, truncated: true }
}
