import type { Desk } from "../../desk/desk.ts"
import { countOf, shortId, type Task, toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"

const MOST_NAMED = 8

interface QuestionsLeftDesk {
  readonly inbox: Pick<Desk["inbox"], "list">
  readonly tasks: { find(id: string): Promise<{ readonly task: Task }> }
}

/** Names the questions that stay open, each with the agent that asks: another chat, or the shell, can answer them later. */
export async function tellQuestionsLeft(
  { inbox, tasks }: QuestionsLeftDesk,
  screen: Pick<Screen, "print">,
  words: string,
): Promise<void> {
  const items = await inbox.list()
  const { length } = items
  if (length === 0) return
  const stay = `${countOf(length, "question")} ${length === 1 ? "stays" : "stay"} in the inbox`
  const named = await Promise.all(
    items.slice(0, MOST_NAMED).map(async ({ task, question }) => {
      const agent = await findAgent(tasks, task)
      return `  [${shortId(task.id)}] ${toLine(question.text || task.title)}${agent ? ` (${toLine(agent.title)})` : ""}`
    }),
  )
  const more = length > MOST_NAMED ? [`  and ${length - MOST_NAMED} more`] : []
  screen.print([`${stay}: /inbox in the next chat, or ${words} tasks inbox`, ...named, ...more].join("\n"))
}

/** The agent below which the task asks. Undefined: there is none, or it was removed. */
async function findAgent(tasks: QuestionsLeftDesk["tasks"], asking: Task): Promise<Task | undefined> {
  let above: Task | undefined = asking
  while (above && above.kind !== "agent") {
    const { parentTask }: Task = above
    above = parentTask === null ? undefined : (await tasks.find(parentTask).catch(() => undefined))?.task
  }
  return above
}
