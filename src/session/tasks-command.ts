import { MeanwhileError } from "../base/error.ts"
import { toOneLine } from "../base/one-line.ts"
import { shorten } from "../base/shorten.ts"
import { toVisibleText } from "../base/visible-text.ts"
import { listBelow, type PlacedTask, placeTasks } from "../plugin/task-family.ts"
import type { ListedTask } from "../plugin/task-view.ts"
import type { CommandContext, UserCommand } from "../plugin/user-command.ts"
import { WORK_KINDS } from "../task/record.ts"

const ROWS_SHOWN = 20
const TITLE_CHARACTERS = 100
const STATUS_COLUMNS = 11
const SHORT_ID_LENGTH = 8

/** Every session has it, whichever plugins there are: what takes long becomes a task in any of them. */
export const tasksCommand: Required<UserCommand> = {
  name: "tasks",
  description: `list the newest ${ROWS_SHOWN} tasks of this conversation; \`all\` of the workspace`,
  usage: "[all]",
  shareWithModel: false,
  async run(argument, context) {
    const wanted = argument.trim().toLowerCase()
    if (wanted !== "" && wanted !== "all") {
      throw new MeanwhileError("invalid_input", `Write tasks, or tasks all, and not ${JSON.stringify(argument)}.`)
    }
    const { rows, hasMore } = await readRows(context, wanted === "all")
    if (rows.length === 0) return "No tasks yet. What takes long becomes one."
    return [...rows.map(formatRow), ...(hasMore ? [`(the newest ${ROWS_SHOWN}; there are more)`] : [])].join("\n")
  },
}

/** The newest tasks, each followed by those that it started. */
async function readRows({ tasks, session, workspace }: CommandContext, isAll: boolean) {
  const filter = { workspace, kinds: WORK_KINDS, ...(!isAll && { session }) }
  const { items, cursor } = await tasks.list(filter, { limit: ROWS_SHOWN })
  const inWorkspace: typeof tasks.list = (below, page) => tasks.list({ ...below, workspace }, page)
  const known = new Map((await listBelow(inWorkspace, items)).map((task) => [task.id, task]))
  for (const task of items) known.set(task.id, task)
  const all = [...known.values()]
  const isTurn = ({ kind }: ListedTask): boolean => kind === "turn"
  return {
    rows: placeTasks(
      all.filter((task) => !isTurn(task)),
      all.filter(isTurn),
    ),
    hasMore: cursor !== undefined,
  }
}

function formatRow({ task, depth }: PlacedTask<ListedTask>): string {
  const title = shorten(toVisibleText(toOneLine(task.title)), TITLE_CHARACTERS)
  const place = task.missing ? ` · ${task.missing.text}` : ""
  return `${task.id.slice(0, SHORT_ID_LENGTH)}  ${task.status.padEnd(STATUS_COLUMNS)}  ${"  ".repeat(depth)}${title}${place}`
}
