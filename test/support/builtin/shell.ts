import { actFreely, type ToolContext } from "../../../src/plugin/context.ts"
import type { OutputChunk, OutputRequest } from "../../../src/plugin/output.ts"
import type { ProcessExit, ProcessRequest } from "../../../src/plugin/process.ts"
import type { Tool } from "../../../src/plugin/tool.ts"
import type { TaskId } from "../../../src/task/id.ts"
import { parsed } from "../plugin/parsed.ts"

const SUCCESS: ProcessExit = { exitCode: 0, signal: null, survivors: [] }

/** A context whose only process prints `printed` and ends with `exit`. */
export function createContext(printed: string, exit: ProcessExit = SUCCESS) {
  const requests: ProcessRequest[] = []
  const bytes = Buffer.from(printed)
  const read = async ({
    offset = 0,
    tailBytes,
    limitBytes = bytes.length,
  }: OutputRequest = {}): Promise<OutputChunk> => {
    const start = tailBytes === undefined ? offset : Math.max(0, bytes.length - tailBytes)
    const end = Math.min(bytes.length, start + limitBytes)
    const text = bytes.subarray(start, end).toString()
    const place = { offset: start, nextOffset: end, totalBytes: bytes.length }
    return { text, ...place, droppedBefore: null, restartedAt: null, isComplete: true }
  }
  const context = {
    taskId: "5f0c" as TaskId,
    signal: new AbortController().signal,
    act: actFreely,
    output: { read, write: () => undefined },
    processes: {
      run: async (request: ProcessRequest) => {
        requests.push(request)
        return exit
      },
    },
  } as unknown as ToolContext
  return { context, requests }
}

export async function run(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
  return tool.run(parsed(tool.input, input), context)
}
