import { isAbsolute, relative, sep } from "node:path"
import type { Runtime } from "../app.ts"
import { type Task, toLine } from "./format.ts"
import { findAbove } from "./tasks-above.ts"

type Meanwhile = Pick<Runtime, "engine" | "tasks">

/** In which folder a call is to run, and on which machine it was asked for: both only where it is another one. */
export async function describePlace(meanwhile: Meanwhile, task: Task): Promise<readonly string[]> {
  const host = await findAskingHost(meanwhile, task)
  const folder = task.folder !== null && (host !== null || task.folder !== process.cwd()) ? `in ${task.folder}` : ""
  const parts = [folder, host === null ? "" : `asked for on ${host}`].filter((part) => part !== "")
  return parts.length === 0 ? [] : [toLine(parts.join(", "))]
}

/**
 * Whether a call is meant for another folder, or another machine, than whoever answers is in: a folder of the same path is
 * not the same one there. One data folder is of one machine.
 */
export async function isAskedElsewhere(meanwhile: Meanwhile, task: Task): Promise<boolean> {
  if (task.folder === null || meanwhile.engine.name === "embedded") return false
  const way = relative(process.cwd(), task.folder)
  const isInside = way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
  return !isInside || (await findAskingHost(meanwhile, task)) !== null
}

/** Of whoever runs the agent, or the turn, that asks. Null: it is here, or nobody runs it now. */
async function findAskingHost(meanwhile: Meanwhile, { id }: Task): Promise<string | null> {
  const above = await findAbove(meanwhile, id)
  const asking = above.flatMap((task) => ("worker" in task ? task.worker : []))[0]
  if (asking === undefined) return null
  const worker = (await meanwhile.tasks.workers()).find((one) => one.id === asking)
  return worker?.where === "elsewhere" ? (worker.host ?? "another machine") : null
}
