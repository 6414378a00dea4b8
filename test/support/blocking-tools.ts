import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { z } from "zod"
import type { ToolContext } from "../../src/plugin/context.ts"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"

/** One effect, as the file of all processes has it. Times are nanoseconds of the machine's monotonic clock. */
export interface BlockingEffect {
  readonly pid: number
  readonly task: string
  /** The idempotency key of the step; of an effect outside a step, its own name. */
  readonly key: string
  readonly beganAt: bigint
  /** Null: its end was never written. */
  readonly endedAt: bigint | null
}

const pathOf = (directory: string): string => join(directory, "blocking-effects")

/** Large enough for the disk to take a moment. */
const BLOCK = Buffer.alloc(64 * 1_024)
/** How long an effect waits for the disk, and how long it waits where it is not to be busy. */
const BUSY_MS = 5
const REST_MS = 50

/** How an effect leaves: from a step, blocking or through the thread pool, or outside a step. */
const WAYS = ["blocks", "pooled", "outside"] as const
type Way = (typeof WAYS)[number]

const toBegunPath = (directory: string, task: string): string => join(directory, `begun-${task}`)

/** True once the task has taken its first effect. */
export function hasBegun(directory: string, task: string): boolean {
  return existsSync(toBegunPath(directory, task))
}

export function readBlockingEffects(directory: string): BlockingEffect[] {
  const effects = new Map<string, BlockingEffect>()
  for (const line of readFileSync(pathOf(directory), "utf8").split("\n")) {
    const [what, id = "", at = "0", pid, task = "", key = ""] = line.split(" ")
    const known = effects.get(id)
    if (what === "began") {
      effects.set(id, { pid: Number(pid), task, key, beganAt: BigInt(at), endedAt: null })
    } else if (known) effects.set(id, { ...known, endedAt: BigInt(at) })
  }
  return [...effects.values()]
}

/**
 * Tools whose effects go on one after another, each waiting for the disk, until the file `until` is there. In a worker
 * that is not `isBusy` they wait for a timer instead, so that it can look after others.
 */
export function createBlockingTools(directory: string, { isBusy }: { readonly isBusy: boolean }): Tool[] {
  let count = 0
  const write = (line: string): void => appendFileSync(pathOf(directory), `${line}\n`)
  /** Takes the time before all else: from here on the effect is under way. */
  function begin(task: string, key: string): string {
    const at = process.hrtime.bigint()
    const id = `${process.pid}-${++count}`
    write(`began ${id} ${at} ${process.pid} ${task} ${key}`)
    return id
  }
  const end = (id: string): void => write(`ended ${id} ${process.hrtime.bigint()}`)

  function block(task: string, key: string): null {
    const id = begin(task, key)
    const untilMs = performance.now() + BUSY_MS
    const file = openSync(join(directory, `block-${process.pid}`), "w")
    do {
      writeSync(file, BLOCK, 0, BLOCK.length, 0)
      fsyncSync(file)
    } while (performance.now() < untilMs)
    closeSync(file)
    end(id)
    return null
  }

  async function blockInPool(task: string, key: string): Promise<null> {
    const id = begin(task, key)
    const untilMs = performance.now() + BUSY_MS
    await using file = await open(join(directory, `pool-${process.pid}`), "w")
    do {
      await file.write(BLOCK, 0, BLOCK.length, 0)
      await file.sync()
    } while (performance.now() < untilMs)
    end(id)
    return null
  }

  async function take(task: string, key: string): Promise<null> {
    const id = begin(task, key)
    await pause(REST_MS)
    end(id)
    return null
  }

  const acts: Record<Way, (context: ToolContext, number: number) => Promise<null>> = {
    blocks: ({ step, taskId }, number) =>
      step(String(number), async ({ idempotencyKey }) => (isBusy ? block : take)(taskId, idempotencyKey), {
        onCrash: "retry",
      }),
    pooled: ({ step, taskId }, number) =>
      step(String(number), ({ idempotencyKey }) => (isBusy ? blockInPool : take)(taskId, idempotencyKey), {
        onCrash: "retry",
      }),
    outside: ({ act, taskId }, number) =>
      act(() => (isBusy ? block : take)(taskId, `${process.pid}/${taskId}/${number}`)),
  }
  return [
    defineTool({
      name: "block",
      description: "Acts until it is told to end, and waits for the disk each time.",
      input: z.object({ way: z.enum(WAYS), until: z.string() }),
      background: { mode: "always" },
      onCrash: "retry",
      async run({ way, until }, context) {
        let number = 0
        while (!existsSync(join(directory, until))) {
          await acts[way](context, number++)
          if (number === 1) appendFileSync(toBegunPath(directory, context.taskId), "")
        }
        return number
      },
    }),
  ]
}
